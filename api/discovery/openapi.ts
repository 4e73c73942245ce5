// /openapi.json: OpenAPI 3.1 of every address, generated from the table of operations, the packs and the list
// of documents.

import { hash } from 'node:crypto';
import { FORMATS, type Format } from '../../data/input/formats.ts';
import { codeFingerprint } from '../../data/model/code.ts';
import { touchedSince } from '../../data/plan/overlay.ts';
import { nextTurn } from '../../data/plan/slices.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { JsonSchema } from '../../packs/define/record-schema.ts';
import type { Operation } from '../contract/operation.ts';
import { mayCost, priceCondition, usdRange } from '../contract/pricing.ts';
import { packVersion } from '../operations/common/about.ts';
import { outputSchema } from '../render/json-schema.ts';
import type { Document, View } from './document.ts';
import { type ExampleAnswer, examplesOf } from './openapi-examples.ts';
import { componentRef, openPath, operationId, pathOperationId, schemaName } from './openapi-names.ts';
import { bodySchema, datasetParameter, filterParameters, HEADERS, parametersOf } from './openapi-parameters.ts';
import { PROTOCOL_TAGS, protocolPaths } from './openapi-protocols.ts';
import {
  ERROR_SCHEMAS,
  errorResponses,
  errorsOf,
  hasEntityTag,
  RESPONSE_HEADERS,
  successHeaders,
} from './openapi-responses.ts';

type Json = Record<string, unknown>;

/** Tag of each group of the table. */
const TAGS: Record<Operation['docs']['group'], string> = {
  register: 'The whole register',
  dataset: 'One dataset: its guide, schema, status, values with counts, changes',
  records: 'Records: search, get, history, prices',
  analysis: 'Comparison, statistics, time series',
  account: 'API keys, credit and plans',
  owners: 'For owners of records: opt-out and claim',
};

const DESCRIPTION = `Typed records with a source, a time and a confidence for every value, for AI agents, analysts and crawlers.

Add \`.md\` to any \`/v1\` path, or send \`Accept: text/markdown\`, for Markdown: same access, price and headers, far fewer tokens.
Each dataset has its own paths here, with its filters; \`/v1/{ds}/…\` represents all datasets and accepts the same filters.
Errors are JSON with a code in \`error\`, and free.`;

/** Context of one operation's description. */
interface Place {
  view: View;
  pack: Pack | null;
  /** Names of component schemas by their JSON, so that equal answers share one. */
  schemas: Map<string, string>;
  /** Schemas as JSON, by name. */
  components: Record<string, string>;
  examples: Map<string, ExampleAnswer>;
}

/** The name of the component with this schema: the general one if it is equal. */
function component(name: string, schema: JsonSchema, { pack, schemas, components }: Place): string {
  const text = JSON.stringify(schema);
  const match = schemas.get(`${name} ${text}`);
  if (match !== undefined) return match;
  const key = schemaName(name, pack);
  schemas.set(`${name} ${text}`, key);
  components[key] = text;
  return key;
}

/**
 * Parameters and answer in which an enum that both have under one name is one component: generators name an enum
 * after the operation and its place, so that two inline ones would be two types of the same name.
 */
function withSharedEnums(operation: Operation, place: Place): { parameters: Json[]; answer: JsonSchema | null } {
  const parameters = parametersOf(operation, place.pack);
  const answer = outputSchema(operation, place.pack);
  const members = { ...(answer?.['properties'] as Record<string, JsonSchema> | undefined) };
  for (const parameter of parameters) {
    const name = String(parameter['name']);
    const { default: _, ...schema } = (parameter['schema'] ?? {}) as JsonSchema;
    const { description: _text, ...member } = members[name] ?? {};
    if (schema['enum'] === undefined || JSON.stringify(schema) !== JSON.stringify(member)) continue;
    const shared = componentRef('schemas', component(`${operation.name}_${name}`, schema, place));
    parameter['schema'] = { ...(parameter['schema'] as JsonSchema), ...shared, type: undefined, enum: undefined };
    members[name] = { ...members[name], ...shared, type: undefined, enum: undefined };
  }
  return { parameters, answer: answer?.['properties'] ? { ...answer, properties: members } : answer };
}

