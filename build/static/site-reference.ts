// Data of the API reference: the operations of the published OpenAPI document with their prices, example requests and
// example answers.
import { ERROR_HELP } from '../../api/contract/error-help.ts';
import { ERRORS, type ErrorCode, KEY_BODY } from '../../api/contract/errors.ts';
import { acceptedParameters, isTool, type Operation, searchOf } from '../../api/contract/operation.ts';
import { mayCost, priceCondition, priceUnit } from '../../api/contract/pricing.ts';
import type { View } from '../../api/discovery/document.ts';
import { slugsOf } from '../../api/discovery/openapi-examples.ts';
import { openPath } from '../../api/discovery/openapi-names.ts';
import { errorCodes } from '../../api/discovery/openapi-responses.ts';
import { prerenderContext } from '../../api/discovery/prerender-context.ts';
import { sampleRecords } from '../../api/operations/dataset/dataset_samples.ts';
import type { SiteOperation, SiteParameter, SiteReference, SiteRequest } from '../../api/pages/site.ts';
import { outputSchema } from '../../api/render/json-schema.ts';
import type { PublicRecord } from '../../data/model/record.ts';
import type { Release } from '../../data/releases/release.ts';
import type { Geo, Pack } from '../../packs/define/model.ts';
import type { JsonSchema } from '../../packs/define/record-schema.ts';

/** Values that the answers of one dataset share. */
interface FictionalPlace {
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

/** A value of the shape of a schema (`outputSchema`), with one item in each list. `name`: of the member, '' for none. */
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
    Object.entries(properties).map(([name, property]) => [name, fictionalValue(property, name, place)]),
  );
}

function textOf({ format }: JsonSchema, name: string, { base_url }: FictionalPlace): string {
  if (format === 'date-time') return TIME;
  if (format === 'uuid') return '0b1c2d3e-4f50-4617-8283-94a5b6c7d8e9';
  if (format === 'uri') return `${base_url}/…`;
  if (format === 'email') return KEY_BODY.email;
  return name === '' ? 'text' : `${name.replaceAll('_', ' ')}`;
}

/** Placeholder of a record in a request. */
const SLUG = '{slug}';

/** Members of example bodies by name. */
const BODY: Readonly<Record<string, unknown>> = {
  email: KEY_BODY.email,
  contact: KEY_BODY.email,
  plan: 'pro',
  amount_eur: 20,
  key_id: '0b1c2d3e-4f50-4617-8283-94a5b6c7d8e9',
  entity_id: SLUG,
  token: '…',
  values: {},
  message: 'This value differs from the one on the linked page.',
};

/** A member of `parameters` in the OpenAPI document, or a reference to one. */
interface Declared {
  $ref?: string;
  name: string;
  in: SiteParameter['in'];
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  format?: string;
}

interface Input {
  properties?: Record<string, Schema>;
  required?: string[];
}

/** A JSON body in the document. */
interface Content<S> {
  content?: { 'application/json'?: { schema: S; examples?: Record<string, { value: unknown }> } };
}

interface Described {
  parameters: Declared[];
  requestBody?: Content<Input>;
  responses: Record<string, Content<unknown>>;
}

/** What the reference reads of /openapi.json. */
export interface OpenApi {
  paths: Record<string, Record<string, Described>>;
  components: { parameters: Record<string, Declared>; schemas: Record<string, Schema> };
}

/** The data of the reference, with the answers of one dataset. `document`: the published /openapi.json. */
export async function siteReference(view: View, document: OpenApi): Promise<SiteReference> {
  const points = await pointsOf(view);
  const release = exampleRelease(view.releases, points);
  const place = { view, document, release, points, record: release ? sampleOf(view, release) : null };
  const errors = Object.entries(ERRORS).map(([code, { status }]) => [
    code,
    { status, meaning: ERROR_HELP[code as ErrorCode].meaning },
  ]);
  return {
    dataset: release?.pack.id ?? null,
    slugs: release ? await slugsOf(view, release) : [],
    operations: view.operations.map((operation) => siteOperation(operation, place)),
    errors: Object.fromEntries(errors),
  };
}

interface Place {
  view: View;
  document: OpenApi;
  release: Release | undefined;
  points: Points;
  record: PublicRecord | null;
}

