// OGC API Features below /ogc, for GIS clients: the public attributes of every dataset with one public point (Part 1:
// Core, GeoJSON and OpenAPI; Part 3: queryables and the CQL2 filter). Free, and not counted as previews.
import { z } from 'zod';
import { CRS84, featureParameters } from '../../data/input/feature-parameters.ts';
import { unknownParameter } from '../../data/input/suggester.ts';
import { mapSlices } from '../../data/plan/slices.ts';
import { pageRecords } from '../../data/queries/record-page.ts';
import { getRecord } from '../../data/queries/records.ts';
import { releaseFor, search } from '../../data/queries/search.ts';
import { derive } from '../../packs/define/derive.ts';
import { datasetAttribution, datasetUrl, licenseText } from '../../packs/define/links.ts';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { type JsonSchema, recordSchema } from '../../packs/define/record-schema.ts';
import { ApiError } from '../contract/errors.ts';
import { IDENTITY } from '../discovery/identity.ts';
import type { CallDeps, Leases } from '../gate/execute.ts';
import { etagOf } from '../http/conditions.ts';
import { errorReply, responseOf } from '../http/respond.ts';
import type { RouteAnswer, RouteRequest, RouteTable } from '../http/server.ts';
import { hasFeatures, publicPoint } from '../render/data-files.ts';
import { geojsonFeature } from '../render/geojson.ts';
import { filterSchemas } from '../render/json-schema.ts';
import { ROWS_A_SLICE } from '../render/rows.ts';

type Release = Leases['releases'][number];

const TYPES = {
  json: 'application/json',
  geojson: 'application/geo+json',
  schema: 'application/schema+json',
  openapi: 'application/vnd.oai.openapi+json;version=3.0',
  problem: 'application/problem+json',
};

const QUERYABLES = 'http://www.opengis.net/def/rel/ogc/1.0/queryables';

/** Conformance classes by the specification that defines them. */
const CONFORMANCE = Object.entries({
  'ogcapi-features-1': ['core', 'oas30', 'geojson'],
  'ogcapi-features-3': ['queryables', 'filter', 'features-filter'],
  cql2: [
    ...['cql2-text', 'cql2-json', 'basic-cql2', 'advanced-comparison-operators', 'basic-spatial-functions'],
    ...['case-insensitive-comparison', 'accent-insensitive-comparison'],
  ],
}).flatMap(([name, classes]) => classes.map((part) => `http://www.opengis.net/spec/${name}/1.0/conf/${part}`));

/** Side of the cells in degrees whose box is the extent of a collection. */
const CELL = 1;

/** The pack with its public attributes only, so that no parameter can name another one. */
export const publicPack = (pack: Pack): Pack =>
  derive(pack, 'public attributes', () => ({
    ...pack,
    attributes: pack.attributes.filter((attribute) => attribute.public),
  }));

const link = (rel: string, href: string, type: string, title?: string) => ({
  rel,
  href,
  type,
  ...(title && { title }),
});

/** A collection as `/collections/{id}` has it. */
async function collection(release: Release, base_url: string): Promise<object> {
  const { pack } = release;
  const at = `${base_url}/ogc/collections/${pack.id}`;
  const bbox = await derive(release, 'extent', () => extentOf(release));
  return {
    id: pack.id,
    title: pack.title,
    description: pack.description,
    keywords: pack.keywords,
    attribution: datasetAttribution(pack, base_url),
    license: licenseText(pack),
    ...(bbox && { extent: { spatial: { bbox: [bbox], crs: CRS84 } } }),
    itemType: 'feature',
    crs: [CRS84],
    links: [
      link('self', at, TYPES.json),
      link('items', `${at}/items`, TYPES.geojson, pack.title),
      link(QUERYABLES, `${at}/queryables`, TYPES.schema, 'Properties that filters name'),
      link('license', pack.license.url, 'text/html', pack.license.name),
      link('alternate', datasetUrl(base_url, pack.id), 'text/html', pack.title),
      link('enclosure', `${base_url}/files/${pack.id}/public.geojson`, TYPES.geojson, 'All features as a file'),
    ],
  };
}

/** West, south, east and north of the cells with points; null without a point. */
async function extentOf({ pack, engine }: Release): Promise<number[] | null> {
  const attribute = publicPoint(pack)!.name;
  const { groups } = await engine.spread({ attribute, edges: [], cell: CELL });
  if (groups.length === 0) return null;
  const [lats, lngs] = [0, 1].map((at) => groups.map(({ key }) => key[at]!)) as [number[], number[]];
  const [east, north] = [Math.max(...lngs) + CELL, Math.max(...lats) + CELL];
  return [Math.min(...lngs), Math.min(...lats), Math.min(180, east), Math.min(90, north)];
}

