// /openapi.json over the real app: valid, complete, and true of every answer that the service gives.
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOCUMENTS, type View } from '../../../api/discovery/index.ts';
import { shortenLists } from '../../../api/discovery/openapi-examples.ts';
import { operationId } from '../../../api/discovery/openapi-names.ts';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { NO_OVERLAY, type OwnerFact } from '../../../data/plan/overlay.ts';
import { BASE, type TestApp, testApp } from '../../support/app.ts';
import { endingKeys, everyCall, type OperationCall, ownedParts } from '../../support/every-call.ts';
import { claimToken } from '../../support/owners-stage.ts';
import { schemaErrors, strictSchema } from '../../support/schemas.ts';
import { verifies } from '../../support/verifies.ts';

type Json = Record<string, unknown>;
interface Answer {
  headers: Json;
  content?: Record<string, { schema: Json; examples?: Record<string, { summary: string; value: Json }> }>;
}
interface Described extends Json {
  operationId: string;
  parameters: Json[];
  responses: Record<string, Answer & { $ref?: string }>;
  security: Json[];
}

let app: TestApp;
let asked: OperationCall[];
let document: Json & { paths: Record<string, Record<string, Described>>; components: Record<string, Json> };
beforeAll(async () => {
  app = await testApp({ nights: true });
  const packs = ['harbours', 'tools'].map((dataset) => app.register.packs.get(dataset)!);
  const slugs = Object.fromEntries(packs.map(({ id }) => [id, app.records[id]!.slice(0, 2).map(({ slug }) => slug)]));
  const made = await app.json('/v1/keys', { method: 'POST', body: '{"email":"answers@example.org"}' });
  const { id, key } = made.body as { id: string; key: string };
  const token = await claimToken(app);
  asked = everyCall(packs, slugs, {
    id,
    key,
    token,
    ending: await endingKeys(app),
    parts: await ownedParts(app, key),
  });
  document = (await app.json('/openapi.json')).body as typeof document;
});
afterAll(() => app.close());

/** Resolves a reference. */
const resolved = <T>(part: T & { $ref?: string }): T => {
  if (part.$ref === undefined) return part;
  const found = part.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, name) => (at as Json)[name], document);
  return resolved(found as T & { $ref?: string });
};

/** A closed schema of the document with its references resolved. */
const alone = (schema: Json) => strictSchema({ ...schema, components: document.components }) as object;

/** The description of a request. */
function describedAt(path: string, method: string): Described | undefined {
  const bare = path.split('?')[0] ?? '';
  const fits = Object.keys(document.paths)
    .filter((template) => new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(bare))
    .sort((a, b) => a.split('{').length - b.split('{').length);
  return document.paths[fits[0] ?? '']?.[method.toLowerCase()];
}

const everything = () => Object.values(document.paths).flatMap((item) => Object.values(item));

/** Names as generators join their words, in any case. */
const folded = (name: string) => name.replaceAll(/[-_]/g, '').toLowerCase();
const BROWSER = 'alert close confirm find focus history location name open print prompt search status stop top'.split(
  ' ',
);
const PYTHON =
  'all any dict filter format get help id input iter len list map max min next object open print range set sorted sum type vars'.split(
    ' ',
  );

