// GET /v1/{ds}/profile: completeness and distribution of each attribute; free.

import { z } from 'zod';
import { parameters } from '../../../data/input/parameters.ts';
import { representation } from '../../../data/input/rows.ts';
import { type AttributeProfile, getProfile } from '../../../data/queries/profile.ts';
import type { Release } from '../../../data/releases/release.ts';
import { derive, derived } from '../../../packs/define/derive.ts';
import { DATED } from '../../../packs/define/model.ts';
import { operation } from '../../contract/operation.ts';
import { cell } from '../../render/cells.ts';
import { blocks, escapeText, table } from '../../render/markdown.ts';
import { printDate, printNumber, printShare } from '../../render/print.ts';
import { type About, aboutDataset, releaseOf, releaseValidators } from '../common/about.ts';
import { omitMembers } from '../common/brief.ts';
import { inputOf } from '../common/inputs.ts';
import { ABOUT_OUTPUT, count, datasetFiles, share, time, VALUE } from '../common/outputs.ts';

export type Profile = {
  dataset: string;
  records: number;
  snapshot: string;
  attributes: AttributeProfile[];
} & About;

/**
 * Profiles of a release, some hundred milliseconds for a large one. They belong to the engine, which represents a
 * release with its overlay. Without the signal of the first caller, since later callers share the result.
 */
function cachedProfiles(release: Release): Promise<AttributeProfile[]> {
  return derive(release.engine, 'profiles', async () => {
    const before = release.base && derived<Promise<AttributeProfile[]>>(release.base.engine, 'profiles');
    return getProfile(release, {}, (await before?.catch(() => null)) ?? null);
  });
}

/** Sets the profiles of a release, which another process computed. */
export function knownProfiles({ engine }: Pick<Release, 'engine'>, profiles: AttributeProfile[]): void {
  void derive(engine, 'profiles', () => Promise.resolve(profiles));
}

/** Most map cells in an answer to a tool: all of them took nine tenths of its tokens. */
const CELLS = 50;

/**
 * A profile whose cells are merged into larger ones until at most CELLS are left; each doubling keeps the
 * south-west corners on a grid.
 */
export function mergeCells(profile: AttributeProfile): AttributeProfile {
  const { cells } = profile;
  if (!cells || cells.counts.length <= CELLS) return profile;
  let { degrees, counts } = cells;
  while (counts.length > CELLS && degrees < 180) {
    degrees *= 2;
    counts = sumCells(counts, degrees);
  }
  return { ...profile, cells: { degrees, counts } };
}

type Cells = NonNullable<AttributeProfile['cells']>['counts'];

function sumCells(counts: Cells, degrees: number): Cells {
  const corner = (value: number, least: number) => Math.floor((value - least) / degrees) * degrees + least;
  const sums = new Map<string, Cells[number]>();
  for (const { lat, lng, count: records } of counts) {
    const cell = { lat: corner(lat, -90), lng: corner(lng, -180), count: 0 };
    const key = `${cell.lat} ${cell.lng}`;
    const sum = sums.get(key) ?? cell;
    sum.count += records;
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => b.count - a.count);
}

/** The distribution of an attribute in a few words. */
function distributionText({ type, quantiles, top, histogram, cells, withheld }: AttributeProfile): string {
  const parts: string[] = [];
  if (quantiles) {
    const { min, median, max } = quantiles;
    parts.push(`${printNumber(min)} to ${printNumber(max)}, median ${printNumber(median)}`);
  } else if (DATED.includes(type) && histogram?.length)
    parts.push(`${histogram[0]!.from} to ${histogram.at(-1)!.from}`);
  else if (histogram?.length && !top)
    // Round bounds around the values: the exact minimum and maximum are not public.
    parts.push(`between ${printNumber(histogram[0]!.from)} and ${printNumber(histogram.at(-1)!.to)}`);
  if (top)
    parts.push(
      top
        .slice(0, 5)
        .map(({ value, count: n }) => `${cell(value, true)} (${n})`)
        .join(', '),
    );
  if (cells) parts.push(`${cells.counts.length} cells of ${cells.degrees} degrees`);
  if (withheld !== undefined) parts.push(`${withheld} withheld (too few records)`);
  return parts.join('; ');
}

