// Shared input schemas, for OpenAPI, MCP and A2A; the strict parser is data/input/parse.ts.
import { z } from 'zod';
import { SINGLE } from '../../../data/input/parse-analysis.ts';
import { BOUNDS } from '../../../data/input/parse-values.ts';
import { PROVENANCE_STATUSES } from '../../../data/model/record.ts';
import type { Attribute, AttributeType, Pack } from '../../../packs/define/model.ts';
import { NUMERIC } from '../../../packs/define/schema.ts';
import type { CalledAs } from '../../contract/operation.ts';

/** A list of texts, or one text with commas. */
export const list = (description: string, most: number = BOUNDS.values) =>
  z.union([z.array(z.string()).min(1).max(most), z.string()]).describe(`${description} (list or commas)`);

/** Selects records. Filters of the dataset are additional, and are in the schema of the dataset. */
export const SELECTION_INPUT = {
  q: z.string().min(1).max(BOUNDS.q).optional().describe(`Words to find, at most ${BOUNDS.words}; each is a prefix`),
  near: z
    .string()
    .regex(/^[^,]+,[^,]+,[^,]+$/)
    .optional()
    .describe('lat,lng,km: within that many kilometres of a point'),
  ids: list('Only these ids or slugs').optional(),
  updated_since: z.iso.datetime().optional().describe('Changed since this time'),
  min_quality: z.number().min(0).max(1).optional().describe('Quality score of at least this'),
  provenance_status: list(`Some value has this provenance.status: ${PROVENANCE_STATUSES.join(', ')}`).optional(),
};

/** `fields` of answers with records. */
export const FIELDS_INPUT = {
  fields: list('Only these attributes, or groups (price)').optional(),
};

/** Time travel of answers with records. */
export const AS_OF_INPUT = {
  as_of: z.iso.datetime({ offset: true }).optional().describe('The state at this earlier moment'),
};

/**
 * Selection, order and page of a search; with a pack, also how to sort by its best known records. A tool has
 * no tabular formats.
 */
export function searchInput(pack: Pack | null, as?: CalledAs) {
  const { prominence } = pack?.serving ?? {};
  const sortHint = prominence ? `; -${prominence}: best known first` : '';
  return {
    ...SELECTION_INPUT,
    q: SELECTION_INPUT.q.describe(`${SELECTION_INPUT.q.description}; matches come by quality, not relevance: see sort`),
    ...FIELDS_INPUT,
    sort: z
      .string()
      .min(1)
      .default('-quality')
      .describe(`quality, updated or an attribute; - in front for descending${sortHint}`),
    limit: z
      .number()
      .int()
      .min(1)
      .max(as === 'tool' ? BOUNDS.page : BOUNDS.limit)
      .default(20)
      .describe(`Records on a page${as === 'tool' ? '' : `; at most ${BOUNDS.page} in JSON and Markdown`}`),
    cursor: z.string().max(BOUNDS.cursor).optional().describe('next_cursor of the page before'),
    total: z.boolean().default(false).describe('Also count all matches'),
  };
}

/** One record by id or slug. */
export const ENTITY_INPUT = { entity_id: z.string().describe('Id or slug') };

/** Attribute names of a dataset that are allowed here, or any text while the dataset is unknown. */
export function attributeName(
  pack: Pack | null,
  description: string,
  may: (attribute: Attribute) => boolean = () => true,
) {
  const names = pack?.attributes.filter(may).map(({ name }) => name) ?? [];
  return (names.length > 0 ? z.enum(names) : z.string().min(1)).describe(description);
}

/** Attributes allowed where a number is required, and where a single plain value is. */
export const numeric = ({ type }: Attribute): boolean => NUMERIC.includes(type);
export const single = ({ type }: Attribute): boolean => SINGLE.includes(type);

/** Types that facets show as short texts. */
export const PLAIN: readonly AttributeType[] = ['enum', 'boolean', 'strings', 'string'];

/** Public attributes, optionally of some types: those that a published example may show. */
export function openNames(pack: Pack, types?: readonly AttributeType[]): string[] {
  return pack.attributes.filter((each) => each.public && (!types || types.includes(each.type))).map(({ name }) => name);
}

/** `fields` of an example: the first public attributes. */
export function someFields(pack: Pack): string {
  return openNames(pack).slice(0, 2).join();
}