describe('the document', () => {
  verifies('discovery.openapi', 'version.declared');
  test('is valid OpenAPI 3.1, for a third-party validator', async () => {
    const told = await new Validator().validate(structuredClone(document));
    expect(told).toEqual({ valid: true });
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0' }, servers: [{ url: BASE }] });
  });

  test('has every operation, in general and for each dataset, each with a name of its own', () => {
    const names = everything().flatMap(({ operationId }) => operationId ?? []);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(OPERATIONS.map((operation) => operationId(operation, null))));
    for (const { name, rest } of OPERATIONS.filter(({ rest }) => rest.path.includes(':ds')))
      for (const dataset of ['harbours', 'tools']) {
        const path = rest.path.replace(':ds', dataset).replace(/:(\w+)/g, '{$1}');
        expect([name, document.paths[path]?.[rest.method.toLowerCase()]?.tags]).toEqual([name, [dataset]]);
      }
  });

  test('names shadow no global of the languages that generated clients are in', () => {
    const all = [...Object.getOwnPropertyNames(globalThis), ...BROWSER, ...PYTHON, 'Record', 'Partial', 'Pick'];
    const globals = new Set(all.map(folded));
    const names = everything().map(({ operationId }) => operationId);
    const schemas = Object.keys(document.components['schemas'] as object);
    expect(names.filter((name) => globals.has(folded(name)))).toEqual([]);
    expect(schemas.filter((name) => all.includes(name))).toEqual([]);
    expect(names.filter((name) => !/_|[a-z][A-Z]/.test(name))).toEqual([]);
  });

  test('has no enum under one name in the parameters and in the answer of an operation', () => {
    const shared = everything().flatMap(({ operationId, parameters = [], responses }) => {
      const schema =
        (responses['200'] && resolved<Answer>(responses['200']))?.content?.['application/json']?.schema ?? {};
      const members = (resolved(schema)['properties'] ?? {}) as Record<string, Json>;
      return parameters
        .map((each) => resolved(each as Json & { $ref?: string }))
        .map(({ name, schema: input }) => ({
          id: `${operationId} ${name}`,
          of: [input as Json, members[`${name}`] ?? {}],
        }))
        .filter(({ of }) => of.every((part) => resolved(part)['enum'] !== undefined));
    });
    expect(shared.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['dataset_export format', 'tools_timeseries step']),
    );
    expect(
      shared.filter(({ of: [input, member] }) => input?.['$ref'] !== member?.['$ref'] || !member?.['$ref']),
    ).toEqual([]);
  });

  test('describes every parameter of a path in each of its methods', () => {
    const names = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
    for (const [path, item] of Object.entries(document.paths))
      for (const [method, { parameters = [] }] of Object.entries(item)) {
        const inPath = parameters
          .map((each) => resolved(each as Json & { $ref?: string }))
          .filter((each) => each['in'] === 'path');
        expect([method, path, inPath.map((each) => each['name']).sort()]).toEqual([method, path, names(path)]);
      }
  });

  test('describes every parameter, with bounds where it is a number', () => {
    for (const { operationId, parameters = [] } of everything()) {
      const found = parameters.map((each) => resolved(each as Json & { $ref?: string }));
      expect(new Set(found.map((each) => `${each['in']} ${each['name']}`)).size, operationId).toBe(found.length);
      for (const { name, description, schema } of found) {
        expect(String(description).length, `${operationId} ${name}`).toBeGreaterThan(8);
        const { type, minimum } = schema as Json;
        if (/^(limit|days|offset|min_quality)$/.test(String(name)))
          expect([name, typeof minimum, type === 'integer' || type === 'number']).toEqual([name, 'number', true]);
      }
    }
  });

  test('has the addresses of MCP, A2A, OAuth and their metadata, which answer as described', async () => {
    const filled = (path: string) => path.replace('{resource_path}', '/mcp');
    const others = Object.entries(document.paths).filter(([, item]) =>
      Object.values(item).some(({ operationId, tags }) => operationId && /agents|oauth|documents/.test(String(tags))),
    );
    const paths = others.map(([path]) => path);
    expect(paths).toEqual(expect.arrayContaining(['/mcp', '/mcp/account', '/a2a/v1/message:send', '/', '/healthz']));
    for (const member of ['status', 'reasons', 'warnings'])
      expect(document.paths['/readyz']?.['get']?.summary).toContain(`\`${member}\``);
    expect(paths.filter((path) => path.startsWith('/oauth/'))).toHaveLength(5);
    expect(paths.filter((path) => path.startsWith('/.well-known/oauth-'))).toHaveLength(4);
    for (const [path, item] of others)
      for (const [method, { responses }] of Object.entries(item)) {
        const headers = { Host: new URL(BASE).host, Accept: 'application/json', 'Content-Type': 'application/json' };
        const body = method === 'post' ? { body: '{}' } : {};
        const { status } = await app.ask(filled(path), { method: method.toUpperCase(), headers, ...body });
        expect([path, Object.keys(responses)]).toEqual([path, expect.arrayContaining([String(status)])]);
      }
  });

  test('lists each filter of a dataset with the operations that accept it', async () => {
    const { filters } = (await app.json('/v1/tools/schema')).body as { filters: { name: string }[] };
    for (const id of [
      'tools_search',
      'tools_facets',
      'tools_stats',
      'tools_timeseries',
      'tools_similar',
      'tools_compare',
    ]) {
      const { parameters } = everything().find(({ operationId }) => operationId === id)!;
      const names = parameters.map((each) => resolved(each as Json & { $ref?: string })['name']);
      expect(names, id).toEqual(expect.arrayContaining(filters.map(({ name }) => name)));
    }
  });

  test('marks paid operations, with the price of one call and the 402 answer', () => {
    const paid = OPERATIONS.filter(({ charge: { price } }) => price !== undefined).map(({ name }) => name);
    for (const each of everything()) {
      const name = each.operationId?.replace(/_markdown$/, '');
      // Its amount is in the request.
      if (name === 'account_prepay') continue;
      const priced = paid.includes(name ?? '');
      if (!OPERATIONS.some((operation) => operation.name === name)) continue;
      expect([name, each['x-payment-info'] !== undefined, '402' in each.responses]).toEqual([name, priced, priced]);
    }
    const get = everything().find(({ operationId }) => operationId === 'tools_get')!;
    expect(get['x-payment-info']).toEqual({
      price: { mode: 'fixed', currency: 'USD', amount: '0.0044' },
      protocols: [],
    });
    const facets = everything().find(({ operationId }) => operationId === 'tools_facets')!;
    expect(facets['x-payment-info']).toMatchObject({ price: { mode: 'dynamic', min: '0', max: '0.0088' } });
    expect(facets['description']).toContain('Price: free; one search where a paid field is used.');
    expect(get.security).toEqual([{ apiKey: [] }, { bearer: [] }, { oauth: ['read'] }]);
    // This dataset has no prices.
    expect(everything().find(({ operationId }) => operationId === 'harbours_prices')?.responses).not.toHaveProperty(
      '402',
    );
  });

  test('has an ETag that changes only with the register', async () => {
    const first = await app.ask('/openapi.json');
    const tag = first.headers.get('etag') ?? '';
    expect([first.headers.get('content-type'), first.headers.get('access-control-allow-origin')]).toEqual([
      'application/vnd.oai.openapi+json;version=3.1',
      '*',
    ]);
    expect((await app.ask('/openapi.json', { headers: { 'If-None-Match': tag } })).status).toBe(304);
  });
});