/** The answer's schema as a component; records and provenance become components of their own. */
function answerSchema(operation: Operation, schema: JsonSchema | null, place: Place): Json | undefined {
  if (schema === null) return undefined;
  const { $defs = {}, ...rest } = schema;
  const defs = $defs as Record<string, JsonSchema>;
  const resolve = (part: JsonSchema): JsonSchema =>
    JSON.parse(
      JSON.stringify(part).replace(/"#\/\$defs\/(\w+)"/g, (_, name: string) => {
        const target = component(name, resolve(defs[name] ?? {}), place);
        return JSON.stringify(`#/components/schemas/${target}`);
      }),
    ) as JsonSchema;
  // A record itself is already a reference.
  const resolved = resolve(rest);
  return '$ref' in resolved ? resolved : componentRef('schemas', component(operation.name, resolved, place));
}

/** Whether answers about this dataset can have the format; null: about any dataset. */
const isOffered = (format: Format, pack: Pack | null): boolean =>
  !FORMATS[format].geographic || pack === null || pack.attributes.some(({ type }) => type === 'geo');

/** The 200 response of an operation, in each of its formats. */
function success(operation: Operation, schema: JsonSchema | null, place: Place, sold: boolean): Json {
  const { formats, title } = operation;
  const example = place.examples.get(operation.name);
  const content = formats
    .filter((format) => isOffered(format, place.pack))
    .map((format) => {
      const type = FORMATS[format].media_type.split(';')[0] ?? '';
      if (format !== 'json') return [type, { schema: { type: 'string' } }];
      const shown = example
        ? { examples: { [operation.name]: { summary: example.question, value: example.answer } } }
        : {};
      return [type, { schema: answerSchema(operation, schema, place), ...shown }];
    });
  return { description: title, headers: successHeaders(operation, sold), content: Object.fromEntries(content) };
}

/** One operation in general, or for one dataset. */
function describeOperation(operation: Operation, place: Place): Json {
  const { view, pack } = place;
  const { title, description } = operation;
  const { group, statuses = [200] } = operation.docs;
  const sold = mayCost(operation, pack);
  const condition = priceCondition(operation);
  const body = bodySchema(operation);
  const { parameters, answer: schema } = withSharedEnums(operation, place);
  const answer = success(operation, schema, place, sold);
  return {
    operationId: operationId(operation, pack),
    tags: [pack === null ? group : pack.id],
    summary: title,
    description: condition === null ? description : `${description} Price: ${condition}.`,
    parameters,
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [String(status), answer])),
      ...(hasEntityTag(operation) ? { 304: { description: 'The copy you have is still good' } } : {}),
      ...errorsOf(operation, sold),
    },
    security: securityOf(operation, view),
    ...paymentInfo(operation, view, pack?.id ?? null),
  };
}

/** The Markdown twin of a general path, from the description of its operation. */
function twin(operation: Operation, described: Json): Json {
  const { 200: ok, ...rest } = described['responses'] as Record<string, Json>;
  const content = { 'text/markdown': { schema: { type: 'string' } } };
  return {
    ...described,
    operationId: `${operation.name}_markdown`,
    summary: `${operation.title}, as Markdown`,
    responses: { 200: { ...ok, content }, ...rest },
  };
}

/** A document's path item. */
function documentItem({ path, title, content_type }: Document): Json {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  const parameters = names.map((name) => ({
    name,
    in: 'path',
    required: true,
    description: 'As the list of these documents has it',
    schema: { type: 'string' },
  }));
  const type = content_type.split(';')[0] ?? '';
  const schema = /json/.test(type) ? { type: 'object' } : { type: 'string' };
  return {
    get: {
      operationId: pathOperationId('get', path),
      tags: ['documents'],
      summary: title,
      ...(parameters.length > 0 ? { parameters } : {}),
      responses: {
        200: { description: title, content: { [type]: { schema } } },
        304: { description: 'Still good' },
        400: componentRef('responses', 'BadRequest'),
        ...(parameters.length > 0 ? { 404: componentRef('responses', 'NotFound') } : {}),
      },
      security: [],
    },
  };
}

/** The JSON of each member of an object. */
const membersOf = (item: Json): Record<string, string> =>
  Object.fromEntries(Object.entries(item).map(([name, member]) => [name, JSON.stringify(member)]));

/** The JSON of an object from that of its members. */
const objectOf = (members: Record<string, string>): string =>
  `{${Object.entries(members)
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
    .join()}}`;

/**
 * The whole description as JSON; yields to the event loop after each operation, which is written at once, since
 * writing all of them takes too long for one turn. `documents` are the other addresses that answer GET.
 */
