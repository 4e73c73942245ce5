// Fictional answers of operations from their JSON schemas, for the API reference.
import { KEY_BODY } from '../../api/contract/errors.ts';
import type { PublicRecord } from '../../data/model/record.ts';
import type { JsonSchema } from '../../packs/define/record-schema.ts';

/** Values that the answers of one dataset share. */
export interface FictionalPlace {
  /** A fictional record of the dataset; null for the register as a whole. */
  record: PublicRecord | null;
  dataset: string | null;
  base_url: string;
}

/** Attributes of a record in an example. */
const ATTRIBUTES = 3;

const TIME = '2026-11-20T12:00:00Z';

/** Values of members by name; a function receives the place. */
const MEMBERS: Readonly<Record<string, unknown | ((place: FictionalPlace) => unknown)>> = {
  key: 'dsr_…',
  email: KEY_BODY.email,
  plan: 'payg',
  next_cursor: null,
  at: TIME,
  kind: 'charge',
  operation: 'search',
  amount_eur: -0.005,
  balance_eur: 0.495,
  eur_per_month: 49,
  request_id: '3f0e4a52-6f1c-4f0e-9f5c-0a4f3b1c2d4e',
  unit: null,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  bytes: 18_874_368,
  snapshot: '3f6a90b2c1d4e5f7',
  dataset: ({ dataset }: FictionalPlace) => dataset,
  slug: ({ record }: FictionalPlace) => record?.slug,
  name: ({ record }: FictionalPlace) => record?.name,
  entity_id: ({ record }: FictionalPlace) => record?.id,
  attribution: ({ record, base_url }: FictionalPlace) => record?.attribution ?? `Dataset register. ${base_url}/`,
  license: ({ record }: FictionalPlace) => record?.license ?? 'Each dataset has its own licence; see its entry.',
  checkout_url: ({ base_url }: FictionalPlace) => `${base_url}/checkout/…`,
};

/** A record with its first attributes, so that an example fits on a screen. */
function shortRecord(record: PublicRecord): object {
  const names = Object.keys(record.attributes).slice(0, ATTRIBUTES);
  const only = <T>(values: Record<string, T>) =>
    Object.fromEntries(names.flatMap((name) => (name in values ? [[name, values[name]]] : [])));
  const { attributes, provenance, freshness } = record;
  return { ...record, attributes: only(attributes), provenance: only(provenance), freshness: only(freshness) };
}

/** An answer of the shape of a schema (`outputSchema`), with one item in each list. */
export function fictionalAnswer(schema: JsonSchema, place: FictionalPlace): unknown {
  return fictionalValue(schema, '', place);
}

function fictionalValue(schema: JsonSchema, name: string, place: FictionalPlace): unknown {
  const ref = schema['$ref'];
  if (typeof ref === 'string')
    return ref.endsWith('/record') && place.record ? shortRecord(place.record) : { '…': '…' };
  if (schema['const'] !== undefined) return schema['const'];
  const [first] = (schema['enum'] as unknown[] | undefined) ?? [];
  if (first !== undefined) return first;
  if (Object.hasOwn(MEMBERS, name)) {
    const member = MEMBERS[name];
    const value = typeof member === 'function' ? (member as (place: FictionalPlace) => unknown)(place) : member;
    if (value !== undefined) return value;
  }
  const options = schema['anyOf'] as JsonSchema[] | undefined;
  if (options !== undefined) return fictionalValue(options[0] ?? {}, name, place);
  const type = [schema['type']].flat()[0];
  if (type === 'object') return objectOf(schema, place);
  if (type === 'array') return [fictionalValue((schema['items'] as JsonSchema | undefined) ?? {}, '', place)];
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return Math.max(1, Number(schema['minimum'] ?? 1));
  return textOf(schema, name, place);
}

function objectOf(schema: JsonSchema, place: FictionalPlace): object {
  const properties = (schema['properties'] as Record<string, JsonSchema> | undefined) ?? {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [name, fictionalValue(each, name, place)]),
  );
}

function textOf({ format }: JsonSchema, name: string, { base_url }: FictionalPlace): string {
  if (format === 'date-time') return TIME;
  if (format === 'uuid') return '0b1c2d3e-4f50-4617-8283-94a5b6c7d8e9';
  if (format === 'uri') return `${base_url}/…`;
  if (format === 'email') return KEY_BODY.email;
  return name === '' ? 'text' : `${name.replaceAll('_', ' ')}`;
}