describe('is made', () => {
  const { text } = DOCUMENTS.find(({ path }) => path === '/openapi.json')!;
  const viewOf = (more: Partial<View> = {}): View => ({
    releases: ['tools', 'harbours'].map((dataset) => app.register.current(dataset)!),
    ...{ operations: OPERATIONS, base_url: 'https://made.example', eur_usd: 1, now: new Date(0) },
    ...more,
  });
  /** The view after an owner's edit of a record. */
  const edited = (view: View, id: string, version: number): View => {
    const [release, ...others] = view.releases;
    const overlay = { ...NO_OVERLAY, version, ownerFacts: new Map([[id, [{ version } as OwnerFact]]]) };
    return { ...view, releases: [{ ...release!, overlay }, ...others] };
  };

  test('once for all requests, and again after the edit or removal of a record that it shows', async () => {
    const view = viewOf();
    const [first, second] = await Promise.all([text(view, {}), text(view, {})]);
    expect(second).toBe(first);
    const shown = /r-[0-9a-f]{16}/.exec(String(first))![0];
    expect(await text(edited(view, 'r-0000000000000000', 1), {})).toBe(first);
    const [third, fourth] = await Promise.all([3, 3].map((version) => text(edited(view, shown, version), {})));
    expect([third !== first, fourth === third]).toEqual([true, true]);
    expect(await text(edited(view, shown, 3), {})).toBe(third);
    const removed = new Map([['r-0000000000000000', { entity: 'r-0000000000000000', slug: 'x', version: 4 }]]);
    const after = edited(view, shown, 3);
    after.releases[0]!.overlay = { ...after.releases[0]!.overlay!, version: 4, removed };
    expect(await text(after, {})).not.toBe(third);
  });

  test('by the nightly build, whose file is sent while its version is current', async () => {
    const file = Buffer.from(String(await text(viewOf({ eur_usd: 2 }), {})));
    const published = async () => file;
    await text(viewOf({ eur_usd: 3 }), {});
    expect(await text(viewOf({ eur_usd: 2, published }), {})).toBe(file);
    const other = await text(viewOf({ eur_usd: 4, published }), {});
    expect(other).not.toBe(file);
    expect(JSON.parse(String(other)).info['x-document-version']).not.toBe(
      JSON.parse(String(file)).info['x-document-version'],
    );
  });
});

test('open operations have an empty security list, and no example has a long list', () => {
  const open = everything().filter(({ security }) => security.length === 0);
  expect(open.map(({ operationId }) => operationId)).toEqual(
    expect.arrayContaining(['datasets_list', 'dataset_schema']),
  );
  for (const { security } of everything()) expect(security).not.toEqual([{}]);
  const lists = (value: unknown): unknown[][] => {
    if (Array.isArray(value)) return [value, ...value.flatMap(lists)];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(lists) : [];
  };
  for (const { responses } of everything())
    for (const { content } of Object.values(responses))
      for (const { value } of Object.values(content?.['application/json']?.examples ?? {}))
        for (const list of lists(value)) expect(list.length).toBeLessThanOrEqual(5);
});

