// The page of a dataset with the rows of its address, from the current release: public values only, without a quota.
import { readFile } from 'node:fs/promises';
import { searchParameters } from '../../../data/input/search-parameters.ts';
import { questionOf, visibleSort } from '../../../data/input/selection.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import type { Predicate, QueryOptions } from '../../../data/plan/plan.ts';
import { choicesOf, spreadsOf } from '../../../data/queries/choices.ts';
import { pageRecords } from '../../../data/queries/record-page.ts';
import { ERRORS, toApiError } from '../../contract/errors.ts';
import type { Release } from '../../gate/context.ts';
import type { CallDeps } from '../../gate/execute.ts';
import type { RouteRequest } from '../../http/server.ts';
import { isOutdated } from '../../http/static-overlay.ts';
import { modelOfPage, withRows } from '../../pages/dataset-table.ts';
import { prefixOf } from '../../pages/frame.ts';
import { type DatasetResults, resultsHtml } from '../../pages/register-results.ts';
import { searchLine } from '../../pages/search-line.ts';
import { type Model, PAGE_ROWS } from '../../pages/viewer-model.ts';
import {
  addressProblem,
  columnsOf,
  pageOf,
  pageProblem,
  paidNames,
  readState,
  selectionOf,
  sortOf,
} from '../../pages/viewer-state.ts';

/** Pages that are answered; the rows after them are read from the public file. */
const PAGES = 20;

type Rows = Parameters<typeof withRows>[3];

/**
 * The page with the rows of its address, or with the offer of rows that paid values select. Null: it stays as it is. Either
 * it has these rows, or its script reads them from the public file: the visitor is over the rate limit, or the engine is
 * busy.
 */
export async function addressPage(
  { gate, root }: { gate: CallDeps; root: string },
  request: RouteRequest,
  dataset: string,
  file: { path: string; text?: string },
): Promise<string | null> {
  const { search } = new URL(request.http.req.url);
  try {
    const leases = await gate.lease(dataset);
    try {
      const release = leases.release!;
      if (search === '' && !(await isOutdated(root, release))) return null;
      await request.count('free');
      const page = file.text ?? (await readFile(file.path, 'utf8'));
      const model = modelOfPage(page);
      const state = model && readState(search, model);
      if (model === null || state === null) return null;
      const { records } = release.manifest;
      if (paidNames(state, model).length > 0)
        return withRows(page, model, search, { rows: [], matched: 0, records, problem: '' });
      const rows = await rowsOf(release, model, state, search, gate, request);
      return rows && withRows(page, model, search, rows);
    } finally {
      leases.done();
    }
  } catch (error) {
    if (toApiError(error).code === 'internal') throw error;
    return null;
  }
}

/** Lists of values and charts of a selection. */
async function shapeOf(release: Release, where: Predicate[], columns: readonly string[], view: QueryOptions) {
  const choices = await choicesOf(release, where, view);
  return { choices, stats: await spreadsOf(release, where, columns, view) };
}

/** The rows of a state; null: it selects by values that are not public. */
async function rowsOf(
  release: Release,
  model: Model,
  state: URLSearchParams,
  search: string,
  { base_url }: CallDeps,
  { now, http }: RouteRequest,
): Promise<Rows | null> {
  const { pack, engine, manifest } = release;
  const { records } = manifest;
  const wrong = addressProblem(search, model);
  const none = (problem: string): Rows => ({ rows: [], matched: 0, records, problem });
  if (wrong?.empty) return none(wrong.text);
  const view = { now, base_url, visibility: 'public' as const, signal: http.req.raw.signal };
  try {
    const parameters = { ...Object.fromEntries(selectionOf(state)), sort: sortOf(state, model) };
    const input = searchParameters.parse(parameters, pack, { now });
    const open = new Set(pack.attributes.filter((attribute) => attribute.public).map(({ name }) => name));
    if (!input.names.every((name) => open.has(name))) return null;
    const [page, limit] = [pageOf(state), Math.min(PAGES, pageOf(state)) * PAGE_ROWS];
    const [where, sort] = [questionOf(input, 'public'), visibleSort(input.sort, 'public', pack)];
    const { ordinals, total } = await engine.search({ where, sort, after: null, limit, total: true }, view);
    const matched = total ?? 0;
    const beyond = pageProblem(state, matched);
    if (beyond !== '') return { ...none(beyond), matched };
    if (page > PAGES) return null;
    const rows = await pageRecords({ release, ordinals: ordinals.slice(limit - PAGE_ROWS), fields: null }, view);
    const about = where.length === 0 ? {} : await shapeOf(release, where, columnsOf(state, model), view);
    return { rows, matched, records, problem: wrong?.text ?? '', ...about };
  } catch (error) {
    const { code, message } = toApiError(error);
    if (ERRORS[code].status >= 500) throw error;
    return none(message);
  }
}

/** Records shown of each dataset of a search, of the only one, and of those that are left out. */
const SHOWN = { several: 10, one: 50 };

/** The page of results with those of the address. Null: it stays as it is. */
export async function resultsPage(
  gate: CallDeps,
  request: RouteRequest,
  file: { path: string; text?: string },
): Promise<string | null> {
  const q = request.parameter('q')?.trim() ?? '';
  const chosen = request.parameter('dataset') ?? '';
  if (q === '') return null;
  try {
    await request.count('free');
    const leases = await gate.lease(null);
    try {
      const results: DatasetResults[] = [];
      for (const { pack, engine } of leases.releases) {
        const input = searchParameters.parse({ q, sort: 'relevance' }, pack, { now: request.now });
        const plan = { where: questionOf(input, 'public'), sort: visibleSort(input.sort, 'public', pack), after: null };
        const limit = chosen === '' ? SHOWN.several : SHOWN.one;
        const { ordinals, total } = await engine.search({ ...plan, limit, total: true });
        const lines = (await engine.bodies(ordinals)).map(({ body }) => {
          const record = JSON.parse(body) as StoredRecord;
          const [name = '', hint = '', path = ''] = searchLine(
            pack,
            record,
            (attribute) => record.attributes[attribute],
          ).split('\t');
          return { name, hint, path };
        });
        results.push({ id: pack.id, title: pack.title, total: total ?? 0, records: lines });
      }
      const page = file.text ?? (await readFile(file.path, 'utf8'));
      const resultsText = String(resultsHtml(prefixOf(gate.base_url), q, chosen, results));
      return page.replace(/(?<=<div id="found">)/, () => resultsText);
    } finally {
      leases.done();
    }
  } catch (error) {
    if (toApiError(error).code === 'internal') throw error;
    return null;
  }
}
