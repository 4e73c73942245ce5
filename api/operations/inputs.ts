// Input schemas that several operations share, for OpenAPI, MCP and A2A; the strict reading is in data/parse.ts.
import { z } from 'zod';
import { BOUNDS } from '../../data/parse-values.ts';
import type { Pack } from '../../packs/model.ts';

const list = (description: string) =>
  z.union([z.array(z.string()), z.string()]).describe(`${description} (list or commas)`);

/** What selects records; filters of the dataset come beside these and are named in its schema. */
export const SELECTION_INPUT = {
  q: z.string().max(BOUNDS.q).optional().describe('Words to find; each is a prefix'),
  near: z.string().optional().describe('lat,lng,km: within that many kilometres of a point'),
  ids: list('Only these ids or slugs').optional(),
  updated_since: z.iso.datetime().optional().describe('Changed since this time'),
  min_quality: z.number().min(0).max(1).optional().describe('Quality score of at least this'),
};

/** `fields` of answers with records. */
export const FIELDS_INPUT = {
  fields: list('Only these attributes; a group such as price selects all of price.*').optional(),
};

/** Time travel of answers with records. */
export const AS_OF_INPUT = {
  as_of: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Answers as of this earlier moment, from the facts observed until then'),
};

/** Selection, order and page of a search. */
export const SEARCH_INPUT = {
  ...SELECTION_INPUT,
  ...FIELDS_INPUT,
  sort: z.string().default('-quality').describe('quality, updated or an attribute; - in front for descending'),
  limit: z.number().int().min(1).max(BOUNDS.limit).default(20).describe(`At most ${BOUNDS.page} in JSON and Markdown`),
  cursor: z.string().optional().describe('next_cursor of the page before'),
  total: z.boolean().default(false).describe('Also count all matches'),
};

/** One record by id or slug. */
export const ENTITY_INPUT = { entity_id: z.string().describe('Id or slug of the record') };

/** Attribute names of a dataset, or any text where the dataset is not known yet. */
export function attributeName(pack: Pack | null, description: string) {
  const names = pack?.attributes.map(({ name }) => name) ?? [];
  return (names.length > 0 ? z.enum(names) : z.string()).describe(description);
}
