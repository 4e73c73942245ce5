// Conditions of a plan as SQL on the table `records`.
import type { Attribute } from '../../packs/define/model.ts';
import { leastReach } from '../consolidate/engine-values.ts';
import { EARTH_KM, longitudeRanges } from '../model/geography.ts';
import { column } from '../model/layout.ts';
import type { ProvenanceStatus } from '../model/record.ts';
import type { DistanceSort, Predicate } from '../plan/plan.ts';
import { attributeOf, comparedColumn, entriesTable, enumMember, type Shape, tableSql } from './shape.ts';
import { identifier, join, type Sql, sql } from './sql.ts';

/** Kilometres per degree of latitude, rounded down so that the band of latitude contains every match. */
const DEGREE_KM = 111.19;

/** All conditions; `true` when there are none. */
export function conditions(where: readonly Predicate[], shape: Shape): Sql {
  return where.length === 0
    ? sql`true`
    : join(
        where.flatMap((predicate) => condition(predicate, shape)),
        ' AND ',
      );
}

function condition(predicate: Predicate, shape: Shape): Sql | Sql[] {
  switch (predicate.kind) {
    case 'any':
      return anyOf(predicate.attribute, predicate.values, shape);
    case 'none':
      return sql`(${anyOf(predicate.attribute, predicate.values, shape)}) IS NOT TRUE`;
    case 'like':
      return like(predicate.attribute, predicate.needle, shape);
    case 'min':
      return sql`${identifier(bound(predicate.attribute, 'max', shape))} >= ${predicate.value}`;
    case 'max':
      return sql`${identifier(bound(predicate.attribute, 'min', shape))} <= ${predicate.value}`;
    case 'has': {
      const compared = identifier(comparedColumn(attributeOf(shape, predicate.attribute)));
      return predicate.present ? sql`${compared} IS NOT NULL` : sql`${compared} IS NULL`;
    }
    case 'words':
      return predicate.words.map((word) => prefix(word, predicate.scope === 'public', shape));
    case 'status':
      return status(predicate.statuses, leastReach(predicate.scope));
    case 'near':
      return near(predicate);
    case 'bbox':
      return bbox(predicate);
    case 'ids':
      return sql`ord IN (SELECT ord FROM ${tableSql(shape, 'refs')} WHERE ref IN (${join(
        predicate.refs.map((ref) => sql`${ref}`),
        ', ',
      )}))`;
    case 'updated_since':
      return sql`updated >= ${predicate.at}`;
    case 'min_quality':
      return sql`quality >= ${predicate.value}`;
  }
}

function anyOf(attributeName: string, values: readonly (string | number | boolean)[], shape: Shape): Sql {
  const attribute = attributeOf(shape, attributeName);
  const compared = comparedColumn(attribute);
  const list = join(
    values.map((value) => enumMember(shape, compared, value)),
    ', ',
  );
  return attribute.type === 'strings'
    ? withEntry(attribute, sql`fold IN (${list})`, shape)
    : sql`${identifier(compared)} IN (${list})`;
}

function like(attributeName: string, needle: string, shape: Shape): Sql {
  const attribute = attributeOf(shape, attributeName);
  return attribute.type === 'strings'
    ? withEntry(attribute, sql`contains(fold, ${needle})`, shape)
    : sql`contains(${identifier(comparedColumn(attribute))}, ${needle})`;
}

/** Records with a list entry that meets a condition. */
function withEntry({ name: list }: Attribute, entry: Sql, shape: Shape): Sql {
  return sql`ord IN (SELECT ord FROM ${tableSql(shape, entriesTable(list))} WHERE ${entry})`;
}

/**
 * A range matches when it overlaps: its upper end against `min_`, its lower end against `max_` (contract
 * section 2).
 */
function bound(attributeName: string, end: 'min' | 'max', shape: Shape): string {
  const attribute = attributeOf(shape, attributeName);
  return column(attribute.name, attribute.type === 'price' ? end : 'value');
}

/** Records with a word that has the prefix. Terms are sorted, so few row groups are read. */
function prefix(word: string, publicOnly: boolean, shape: Shape): Sql {
  const scope = publicOnly ? sql` AND public` : sql``;
  return sql`ord IN (SELECT ord FROM ${tableSql(shape, 'terms')} WHERE ${prefixRange(word)}${scope})`;
}

/** Terms with a prefix. */
export function prefixRange(word: string): Sql {
  return sql`term >= ${word} AND term < ${`${word}\u{10ffff}`}`;
}

/** Some value has one of the statuses and is visible to the caller. */
function status(statuses: readonly ProvenanceStatus[], least: number): Sql {
  return sql`(${join(
    statuses.map((each) => sql`${identifier(each)} >= ${least}`),
    ' OR ',
  )})`;
}

/**
 * Within a great-circle distance, edge included; the band of latitude first, since it needs no trigonometry.
 */
function near({ attribute, lat, lng, km }: Extract<Predicate, { kind: 'near' }>): Sql[] {
  const y = identifier(column(attribute, 'lat'));
  const band = km / DEGREE_KM + 1e-9;
  return [sql`${y} BETWEEN ${lat - band} AND ${lat + band}`, sql`${kilometres({ attribute, lat, lng })} <= ${km}`];
}

/** Great-circle distance of a record from a point (haversine). */
export function kilometres({ attribute, lat, lng }: DistanceSort): Sql {
  const [y, x] = [identifier(column(attribute, 'lat')), identifier(column(attribute, 'lng'))];
  return sql`2 * ${EARTH_KM} * asin(sqrt(least(1, pow(sin(radians(${y} - ${lat}) / 2), 2) + cos(radians(${lat})) * cos(radians(${y})) * pow(sin(radians(${x} - ${lng}) / 2), 2))))`;
}

/** Within a box, edges included. */
function bbox({ attribute, ...box }: Extract<Predicate, { kind: 'bbox' }>): Sql[] {
  const [y, x] = [identifier(column(attribute, 'lat')), identifier(column(attribute, 'lng'))];
  const ranges = longitudeRanges(box).map(([from, to]) => sql`${x} BETWEEN ${from} AND ${to}`);
  return [sql`${y} BETWEEN ${box.south} AND ${box.north}`, sql`(${join(ranges, ' OR ')})`];
}
