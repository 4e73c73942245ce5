// Rows of a dataset's page: those that an address selects, as a file, as the table itself, and as points of its map
// (docs/static-hosting.md). Public values of the current release, without a quota.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filterGrammar } from '../../../data/input/filters.ts';
import { parseBox } from '../../../data/input/places.ts';
import type { PublicRecord } from '../../../data/model/record.ts';
import type { QueryOptions } from '../../../data/plan/plan.ts';
import { createQueryQueue, type QueryQueue } from '../../../data/plan/query-queue.ts';
import { mapSlices } from '../../../data/plan/slices.ts';
import { pageRecords } from '../../../data/queries/record-page.ts';
import { csvRow, flatCells, flatColumns } from '../../../data/write/csv.ts';
import { derive } from '../../../packs/define/derive.ts';
import { datasetAttribution } from '../../../packs/define/links.ts';
import type { Attribute, Geo, Pack } from '../../../packs/define/model.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Release } from '../../gate/context.ts';
import type { CallDeps } from '../../gate/execute.ts';
import { notFound } from '../../http/not-found.ts';
import type { RouteAnswer, RouteRequest, RouteTable } from '../../http/server.ts';
import { type Cluster, gather, type MapPoints } from '../../pages/clusters.ts';
import { splitPage, viewerHtml } from '../../pages/viewer-html.ts';
import { MOST_ROWS, orderOf } from '../../pages/viewer-model.ts';
import { type AddressView, addressProblem, columnsOf, readState } from '../../pages/viewer-state.ts';
import { publicPoint } from '../../render/data-files.ts';
import { geojsonFeature } from '../../render/geojson.ts';
import { ROWS_A_SLICE } from '../../render/rows.ts';
import { publicPack } from '../ogc.ts';
import { addressRows, planOf } from './address-rows.ts';

/** Calls of one address that wait for each other, and milliseconds that they wait. */
export const TURNS = { running: 1, waiting: 3, patience: 10_000 };

/** Most records in an area that are points with names; cells of clusters across an area with more. */
const [NAMED, CELLS] = [4_000, 224];

interface Deps {
  gate: CallDeps;
  /** DIST_DIR. */
  root: string;
}

type Answer = (release: Release, request: RouteRequest) => Promise<RouteAnswer>;

export function pageRowsTable({ gate, root }: Deps): RouteTable {
  const queues = new Map<string, QueryQueue>();
  /** Answers from the current release of the dataset. */
  const leased = async (request: RouteRequest, answer: Answer): Promise<RouteAnswer> => {
    const leases = await gate.lease(request.params['ds'] ?? '');
    try {
      return await answer(leases.release!, request);
    } finally {
      leases.done();
    }
  };
  /** The same, one call of an address at a time. */
  const bounded = (answer: Answer) => {
    return async (request: RouteRequest): Promise<RouteAnswer> => {
      await request.count('rows');
      const { address } = request.visitor;
      const queue = queues.get(address) ?? createQueryQueue(TURNS);
      queues.set(address, queue);
      const leave = await queue.enter(request.http.req.raw.signal);
      try {
        return await leased(request, answer);
      } finally {
        leave();
        if (queue.load().running === 0) queues.delete(address);
      }
    };
  };
  const file = (format: keyof typeof WRITERS) =>
    bounded((release, request) => rowsFile(gate.base_url, release, request, format));
  return {
    routes: {
      'GET /datasets/:ds/rows/html': (request) =>
        leased(request, (release) => tableAnswer({ gate, root }, release, request)),
      'GET /datasets/:ds/rows/csv': file('csv'),
      'GET /datasets/:ds/rows/json': file('json'),
      'GET /datasets/:ds/rows/geojson': file('geojson'),
      'GET /datasets/:ds/points.json': bounded(pointsAnswer),
    },
  };
}

/** The viewer of an address, which replaces that of the page. */
async function tableAnswer({ gate, root }: Deps, release: Release, request: RouteRequest): Promise<RouteAnswer> {
  const path = join(root, 'datasets', release.pack.id, 'index.html');
  const page = splitPage(await readFile(path, 'utf8').catch(() => ''));
  if (page === null) throw await notFound(gate, request.path);
  const rows = await addressRows(release, page.model, request.search, request.publicContext);
  const document = String(viewerHtml(page.model, request.search, { ...rows, served: true }));
  return { document, type: 'text/html; charset=utf-8', headers: versionOf(release) };
}

const versionOf = ({ manifest }: Release) => ({ 'X-Dataset-Version': manifest.release });

/** What addresses of a dataset may name: its public attributes. */
const viewOf = (pack: Pack): AddressView => ({
  attributes: pack.attributes,
  filters: filterGrammar(pack, null),
  columns: pack.attributes.map(({ name }) => name),
  sort: orderOf(pack),
});

/** The conditions and the order of the query; throws 400 for a parameter that no view has. */
function viewPlan({ pack }: Release, search: string, now: Date) {
  const open = publicPack(pack);
  const view = derive(open, 'addresses of pages', () => viewOf(open));
  const problem = addressProblem(search, view);
  if (problem !== null) throw new ApiError('invalid_parameter', problem.text);
  const state = readState(search, view);
  return { ...planOf(open, view, state, now), columns: columnsOf(state, view) };
}

