// Parameters of the features of OGC API Features (Part 1 section 7.15, Part 3): a search by public attributes.
import { z } from 'zod';
import { DATED, type Pack } from '../../packs/define/model.ts';
import { PERIOD_LENGTHS } from '../../packs/define/times.ts';
import type { Expression } from '../plan/expression.ts';
import type { Predicate } from '../plan/plan.ts';
import { EXAMPLE_CURSORS } from './cursor.ts';
import { parseFilterExpression } from './filter-expression.ts';
import { single } from './filters.ts';
import { selectingParameters } from './parameters.ts';
import { BOUNDS, parseInteger, parseMoment } from './parse-values.ts';
import { integerParameter, invalid } from './rows.ts';
import { CURSOR, DEFAULT_SORT, type SearchInput } from './search-parameters.ts';
import { condition, questionOf, SELECTION } from './selection.ts';

/** The coordinate reference system of all positions: longitude and latitude in degrees. */
export const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84';

const LIMIT = integerParameter('Features on a page', { min: 1, max: BOUNDS.limit, fallback: 100 });

/**
 * A time, or an interval with at least one bound, as a condition on any date or time of the dataset; on the time of
 * the newest change where it has none.
 */
function timeCondition(raw: string, pack: Pack): Predicate {
  const bounds = raw.split('/').map((bound) => (bound === '' ? '..' : bound));
  const closed = bounds.filter((bound) => bound !== '..');
  if (bounds.length > 2 || closed.length === 0)
    throw invalid('datetime: must be a time, or an interval such as 2026-01-01T00:00:00Z/..');
  const moments = closed.map((bound) => parseMoment('datetime', bound));
  // A day is after every time of it, as an end.
  if (moments.length === 2 && moments[0]! > `${moments[1]}~`)
    throw invalid(`datetime: the interval must begin before it ends (got ${raw}); write the earlier time first`);
  const [start, end] = [bounds[0]!, bounds.at(-1)!];
  const times = pack.attributes.filter(({ type, filterable }) => filterable && DATED.includes(type));
  if (times.length === 0)
    return { kind: 'updated_since', at: edge(start, 'T00:00:00', 0), until: edge(end, 'T23:59:59.999') };
  const args = times.flatMap(({ name }) =>
    parseFilterExpression(`T_INTERSECTS("${name}", INTERVAL('${start}', '${end}'))`, pack).where.map(
      ({ expression }) => expression,
    ),
  );
  // Records without any time match too (requirement /req/core/fc-time-response).
  const absent = times.map(({ name }): Expression => ({ op: 'not', arg: { op: 'present', attribute: name } }));
  const expression: Expression = { op: 'or', args: [{ op: 'and', args: absent }, ...args] };
  return { kind: 'expression', expression, source: `datetime=${raw}` };
}

/** A bound in milliseconds since 1970. */
function edge(bound: string, time: string, open = Number.MAX_SAFE_INTEGER): number {
  if (bound === '..') return open;
  const moment = parseMoment('datetime', bound);
  return Date.parse(`${moment.length === PERIOD_LENGTHS.day ? moment + time : moment}Z`);
}

/** Parameters of `GET /ogc/collections/{ds}/items`. Parse them with a pack that has public attributes only. */
export const featureParameters = selectingParameters(
  {
    limit: {
      ...LIMIT,
      // A larger number is no error, but the largest page (requirement /req/core/fc-limit-response-1).
      parse: (values, { name }) => Math.min(parseInteger(name, single(name, values), 1), BOUNDS.limit),
    },
    bbox: {
      ...SELECTION.bbox,
      // Six numbers have heights, which points lack.
      parse: (values, place) => {
        const edges = single(place.name, values).split(',');
        const flat = edges.length === 6 ? [0, 1, 3, 4].map((at) => edges[at]) : edges;
        return SELECTION.bbox.parse([flat.join()], place);
      },
    },
    datetime: condition(
      () => z.string().optional().describe('A time, or an interval: start/end, where .. is an open end'),
      (values, { name, pack }) => timeCondition(single(name, values), pack),
      ({ where }, time) => where.push(time),
    ),
    filter: SELECTION.filter,
    'filter-lang': SELECTION['filter-lang'],
    'filter-crs': {
      schema: () => z.literal(CRS84).optional().describe('Of positions in filter'),
      parse: (values, { name }) => {
        if (single(name, values) !== CRS84) throw invalid(`filter-crs: must be ${CRS84}.`);
        return null;
      },
      fallback: null,
    },
    cursor: CURSOR,
  },
  ({ limit, cursor }, selection, { pack, cursors = EXAMPLE_CURSORS }): SearchInput => {
    const { sort, type } = DEFAULT_SORT;
    const question = { dataset: pack.id, where: questionOf(selection), sort };
    return {
      ...selection,
      ...{ sort, ordered: false, group: null, fields: null, total: true, format: 'geojson', bom: false, limit },
      cursor: cursor === null ? null : cursors.read(question, cursor, type),
    };
  },
);