/** JSON Schema of the values that expressions compare. The point is the geometry of a feature. */
function queryables({ pack }: Release, base_url: string): JsonSchema {
  const open = publicPack(pack);
  const { attributes } = recordSchema(open)['properties'] as { attributes: { properties: Record<string, JsonSchema> } };
  const compared: Partial<Record<Attribute['type'], JsonSchema>> = {
    geo: { 'x-ogc-role': 'primary-geometry', format: 'geometry-point' },
    price: { type: 'number' },
    strings: { type: 'string' },
  };
  const properties = open.attributes
    .filter(({ filterable }) => filterable)
    .flatMap(({ name, type, description }) => [
      [name, compared[type] ? { description, ...compared[type] } : attributes.properties[name]],
      ...(type === 'price' ? ['min', 'max'] : []).map((end) => [
        `${name}.${end}`,
        { description: `${description}: ${end === 'min' ? 'lower' : 'upper'} end`, type: 'number' },
      ]),
    ]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${base_url}/ogc/collections/${pack.id}/queryables`,
    title: pack.title,
    type: 'object',
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}

/** A page of features. */
async function items(gate: CallDeps, leases: Leases, release: Release, request: RouteRequest): Promise<RouteAnswer> {
  const { base_url, cursors } = gate;
  const { url: self, now } = request;
  const pack = publicPack(release.pack);
  const options = { ...request.publicContext, cursors };
  const input = featureParameters.parse(request.query, pack, options);
  const source = await releaseFor(input, release, leases.leaseEarlier);
  const { list, next_cursor, total } = await search(source, input, options);
  const records = await pageRecords(list, options);
  const features = await mapSlices(records, ROWS_A_SLICE, (record) => geojsonFeature(pack, record), options);
  const next = new URL(self);
  if (next_cursor !== null) next.searchParams.set('cursor', next_cursor);
  const page = {
    type: 'FeatureCollection',
    numberMatched: total,
    numberReturned: records.length,
    attribution: datasetAttribution(pack, base_url),
    license: licenseText(pack),
    links: [
      link('self', self.href, TYPES.geojson),
      link('collection', `${base_url}/ogc/collections/${pack.id}`, TYPES.json),
      ...(next_cursor === null ? [] : [link('next', next.href, TYPES.geojson)]),
    ],
  };
  const text = `${JSON.stringify(page).slice(0, -1)},"features":[${features.join()}]`;
  return {
    document: `${text},"timeStamp":"${now.toISOString()}"}`,
    type: TYPES.geojson,
    // Without the time of the answer.
    tag: etagOf(text),
    headers: {
      'X-Dataset-Version': source.manifest.release,
      ...(next_cursor === null ? {} : { Link: `<${next.href}>; rel="next"` }),
    },
  };
}

function refuseParameters({ query }: RouteRequest): void {
  for (const name of Object.keys(query)) throw unknownParameter(name, []);
}

/** One feature. */
async function item({ base_url }: CallDeps, release: Release, request: RouteRequest): Promise<RouteAnswer> {
  refuseParameters(request);
  const { url: self, params, publicContext: options } = request;
  const record = (await getRecord(release, params['id'] ?? '', options)).record(options);
  const links = [
    link('self', self.href, TYPES.geojson),
    link('collection', `${base_url}/ogc/collections/${release.pack.id}`, TYPES.json),
    link('alternate', record.url, 'text/html', record.name),
  ];
  const feature = geojsonFeature(publicPack(release.pack), record).slice(0, -1);
  return { document: `${feature},"links":${JSON.stringify(links)}}`, type: TYPES.geojson };
}

const PARAMETERS = z.toJSONSchema(featureParameters.schema(null), { io: 'input', target: 'openapi-3.0' }).properties!;

/** The description of the interface, with the filters of each collection. */
function openapi(base_url: string, releases: readonly Release[]): object {
  const names = Object.keys(PARAMETERS);
  const get = (operationId: string, summary: string, type: string, parameters: object[] = []) => ({
    get: {
      ...{ operationId, summary, parameters },
      responses: {
        '200': { description: summary, content: { [type]: { schema: { type: 'object' } } } },
        default: { description: 'Problem (RFC 9457)', content: { [TYPES.problem]: { schema: { type: 'object' } } } },
      },
    },
  });
  const query = (name: string, { description, examples: _, ...schema }: JsonSchema, list = false) => {
    const form = list ? { style: 'form', explode: false, schema: { type: 'array', items: schema } } : { schema };
    return { name, in: 'query', ...(description ? { description } : {}), ...form };
  };
  const feature = { name: 'featureId', in: 'path', required: true, schema: { type: 'string' } };
  const collections = releases.flatMap(({ pack }) => {
    const at = `/collections/${pack.id}`;
    const filters = filterSchemas(publicPack(pack), [{ operation: 'items', parameters: names }]);
    const parameters = [
      ...names.map((name) => ({ $ref: `#/components/parameters/${name}` })),
      ...filters.map(({ name, description, list, schema }) => query(name, { description, ...schema }, list)),
    ];
    return [
      [at, get(`${pack.id}.collection`, pack.title, TYPES.json)],
      [`${at}/queryables`, get(`${pack.id}.queryables`, 'Properties that filters name', TYPES.schema)],
      [`${at}/items`, get(`${pack.id}.items`, 'Features', TYPES.geojson, parameters)],
      [`${at}/items/{featureId}`, get(`${pack.id}.item`, 'One feature', TYPES.geojson, [feature])],
    ];
  });
  return {
    openapi: '3.0.3',
    info: { title: IDENTITY.title, version: IDENTITY.version, description: IDENTITY.description },
    servers: [{ url: `${base_url}/ogc` }],
    paths: {
      '/': get('landingPage', 'Landing page', TYPES.json),
      '/conformance': get('conformance', 'Conformance classes', TYPES.json),
      '/api': get('api', 'This description', TYPES.openapi),
      '/collections': get('collections', 'Collections', TYPES.json),
      ...Object.fromEntries(collections),
    },
    components: {
      parameters: Object.fromEntries(names.map((name) => [name, query(name, PARAMETERS[name] as JsonSchema)])),
    },
  };
}