describe('its accuracy', () => {
  test('every example is the answer to its request, with public values only', async () => {
    const found = everything().flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ content }) => Object.values(content?.['application/json']?.examples ?? {})),
    );
    const open = new Set(
      [...app.register.packs.values()].flatMap(({ attributes }) =>
        attributes.filter((each) => each.public).map(({ name }) => name),
      ),
    );
    const questions = new Map(found.map(({ summary, value }) => [summary, value]));
    expect(questions.size).toBeGreaterThan(20);
    for (const [question, value] of questions) {
      const { status, body } = await app.json(question.replace(/^GET /, ''), { admin: true });
      expect([question, status]).toEqual([question, 200]);
      expect(undated(shortenLists(body)), question).toEqual(undated(value));
      const named = [...JSON.stringify(value).matchAll(/"attribute":"([^"]+)"/g)].map(([, name]) => name ?? '');
      const shown = [...namesIn(value)];
      expect(
        [...named, ...shown].filter((name) => !open.has(name)),
        question,
      ).toEqual([]);
    }
  });

  test('every answer has a described status, type and shape', async () => {
    const seen = new Set<string>();
    for (const { operation, name, path, init } of asked) {
      const { method = 'GET' } = init;
      const response = await app.ask(path, init);
      if (response.status === 503) continue;
      const described = describedAt(path, method);
      const answer = described?.responses[String(response.status)];
      expect([name, response.status, answer !== undefined]).toEqual([name, operation.docs.statuses?.[0] ?? 200, true]);
      const type = response.headers.get('content-type')?.split(';')[0] ?? '';
      const media = resolved(answer!).content?.[type];
      expect([name, media !== undefined]).toEqual([name, true]);
      if (type === 'application/json')
        expect(schemaErrors(alone(media!.schema), await response.json()), name).toEqual([]);
      else await response.body?.cancel();
      for (const header of Object.keys(answer!.headers).filter(
        (each) => !/charge|balance|ratelimit|link|cursor/i.test(each),
      ))
        expect([name, header, response.headers.get(header) !== null || init.admin === true]).toEqual([
          name,
          header,
          true,
        ]);
      seen.add(described!.operationId);
    }
    for (const each of OPERATIONS)
      if (each.rest.path.includes(':ds'))
        expect([...seen].filter((id) => /^tools_/.test(id))).toContain(
          `tools_${each.name.replace(/^(dataset|entity)_/, '')}`,
        );
  });

  test('every refusal too', async () => {
    const paths = [
      '/v1/nobody/status',
      '/v1/tools/entities/nobody-at-all?x=1',
      '/v1/tools/entities?colour=red',
      '/v1/tools/entities?limit=0',
      '/v1/tools/stats?attribute=price.list',
      '/v1/tools/export',
      '/v1/tools/entities?format=csv',
      '/v1/keys',
      '/v1/keys/me',
      '/v1/tools/facets',
      '/v1/tools/changelog?days=1000',
    ];
    const statuses = new Set<number>();
    for (const path of paths)
      for (const headers of [{}, { Authorization: 'Bearer nobody' }, { Accept: 'application/problem+json' }]) {
        const response = await app.ask(path, { headers });
        const answer = resolved(describedAt(path, 'GET')!.responses[String(response.status)]!);
        const type = response.headers.get('content-type') ?? '';
        const problem = type === 'application/problem+json' ? { type: '', title: '', status: 0 } : {};
        const { schema } = answer.content![type]!;
        const body = (await response.json()) as Json;
        expect(Object.keys(body), path).toEqual(expect.arrayContaining(Object.keys(problem)));
        expect(
          schemaErrors({ ...schema, components: document.components }, body),
          `${path} ${response.status}`,
        ).toEqual([]);
        statuses.add(response.status);
      }
    expect([...statuses].sort()).toEqual([400, 401, 402, 403, 404, 422]);
  });
});

/** Answers without time-dependent parts. */
const undated = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, each) =>
      // The cursor of an example is a placeholder.
      /^(freshness|next_collection|median_age_hours|within_sla|next_cursor)$/.test(name) ? undefined : each,
    ),
  );

/** Attributes in records and tables of values. */
function namesIn(value: unknown): Set<string> {
  const found = new Set<string>();
  JSON.stringify(value, (name, each) => {
    if (/^(attributes|provenance|values)$/.test(name) && typeof each === 'object' && !Array.isArray(each))
      for (const key of Object.keys(each as object)) found.add(key);
    return each;
  });
  return found;
}