async function openapi(current: View, documents: readonly Document[], version: string): Promise<string> {
  // Cursors are placeholders, so that every process makes the same document.
  const { cursors: _, ...view } = current;
  const { base_url, releases, operations } = view;
  const place = { view, schemas: new Map<string, string>(), components: membersOf(ERROR_SCHEMAS) };
  const paths: Record<string, Record<string, string>> = {};
  const add = (path: string, item: Json) => {
    paths[path] = { ...paths[path], ...membersOf(item) };
  };
  const register = { ...place, pack: null, examples: await examplesOf(view, undefined) };
  for (const operation of operations) {
    const path = openPath(operation, null);
    const described = describeOperation(operation, register);
    add(path, { [operation.rest.method.toLowerCase()]: described });
    const twins =
      operation.rest.method === 'GET' && operation.formats.includes('markdown') && !/\.(md|txt)$/.test(path);
    if (twins) add(`${path}.md`, { get: twin(operation, described) });
    await nextTurn();
  }
  const parameters = membersOf({ Dataset: datasetParameter(releases.map(({ pack }) => pack.id)), ...HEADERS });
  for (const release of releases) {
    const { pack } = release;
    const datasetPlace = { ...place, pack, examples: await examplesOf(view, release) };
    for (const operation of operations.filter(({ rest }) => rest.path.includes(':ds'))) {
      Object.assign(parameters, membersOf(filterParameters(pack, operation)));
      const method = operation.rest.method.toLowerCase();
      add(openPath(operation, pack), { [method]: describeOperation(operation, datasetPlace) });
      await nextTurn();
    }
  }
  for (const document of documents.filter(({ part }) => !part))
    add(document.path.replace(/:(\w+)/g, '{$1}'), documentItem(document));
  for (const [path, item] of Object.entries(protocolPaths())) add(path, item);
  const members = membersOf({
    openapi: '3.1.0',
    info: {
      title: 'Dataset register',
      version: '1.0',
      summary: 'Datasets with provenance for every value',
      description: DESCRIPTION,
      license: { name: 'Each dataset has its own licence', url: `${base_url}/v1/datasets` },
      'x-document-version': version,
      'x-guidance': `Read ${base_url}/llms.txt first: rules, order of calls, what is free.`,
    },
    externalDocs: { description: 'The guide for agents', url: `${base_url}/llms.txt` },
    servers: [{ url: base_url }],
    security: [{}],
    tags: [
      ...Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      ...releases.map(({ pack }) => ({ name: pack.id, description: `${pack.title}. ${pack.description}` })),
      ...PROTOCOL_TAGS,
      { name: 'documents', description: 'What machines read about this service' },
    ],
  });
  const items = Object.entries(paths).map(([path, methods]) => [path, objectOf(methods)]);
  const components = {
    schemas: objectOf(place.components),
    parameters: objectOf(parameters),
    ...membersOf({
      headers: RESPONSE_HEADERS,
      responses: errorResponses(view),
      securitySchemes: securitySchemes(view),
    }),
  };
  return objectOf({ ...members, paths: objectOf(Object.fromEntries(items)), components: objectOf(components) });
}

/**
 * What the document depends on: program, settings, packs, releases, and records that were opted out since. Owners'
 * edits are no part of it, since examples show few records (`showsEdit`).
 */
function documentVersion({ base_url, eur_usd, x402 = false, releases, operations }: View): string {
  const datasets = releases.map(({ pack, manifest, overlay }) => {
    const removals = [...(overlay?.removed.values() ?? [])].map(({ version }) => version);
    return [packVersion(pack), manifest.release, Math.max(manifest.overlay ?? 0, ...removals)].join();
  });
  const names = operations.map(({ name }) => name);
  const parts = [codeFingerprint(), base_url, eur_usd, x402, names, datasets.sort()];
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 16);
}

/** The last document made or read. `edits`: the version of the overlay that it includes, by dataset. */
interface NewestDocument {
  version: string;
  edits: Map<string, number>;
  content: Promise<Uint8Array<ArrayBuffer>>;
}

/** Whether an example shows a record that was edited since the document was made. */
function showsEdit({ releases }: View, edits: NewestDocument['edits'], content: Uint8Array<ArrayBuffer>): boolean {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  return releases.some(({ pack, manifest, overlay }) => {
    const edited = overlay ? touchedSince(overlay, edits.get(pack.id) ?? manifest.overlay ?? 0) : [];
    if (edited.some((id) => text.includes(id))) return true;
    edits.set(pack.id, overlay?.version ?? 0);
    return false;
  });
}

const OPENAPI_PATH = '/openapi.json';