/** Wrong values are 400 here, and problem details in any case (requirement /req/core/query-param-invalid). */
function problem(
  base_url: string,
  { code, message, extras }: ApiError,
  { request_id, headers }: RouteRequest,
): Response {
  const status = code === 'validation_failed' ? 'invalid_parameter' : code;
  const error = new ApiError(status, message, { ...extras, detail: message });
  return responseOf(errorReply(error, { base_url, request_id, headers, accept: TYPES.problem, resource: '/v1' }));
}

/**
 * `/ogc` and all paths below it.
 *
 * @example
 * ```ts
 * mountTable(app, services, ogcTable(gate));
 * await app.request('/ogc/collections/harbours/items?bbox=5,45,11,48&limit=10'); // a FeatureCollection
 * ```
 */
export function ogcTable(gate: CallDeps): RouteTable {
  const { base_url } = gate;
  const at = `${base_url}/ogc`;
  type Make<T> = (request: RouteRequest, leases: Leases, release: Release) => T | Promise<T>;
  /** Leases the release of a collection until the answer is made. */
  const ofCollection = (make: Make<RouteAnswer>) => async (request: RouteRequest) => {
    const ds = request.params['ds'] ?? '';
    const leases = await gate.lease(ds);
    try {
      const { release } = leases;
      if (release === undefined || !hasFeatures(release.pack))
        throw new ApiError('not_found', `${ds} is no collection: its records have no public point.`);
      request.headers['X-Dataset-Version'] = release.manifest.release;
      return await make(request, leases, release);
    } finally {
      leases.done();
    }
  };
  const plain = async (
    request: RouteRequest,
    type: string,
    make: () => Promise<object> | object,
  ): Promise<RouteAnswer> => {
    refuseParameters(request);
    return { document: JSON.stringify(await make()), type };
  };
  type MakeOfAll = (releases: Release[]) => object | Promise<object>;
  const ofAll = (type: string, make: MakeOfAll) => async (request: RouteRequest) => {
    const leases = await gate.lease(null);
    try {
      return await plain(request, type, () => make(leases.releases.filter(({ pack }) => hasFeatures(pack))));
    } finally {
      leases.done();
    }
  };
  const landing = ofAll(TYPES.json, () => ({
    title: IDENTITY.title,
    description: IDENTITY.description,
    links: [
      link('self', at, TYPES.json),
      link('service-desc', `${at}/api`, TYPES.openapi, 'OpenAPI 3.0'),
      link('service-doc', `${base_url}/guides/gis/`, 'text/html', 'Guide'),
      link('conformance', `${at}/conformance`, TYPES.json),
      link('data', `${at}/collections`, TYPES.json),
    ],
  }));
  return {
    policy: { caching: 'public, no-cache', failure: (error, request) => problem(base_url, error, request) },
    routes: {
      'GET /ogc': landing,
      'GET /ogc/': landing,
      'GET /ogc/conformance': ofAll(TYPES.json, () => ({ conformsTo: CONFORMANCE })),
      'GET /ogc/api': ofAll(TYPES.openapi, (releases) => openapi(base_url, releases)),
      'GET /ogc/collections': ofAll(TYPES.json, async (releases) => ({
        links: [link('self', `${at}/collections`, TYPES.json)],
        collections: await Promise.all(releases.map((release) => collection(release, base_url))),
      })),
      'GET /ogc/collections/:ds': ofCollection((request, _leases, release) =>
        plain(request, TYPES.json, () => collection(release, base_url)),
      ),
      'GET /ogc/collections/:ds/queryables': ofCollection((request, _leases, release) =>
        plain(request, TYPES.schema, () => queryables(release, base_url)),
      ),
      'GET /ogc/collections/:ds/items': ofCollection((request, leases, release) =>
        items(gate, leases, release, request),
      ),
      'GET /ogc/collections/:ds/items/:id': ofCollection((request, _leases, release) => item(gate, release, request)),
      'ALL /ogc/*': () => {
        throw new ApiError('not_found', 'Not found.', { alternative_action: `GET ${at} links to every resource.` });
      },
    },
  };
}
