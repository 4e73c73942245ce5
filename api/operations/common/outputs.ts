// Shared output schemas, for OpenAPI and the tools of agents (contract section 2), and the files of the night.
import { z } from 'zod';
import { PROVENANCE_STATUSES } from '../../../data/model/record.ts';
import { DIRECTIONS } from '../../../data/plan/plan.ts';
import type { Operation } from '../../contract/operation.ts';

/** Citation and licence: members of every answer under `/v1`. */
export const ABOUT_OUTPUT = {
  attribution: z.string().describe('Ready-to-paste citation with its link'),
  license: z.string().describe('Licence of the data, with a link'),
};

/** ISO 8601 in UTC. */
export const time = (description: string) => z.string().meta({ description, format: 'date-time' });

/** A web address. */
export const address = (description: string) => z.string().meta({ description, format: 'uri' });

/** A share from 0 to 1. */
export const share = (description: string) => z.number().min(0).max(1).describe(description);

/** A count. */
export const count = (description: string) => z.int().min(0).describe(description);

/** EUR, at most six decimals. */
export const euro = (description: string) => z.number().describe(description);

/** Any value of an attribute. */
export const VALUE = z
  .union([
    z.string(),
    z.number(),
    z.boolean(),
    z.array(z.string()),
    z.object({ lat: z.number(), lng: z.number() }),
    z.object({ min: z.number(), max: z.number(), currency: z.string() }),
  ])
  .describe('A value: text, number, truth, list of texts, point, or price range');

/** Why a value is uncertain. */
export const STATUS_OUTPUT = z
  .enum(PROVENANCE_STATUSES)
  .describe('held: a newer value waits for confirmation; contested: another source says otherwise; absent: neither');

/** The source of a value. */
export const PROVENANCE_OUTPUT = z.unknown().meta({ $ref: '#/$defs/provenance' });

/** A record; `outputSchema` adds the schema of the dataset (`recordSchema`). */
export const RECORD_OUTPUT = z.unknown().meta({ $ref: '#/$defs/record' });

export const GONE_OUTPUT = z.string().describe('That records count which no source lists any more').optional();

export const CURSOR_OUTPUT = z
  .string()
  .nullable()
  .describe('Pass it as `cursor` to get the next page; null on the last page');

/** The requested moment, with as_of. */
export const AS_OF_OUTPUT = { as_of: time('The requested time').optional() };

/** Computed figures; all but the count are absent when no record has a value. */
export const FIGURES_OUTPUT = {
  count: count('Values, one a record'),
  min: z.number().optional(),
  median: z.number().optional(),
  max: z.number().optional(),
  mean: z.number().optional(),
};

const CHANGE = {
  entity_id: z.string(),
  slug: z.string(),
  name: z.string(),
  attribute: z.string().optional().describe('Absent where the whole record was removed'),
  type: z.enum(['added', 'changed', 'removed']),
  old_value: VALUE.optional(),
  new_value: VALUE.optional(),
  kind: z
    .enum(DIRECTIONS)
    .optional()
    .describe('A number rose or fell, the ends of its range moved in opposite directions, or the value was withdrawn'),
  change: z
    .number()
    .optional()
    .describe('New minus old number; of a range of the end that moved less, 0 for kind range'),
  change_percent: z.number().optional().describe('change in percent of the old number; absent where that is 0'),
  observed_at: time('When the source had this value'),
  source_url: address('URL of the source').optional(),
};

/** Numbers of changes by kind. */
export const KIND_COUNTS_OUTPUT = {
  rises: count('Public numbers among them that rose'),
  falls: count('Public numbers among them that fell'),
  ranges: count('Public ranges among them whose ends moved in opposite directions'),
  withdrawn: count('Public values among them that were withdrawn'),
};

/** A value that appeared, changed or was removed. */
export const CHANGE_OUTPUT = z.object(CHANGE);
/** The same in the change feed. */
export const FED_CHANGE_OUTPUT = z.object({
  ...CHANGE,
  recorded_at: time('When it became visible; to the microsecond'),
});

/** The files of an operation of a dataset, `v1/<dataset>/<name>` as JSON and Markdown, for `rest.prerender`. */
export const datasetFiles =
  (name: string): NonNullable<Operation['rest']['prerender']> =>
  (pack) =>
    pack === null
      ? []
      : [
          { file: `v1/${pack.id}/${name}`, input: { ds: pack.id }, format: 'json' },
          { file: `v1/${pack.id}/${name}.md`, input: { ds: pack.id }, format: 'markdown' },
        ];
