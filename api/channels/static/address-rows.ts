// The pages of a dataset and of a search with what their address selects, from the current release: public values only,
// without a quota.
import { readFile } from 'node:fs/promises';
import { searchParameters } from '../../../data/input/search-parameters.ts';
import { questionOf, visibleSort } from '../../../data/input/selection.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import type { Predicate, QueryOptions } from '../../../data/plan/plan.ts';
import { choicesOf, spreadsOf } from '../../../data/queries/choices.ts';
import type { PresentOptions } from '../../../data/queries/present.ts';
import { pageRecords } from '../../../data/queries/record-page.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { ERRORS, toApiError } from '../../contract/errors.ts';
import type { Release } from '../../gate/context.ts';
import type { CallDeps } from '../../gate/execute.ts';
import type { RouteRequest } from '../../http/server.ts';
import { isOutdated } from '../../http/static-overlay.ts';
import { prefixOf } from '../../pages/frame.ts';
import { type DatasetResults, resultsHtml } from '../../pages/register-results.ts';
import { searchLine } from '../../pages/search-line.ts';
import { splitPage, type ViewerRows, viewerHtml } from '../../pages/viewer-html.ts';
import { type Model, PAGE_ROWS } from '../../pages/viewer-model.ts';
import {
  type AddressView,
  addressProblem,
  columnsOf,
  pageOf,
  pageProblem,
  paidNames,
  readState,
  selectionOf,
  sortOf,
} from '../../pages/viewer-state.ts';

type Rows = Omit<ViewerRows, 'served'>;

/**
 * The page with the rows of its address, or with the offer of rows that paid values select. Over the rate limit, and
 * while the engine is busy, a message replaces the rows. Null: it stays as it is.
 */
export async function addressPage(
  { gate, root }: { gate: CallDeps; root: string },
  request: RouteRequest,
  dataset: string,
  file: { path: string; text?: string },
): Promise<string | null> {
  const { search } = new URL(request.http.req.url);
  const leases = await Promise.resolve(gate.lease(dataset)).catch((error) => {
    if (toApiError(error).code === 'internal') throw error;
    return null;
  });
  if (leases === null) return null;
  try {
    const release = leases.release!;
    if (search === '' && !(await isOutdated(root, release))) return null;
    const page = splitPage(file.text ?? (await readFile(file.path, 'utf8')));
    if (page === null) return null;
    const { model, before, after } = page;
    const rows = await request
      .count('free')
      .then(() => addressRows(release, model, search, request.publicContext))
      .then((answer): ViewerRows => ({ ...answer, served: true }))
      .catch((error): ViewerRows => {
        const { code, message } = toApiError(error);
        if (code === 'internal') throw error;
        return { rows: [], matched: 0, records: model.records, problem: message, served: false };
      });
    return before + viewerHtml(model, search, rows) + after;
  } finally {
    leases.done();
  }
}

/** Lists of values and charts of a selection. */
async function shapeOf(release: Release, where: Predicate[], columns: readonly string[], view: QueryOptions) {
  const choices = await choicesOf(release, where, view);
  return { choices, stats: await spreadsOf(release, where, columns, view) };
}

/** The conditions and the order of a state; `names`: the attributes that they name. */
export function planOf(pack: Pack, model: AddressView, state: URLSearchParams, now: Date) {
  const parameters = { ...Object.fromEntries(selectionOf(state)), sort: sortOf(state, model) };
  const input = searchParameters.parse(parameters, pack, { now });
  const { names, sort } = input;
  return { where: questionOf(input, 'public'), sort: visibleSort(sort, 'public', pack), names };
}

/** The rows of an address, or what is wrong with it. None where it selects by values that are not public. */
export async function addressRows(
  release: Release,
  model: Model,
  search: string,
  options: PresentOptions & { now: Date },
): Promise<Rows> {
  const { pack, engine, manifest } = release;
  const { records } = manifest;
  const state = readState(search, model);
  const none = (problem: string): Rows => ({ rows: [], matched: 0, records, problem });
  if (paidNames(state, model).length > 0) return none('');
  const wrong = addressProblem(search, model);
  if (wrong?.empty) return none(wrong.text);
  try {
    const { where, sort, names } = planOf(pack, model, state, options.now);
    const open = new Set(pack.attributes.filter((attribute) => attribute.public).map(({ name }) => name));
    if (!names.every((name) => open.has(name))) return none('');
    const page = pageOf(state);
    const plan = { where, sort, after: null, limit: page * PAGE_ROWS, total: true };
    const { ordinals, total } = await engine.search(plan, options);
    const matched = total ?? 0;
    const beyond = pageProblem(state, matched);
    if (beyond !== '') return { ...none(beyond), matched };
    const shown = ordinals.slice((page - 1) * PAGE_ROWS);
    const rows = await pageRecords({ release, ordinals: shown, fields: null }, options);
    const about = where.length === 0 ? {} : await shapeOf(release, where, columnsOf(state, model), options);
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
