// Shape of a source in pack.ts. Every message completes the sentence "expected …".
import { z } from 'zod';
import {
  arrayOf,
  boundedNumber,
  flagWithDefault,
  httpAddress,
  oneOfTexts,
  requiredText,
  shareOfOne,
  strictObject,
  wholeNumber,
} from './shape-parts.ts';
import { DeclaredSourceShape } from './sources.ts';

/** A version of an npm package that is read. */
export const PinShape = strictObject({
  package: requiredText('the name of an npm package')
    .regex(/^(@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/, 'the name of an npm package')
    .describe('The package.'),
  version: requiredText('an exact version')
    .regex(/^\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/, 'an exact version such as 1.2.3')
    .describe('The exact version.'),
  integrity: z
    .string({ error: "a hash 'sha512-…', or '' for a folder under fixtures" })
    .regex(/^(sha512-[A-Za-z0-9+/]{86}==)?$/, "a hash 'sha512-…', or '' for a folder under fixtures")
    .describe(
      'Hash of the package as npm has it (`npm view <package>@<version> dist.integrity`); empty for ' +
        'a folder under `fixtures/` in the pack.',
    ),
  observed_at: z.iso
    .datetime({ error: 'a time in UTC such as 2026-09-16T00:00:00Z' })
    .describe('The time that the data describes.'),
  date_source: oneOfTexts(['data', 'tag', 'pin', 'registry']).describe(
    'Where that time comes from: the data, the tag of the release, the publisher of the pack, or the registry.',
  ),
});

/** Pages on the web that are fetched. */
export const CrawlShape = strictObject({
  urls: arrayOf(httpAddress(), 'a list of addresses').min(1, 'at least one address').describe('Start addresses.'),
  delay_seconds: boundedNumber('a number of seconds of at least 0', 0)
    .default(1)
    .describe('Minimum time between two requests to one host; robots.txt may require more.'),
  max_bytes: wholeNumber('a whole number of bytes of at least 1', 1)
    .default(10_000_000)
    .describe('Largest size of one page, in bytes.'),
  max_pages: wholeNumber('a whole number of pages of at least 1', 1)
    .default(1000)
    .describe('Most pages of one night, including those found by following.'),
});

/** One source of values. */
export const SourceShape = strictObject({
  title: requiredText('what the source is called').describe('Name of the source.'),
  url: httpAddress().describe('Its home page; the address of values whose rows name none.'),
  license: requiredText('the licence of the source').describe('Its licence.'),
  trust: shareOfOne('a trust').describe('Its weight when sources differ, and the confidence of its values.'),
  pins: arrayOf(PinShape, 'a list of pins {package, version, integrity, observed_at, date_source}')
    .default([])
    .describe('Versions of npm packages to read, each once.'),
  newest: requiredText('the name of an npm package')
    .nullable()
    .default(null)
    .describe('Package whose newest version is read after the pins.'),
  crawl: CrawlShape.nullable().default(null).describe('Pages on the web that are fetched every night, after the pins.'),
  from: DeclaredSourceShape.nullable()
    .default(null)
    .describe('Where the rows are and how they become values. Unset: `collect.ts` reads the source.'),
  complete: flagWithDefault(false).describe(
    'Each reading lists everything that the source has, so a missing record is gone. Without `gone`, ' +
      'such a record stays published.',
  ),
  max_drop: shareOfOne('a share')
    .default(0.1)
    .describe('Share of its records that one reading of a complete source may drop; more stops the run.'),
  tolerate: z
    .union(
      [
        shareOfOne('a share').transform((values) => ({ values, rows: 0 })),
        strictObject({
          values: shareOfOne('a share')
            .default(0.001)
            .describe('Share of wrong values of an attribute above which a reading stops the run.'),
          rows: shareOfOne('a share')
            .default(0)
            .describe('Share of rows that could not be read as rows above which a reading stops the run.'),
        }),
      ],
      { error: 'a share of wrong values from 0 to 1, or {values, rows}' },
    )
    .default({ values: 0.001, rows: 0 })
    .describe('Share of wrong values of an attribute above which a reading stops the run; or both shares.'),
  timeout_minutes: boundedNumber('a number of minutes above 0', Number.MIN_VALUE, 10_000)
    .default(10)
    .describe('Longest time without an observation; then the collector is stopped.'),
});