/** An operation in the document, in general or for a dataset. */
const describedIn = ({ paths }: OpenApi, operation: Operation, pack: Pack | null): Described =>
  paths[openPath(operation, pack)]![operation.rest.method.toLowerCase()]!;

/** Points for searches by distance, by dataset. Datasets without public geography have none. */
type Points = ReadonlyMap<string, Geo>;

/** The public point of the first record of each dataset that has one. */
async function pointsOf(view: View): Promise<Points> {
  const points = new Map<string, Geo>();
  const search = searchOf(view.operations);
  for (const release of view.releases) {
    const { id, attributes } = release.pack;
    const name = attributes.find(({ type, public: open }) => type === 'geo' && open)?.name;
    if (name === undefined) continue;
    const ctx = prerenderContext(view, { release, path: `/v1/${id}/entities`, format: 'json' });
    const raw = { ds: id, fields: name, [`has_${name}`]: 'true', limit: '1' };
    const { body } = await search.run(search.parse(raw, ctx), ctx);
    const point = (body as { items: PublicRecord[] }).items[0]?.attributes[name];
    if (point !== undefined) points.set(id, point as Geo);
  }
  return points;
}

/** The dataset of the examples: the first with points, so that a search by distance can be shown. */
function exampleRelease(releases: readonly Release[], points: Points): Release | undefined {
  return releases.find(({ pack }) => points.has(pack.id)) ?? releases[0];
}

function sampleOf(view: View, release: Release): PublicRecord | null {
  const ctx = prerenderContext(view, { release, path: `/v1/${release.pack.id}/samples`, format: 'json' });
  return sampleRecords(release, ctx)[0] ?? null;
}

function siteOperation(operation: Operation, place: Place): SiteOperation {
  const { name, title, description, rest, formats } = operation;
  const { group } = operation.docs;
  const { access, price, previews } = operation.charge;
  const parameters = declaredParameters(operation, place.document);
  return {
    name,
    title,
    description,
    method: rest.method,
    path: openPath(operation, null),
    group,
    access,
    price: price?.of ?? null,
    condition: priceCondition(operation),
    unit: priceUnit(operation),
    previews: previews !== undefined,
    formats,
    tool: isTool(operation),
    filters: acceptedParameters(operation).filters,
    parameters,
    errors: errorCodes(operation, mayCost(operation, null)),
    requests: requestsOf(operation, parameters, place),
    tasks: place.release ? tasksOf(operation, place.release, place.points) : [],
    answer: answerOf(operation, place),
  };
}

/** The parameters of an operation, then the members of its body. */
function declaredParameters(operation: Operation, document: OpenApi): SiteParameter[] {
  const { schemas, parameters: shared } = document.components;
  const { parameters, requestBody } = describedIn(document, operation, null);
  const { properties = {}, required: needed = [] } = requestBody?.content?.['application/json']?.schema ?? {};
  const members = Object.entries(properties).map(([name, schema]): Declared => {
    const { description = '' } = schema;
    return { name, in: 'body', required: needed.includes(name), description, schema };
  });
  return [...parameters, ...members].map((declared) => {
    const { name, in: place, required = false, description = '', schema: own } = referenced(declared, shared);
    const schema = referenced(own, schemas);
    const limits = limitsOf(schema);
    return {
      ...{ name, in: place, type: typeOf(schema), required, description },
      // The page has a menu of datasets.
      ...(schema.enum && name !== 'ds' ? { values: schema.enum.map(String) } : {}),
      ...(schema.default === undefined ? {} : { fallback: String(schema.default) }),
      ...(limits === '' ? {} : { limits }),
    };
  });
}