function markdown({ dataset, records, attributes, attribution, license }: Profile): string {
  const rows = attributes.map((one) => [
    one.unit === null ? one.name : `${one.name} (${one.unit})`,
    one.public ? 'public' : 'paid',
    one.fill_rate === null ? 'few' : printShare(one.fill_rate),
    one.distinct ?? '',
    distributionText(one),
    one.freshness === null ? '' : printDate(one.freshness.median),
  ]);
  return blocks(
    `# Profile of ${escapeText(dataset)}`,
    `${records} records.`,
    table(['attribute', 'access', 'filled', 'distinct', 'spread', 'median confirmation'], rows),
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

const group = { count: count('Records') };

export const dataset_profile = operation<object, Profile>({
  name: 'dataset_profile',
  title: 'Profile of a dataset',
  description:
    'Attribute by attribute: how many records have it, distinct values, quantiles, histogram, commonest values, sources and freshness. Free; for paid attributes, only values of at least 5 records.',
  rest: {
    method: 'GET',
    path: '/v1/:ds/profile',
    validators: releaseValidators,
    prerender: datasetFiles('profile'),
  },
  charge: { access: 'free' },
  tool: {
    long: {
      part: 'attributes',
      brief: [
        omitMembers('cells', 'attributes', ['cells']),
        omitMembers('histogram, sources and freshness', 'attributes', ['histogram', 'sources', 'freshness']),
        omitMembers('top and quantiles', 'attributes', ['top', 'quantiles']),
      ],
      more: 'dataset_facets counts all values of one attribute.',
    },
  },
  docs: {
    group: 'dataset',
    tasks: [{ want: 'how full each field is, its range, its commonest values and its sources' }],
    example: () => ({}),
  },
  repeats: true,
  formats: ['json', 'markdown'],
  ...inputOf(parameters({ format: representation('json', 'md') })),
  output: () =>
    z.object({
      dataset: z.string(),
      records: count('Records'),
      snapshot: z.string().describe('Id of the release'),
      attributes: z.array(
        z.object({
          name: z.string(),
          type: z.string(),
          unit: z.string().nullable(),
          public: z.boolean(),
          count: count('Records that have it').nullable().describe('null: too few to publish'),
          fill_rate: share('Their share of all records').nullable(),
          distinct: count('Different values').nullable(),
          quantiles: z
            .object({
              min: z.number(),
              q1: z.number(),
              median: z.number(),
              q3: z.number(),
              max: z.number(),
              mean: z.number(),
            })
            .optional()
            .describe('Of public numbers and prices (their lower end)'),
          histogram: z
            .array(z.object({ from: z.number(), to: z.number(), ...group }))
            .optional()
            .describe('Of numbers and prices, and of dates by year; `from` belongs to the bin'),
          top: z
            .array(z.object({ value: VALUE, ...group }))
            .optional()
            .describe('The commonest values'),
          cells: z
            .object({
              degrees: z.number(),
              counts: z.array(z.object({ lat: z.number(), lng: z.number(), ...group })),
            })
            .optional()
            .describe('Of points: records by cell, named by its south-west corner'),
          withheld: count('Values, bins or cells withheld because too few records have them').optional(),
          sources: z.array(z.object({ source: z.string(), values: count('Published values from it') })),
          freshness: z
            .object({ oldest: time('Oldest confirmation'), median: time('Median'), newest: time('Newest') })
            .nullable(),
        }),
      ),
      ...ABOUT_OUTPUT,
    }),
  run: async (_input, ctx) => {
    const release = releaseOf(ctx);
    const { pack, manifest } = release;
    const profiles = await cachedProfiles(release);
    const body: Profile = {
      dataset: pack.id,
      records: manifest.records,
      snapshot: manifest.release,
      attributes: ctx.by_name ? profiles.map(mergeCells) : profiles,
      ...aboutDataset(pack, ctx.base_url),
    };
    return { body };
  },
  markdown,
});