interface FileRows {
  pack: Pack;
  /** The attributes of the file, in its order. */
  columns: readonly Attribute[];
  items: readonly PublicRecord[];
  /** All rows that match. */
  total: number;
  base_url: string;
  options: QueryOptions;
}

const lines = ({ items, options }: FileRows, line: (record: PublicRecord) => string) =>
  mapSlices([...items], ROWS_A_SLICE, line, options);

const head = ({ pack, base_url, total }: FileRows, type: object, list: string) =>
  `${JSON.stringify({ ...type, attribution: datasetAttribution(pack, base_url), total }).slice(0, -1)},"${list}":[\n`;

/** A file of rows by format: its media type and its text. */
const WRITERS = {
  csv: {
    type: 'text/csv; charset=utf-8',
    async text(rows: FileRows): Promise<string> {
      const names = csvRow(['slug', 'record', ...rows.columns.flatMap(flatColumns)]);
      const texts = await lines(rows, ({ slug, name, attributes }) =>
        csvRow([slug, name, ...rows.columns.flatMap((column) => flatCells(column, attributes[column.name]))]),
      );
      return [names, ...texts, ''].join('\r\n');
    },
  },
  json: {
    type: 'application/json',
    async text(rows: FileRows): Promise<string> {
      const texts = await lines(rows, ({ slug, name, url, attributes }) =>
        JSON.stringify({ slug, name, url, attributes }),
      );
      return `${head(rows, {}, 'items')}${texts.join(',\n')}\n]}\n`;
    },
  },
  geojson: {
    type: 'application/geo+json',
    async text(rows: FileRows): Promise<string> {
      const texts = await lines(rows, (record) => geojsonFeature({ attributes: rows.columns }, record));
      return `${head(rows, { type: 'FeatureCollection' }, 'features')}${texts.join(',\n')}\n]}\n`;
    },
  },
};

/** The first rows of an address as a file. */
async function rowsFile(
  base_url: string,
  release: Release,
  request: RouteRequest,
  format: keyof typeof WRITERS,
): Promise<RouteAnswer> {
  const { pack, engine } = release;
  const options = request.publicContext;
  const { where, sort, columns } = viewPlan(release, request.search, request.now);
  const fields = format === 'geojson' ? [...new Set([...columns, pointOf(pack).name])] : columns;
  const { ordinals, total } = await engine.search({ where, sort, after: null, limit: MOST_ROWS, total: true }, options);
  const items = await pageRecords({ release, ordinals, fields }, options);
  const shown = fields.flatMap((name) => pack.attributes.find((attribute) => attribute.name === name) ?? []);
  const { type, text } = WRITERS[format];
  const matched = total ?? items.length;
  const part = matched > items.length ? `-first-${items.length}` : '';
  return {
    document: await text({ pack, columns: shown, items, total: matched, base_url, options }),
    type,
    headers: {
      ...versionOf(release),
      'Content-Disposition': `attachment; filename="${pack.id}${part}.${format}"`,
    },
  };
}

/** The public position of records; 400 without one. */
function pointOf(pack: Pack): Attribute {
  const point = publicPoint(pack);
  if (point !== undefined) return point;
  throw new ApiError('invalid_parameter', `${pack.id} has no public position of its records.`);
}

/** Points of an address in a box of the map: single ones with names if they are few, else clusters. */
async function pointsAnswer(release: Release, request: RouteRequest): Promise<RouteAnswer> {
  const { pack, engine } = release;
  const point = pointOf(pack);
  const query = new URLSearchParams(request.search);
  const area = parseBox(query.get('box') ?? '-180,-90,180,90', { ...pack, attributes: [point] });
  query.delete('box');
  const options = request.publicContext;
  const { where: selected, sort } = viewPlan(release, query.toString(), request.now);
  const where = [...selected, area];
  const { ordinals, total } = await engine.search({ where, sort, after: null, limit: NAMED, total: true }, options);
  const json: MapPoints = { total: total ?? ordinals.length, cell: 0, clusters: [] };
  if (json.total <= NAMED) {
    const records = await pageRecords({ release, ordinals, fields: [point.name] }, options);
    json.clusters = records.map(({ slug, name, attributes }): Cluster => {
      const { lat, lng } = attributes[point.name] as Geo;
      return { lat, lng, count: 1, slug, name };
    });
  } else {
    json.cell = ((area.east - area.west + 360) % 360 || 360) / CELLS;
    const { groups } = await engine.spread({ attribute: point.name, edges: [], cell: json.cell, where }, options);
    const middle = (edge: number) => Number((edge + json.cell / 2).toFixed(4));
    json.clusters = groups.map(({ key, count }) => ({ lat: middle(key[0]!), lng: middle(key[1]!), count }));
    const { west, south, east, north } = area;
    // Many points close together: wider cells.
    for (let cells = CELLS / 2; json.clusters.length > MOST_ROWS; cells /= 2) {
      json.cell *= 2;
      json.clusters = gather(json.clusters, [west, south, east, north], cells).clusters;
    }
  }
  return { document: JSON.stringify(json), type: 'application/json', headers: versionOf(release) };
}