/** An object with the members of the component that it refers to. */
const referenced = <T extends { $ref?: string }>(object: T, components: Record<string, T>): T => ({
  ...components[object.$ref?.replace(/^.*\//, '') ?? ''],
  ...object,
});

function typeOf({ type, anyOf, items, format }: Schema): string {
  const list = anyOf?.find((schema) => schema.type === 'array');
  if (list) return typeOf(list);
  if (anyOf) return [...new Set(anyOf.filter((schema) => schema.type !== 'null').map(typeOf))].join(' or ');
  if (type === 'array') return `list of ${items ? typeOf(items) : 'value'}s`;
  return format ?? [type ?? 'value'].flat().join(' or ');
}

function limitsOf({ minimum, maximum, minLength, maxLength, maxItems, anyOf }: Schema): string {
  const items = maxItems ?? anyOf?.find((schema) => schema.maxItems !== undefined)?.maxItems;
  if (items !== undefined) return `at most ${items} values`;
  if (minLength !== undefined && minLength > 1 && maxLength !== undefined)
    return `${minLength} to ${maxLength} characters`;
  if (maxLength !== undefined) return `at most ${maxLength.toLocaleString('en')} characters`;
  const isLow = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER;
  const isHigh = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  if (isLow && isHigh) return `${minimum} to ${maximum}`;
  if (isLow) return `at least ${minimum}`;
  return isHigh ? `at most ${maximum}` : '';
}

/** An example request for each dataset, or for the register. */
function requestsOf(
  operation: Operation,
  parameters: readonly SiteParameter[],
  { view: { releases }, points }: Place,
): Record<string, SiteRequest> {
  if (!operation.rest.path.includes(':ds')) return { '': requestOf(operation, parameters, null) };
  return Object.fromEntries(
    releases.map((release) => [
      release.pack.id,
      tasksOf(operation, release, points)[0]?.request ?? requestOf(operation, parameters, release.pack),
    ]),
  );
}

function requestOf({ docs }: Operation, declared: readonly SiteParameter[], pack: Pack | null): SiteRequest {
  const raw = (pack === null ? null : docs.example?.(pack, [SLUG, SLUG])) ?? {};
  const text = Object.entries(raw).map(([name, value]) => [name, String(value)]);
  const parameters: Record<string, string> = Object.fromEntries(text);
  if (pack !== null) parameters['ds'] = pack.id;
  const required = declared.filter((parameter) => parameter.required);
  for (const { name, type } of required.filter(({ in: place }) => place !== 'body'))
    parameters[name] ??=
      name === 'entity_id' ? SLUG : type === 'date-time' ? '2026-11-01T00:00:00Z' : String(BODY[name] ?? '…');
  const members = required.filter(({ in: place }) => place === 'body').map(({ name }) => name);
  const body = Object.fromEntries(members.map((name) => [name, name === 'dataset' ? '{ds}' : (BODY[name] ?? '…')]));
  return { parameters, ...(members.length > 0 ? { body } : {}) };
}

/** Frequent requests of the search: by distance, by a value. */
function tasksOf(operation: Operation, { pack, manifest }: Release, points: Points): SiteOperation['tasks'] {
  if (operation.tool?.per_dataset?.filters !== true || !operation.charge.previews) return [];
  const point = points.get(pack.id);
  const [value] = manifest.enums[pack.group_by] ?? [];
  const of = (title: string, query: Record<string, string>) => {
    return { title, request: { parameters: { ds: pack.id, ...query, limit: '5' } } };
  };
  return [
    ...(point
      ? [
          of('By distance, nearest first', {
            near: `${point.lat.toFixed(2)},${point.lng.toFixed(2)},100`,
            sort: 'distance',
          }),
        ]
      : []),
    ...(value === undefined ? [] : [of('By a value', { [pack.group_by]: value })]),
  ];
}

/** An answer: real if it names no record and no time of a collection, else of fictional values. */
function answerOf(operation: Operation, { view, document, release, record }: Place): SiteOperation['answer'] {
  const [status = 200] = operation.docs.statuses ?? [];
  const pack = operation.rest.path.includes(':ds') ? (release?.pack ?? null) : null;
  const { content } = describedIn(document, operation, pack).responses[status] ?? {};
  const real = content?.['application/json']?.examples?.[operation.name]?.value;
  // Records may be opted out, and the time of a collection changes every night.
  if (real !== undefined && !/"(slug|entity_id|last_collection)":/.test(JSON.stringify(real)))
    return { status, json: JSON.stringify(real, null, 2), is_real: true };
  const schema = outputSchema(operation, pack);
  if (schema === null) return null;
  const dataset = release?.pack.id ?? null;
  const answer = fictionalValue(schema, '', { record, dataset, base_url: view.base_url });
  return { status, json: JSON.stringify(answer, null, 2), is_real: false };
}