/**
 * The document. It is the file of the nightly build if that has the current version, so that no request waits; else
 * it is made once for all requests. `documents` is a function, since the list contains this document too.
 */
export function openapiDocument(documents: () => readonly Document[]): Document {
  let newest: NewestDocument | null = null;
  const make = async (view: View, { version, edits }: NewestDocument, reuse: boolean) => {
    const file = (reuse && (await view.published?.(OPENAPI_PATH))) || null;
    if (file && Buffer.from(file).includes(`"x-document-version":"${version}"`)) return file;
    for (const { pack, overlay } of view.releases) edits.set(pack.id, overlay?.version ?? 0);
    return Buffer.from(await openapi(view, documents(), version));
  };
  /** Replaces the newest document, so that requests meanwhile wait for the same one. */
  const renew = (view: View, version: string, reuse: boolean): NewestDocument => {
    const document: NewestDocument = { version, edits: new Map(), content: Promise.resolve(Buffer.alloc(0)) };
    document.content = make(view, document, reuse);
    document.content.catch(() => {
      if (newest === document) newest = null;
    });
    newest = document;
    return document;
  };
  return {
    path: OPENAPI_PATH,
    title: 'OpenAPI 3.1',
    rel: 'service-desc',
    content_type: 'application/vnd.oai.openapi+json;version=3.1',
    async text(view) {
      const version = documentVersion(view);
      const document = newest?.version === version ? newest : renew(view, version, true);
      const content = await document.content;
      if (!showsEdit(view, document.edits, content)) return content;
      // Another request may have replaced it meanwhile.
      return (newest === document || newest === null ? renew(view, version, false) : newest).content;
    },
  };
}

/** Security schemes: credentials, and payment without one. */
function securitySchemes({ base_url, x402 }: View): Record<string, Json> {
  return {
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'X-API-Key',
      description: `An API key; POST ${base_url}/v1/keys creates one. Calls are charged to its credit.`,
    },
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'The same key, or an operator’s, as `Authorization: Bearer`.',
    },
    oauth: {
      type: 'oauth2',
      description: 'Spends from the key of the person who consents; see /auth.md.',
      flows: {
        authorizationCode: {
          authorizationUrl: `${base_url}/oauth/authorize`,
          tokenUrl: `${base_url}/oauth/token`,
          refreshUrl: `${base_url}/oauth/token`,
          scopes: { read: 'Call every data operation' },
        },
      },
    },
    ...(x402
      ? {
          x402: {
            type: 'apiKey',
            in: 'header',
            name: 'PAYMENT-SIGNATURE',
            description: `Pay a call without an account: send it without a credential, sign one of the payments that the PAYMENT-REQUIRED header of the 402 offers, and repeat the request with it. Terms: ${base_url}/.well-known/x402.json`,
          },
        }
      : {}),
  };
}

/** Security schemes of an operation; any one of them is enough. */
function securityOf({ charge: { access, key_only, previews, price } }: Operation, { x402 }: View): Json[] {
  if (access === 'admin') return [{ bearer: [] }];
  const byToken = !key_only ? [{ oauth: ['read'] }] : [];
  const schemes = [{ apiKey: [] }, { bearer: [] }, ...byToken];
  if (access === 'key') return schemes;
  // Clients read an empty list as public; alternatives are for operations that are partly public.
  if (access === 'free' && price === undefined) return [];
  const open = access === 'free' || previews ? [{}] : [];
  const paying = price !== undefined && x402 ? [{ x402: [] }] : [];
  return [...open, ...schemes, ...paying];
}

/**
 * Price for indexers of paid APIs, in USD per call: exact for one dataset, else from the lowest to the
 * highest of all. For a batch it is the price of one record; a price that only some calls have starts at 0.
 * Absent without x402, since there is no payment protocol then.
 */
function paymentInfo(operation: Operation, { releases, eur_usd, x402 }: View, dataset: string | null): Json {
  const packs = releases.map(({ pack }) => pack).filter(({ id }) => (dataset ?? id) === id);
  const range = usdRange(operation, packs, eur_usd);
  if (range === null) return {};
  const { least, most } = range;
  const money =
    least === most
      ? { mode: 'fixed', currency: 'USD', amount: plain(least) }
      : { mode: 'dynamic', currency: 'USD', min: plain(least), max: plain(most) };
  return { 'x-payment-info': { price: money, protocols: x402 ? ['x402'] : [] } };
}

/** A number without an exponent. */
const plain = (amount: number) => amount.toFixed(6).replace(/\.?0+$/, '');
