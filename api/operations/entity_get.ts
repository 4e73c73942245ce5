// GET /v1/{ds}/entities/{entity_id}: one record with provenance and freshness.
import { z } from 'zod';
import type { PublicRecord } from '../../data/model.ts';
import { type GetInput, parseGet } from '../../data/parse.ts';
import type { RawInput } from '../../data/plan.ts';
import { getRecord } from '../../data/records.ts';
import { recordMarkdown } from '../formats/record-template.ts';
import { type Context, operation } from '../operation.ts';
import { packVersion, releaseOf } from './about.ts';
import { ENTITY_INPUT, FIELDS_INPUT } from './inputs.ts';

type Fetched = ReturnType<typeof getRecord>;

/** The record of a request is read once: the version for its ETag and the answer come from the same reading. */
const fetched = new WeakMap<Context, Fetched>();

function fetch(raw: RawInput, ctx: Context): Fetched {
  let record = fetched.get(ctx);
  if (record === undefined) {
    record = getRecord(releaseOf(ctx), String(raw['entity_id']), { fields: null }, ctx);
    fetched.set(ctx, record);
  }
  return record;
}

/** Keeps only some attributes, and with them their provenance and freshness (contract section 2). */
function trimmed(record: PublicRecord, fields: readonly string[] | null): PublicRecord {
  if (fields === null) return record;
  const keep = <T>(all: Record<string, T>) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => fields.includes(name)));
  const { attributes, provenance, freshness } = record;
  return { ...record, attributes: keep(attributes), provenance: keep(provenance), freshness: keep(freshness) };
}

export const entity_get = operation<GetInput & { raw: RawInput }, PublicRecord>({
  name: 'entity_get',
  title: 'Get one record',
  description: 'One record by id or slug with every value, its source, time, confidence and age.',
  route: { method: 'GET', path: '/v1/:ds/entities/:entity_id' },
  group: 'records',
  access: 'paid',
  price: { of: 'get' },
  formats: ['json', 'markdown'],
  entity: true,
  input: () => z.object({ ...ENTITY_INPUT, ...FIELDS_INPUT }),
  parse: (raw, ctx) => ({ ...parseGet(raw, releaseOf(ctx).pack, { path: ['ds', 'entity_id'] }), raw }),
  names: ({ names }) => names,
  version: async (raw, ctx) => `${(await fetch(raw, ctx)).version} ${packVersion(releaseOf(ctx).pack)}`,
  run: async ({ raw, fields }, ctx) => {
    const { record } = await fetch(raw, ctx);
    return { body: trimmed(record, fields), last_modified: record.updated_at, records: 1 };
  },
  markdown: (record, ctx) => recordMarkdown(record, releaseOf(ctx).pack),
});
