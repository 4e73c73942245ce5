// Conditions of a plan as SQL on the table `records`.
import type { Attribute } from '../../packs/define/model.ts';
import { PERIOD_LENGTHS } from '../../packs/define/times.ts';
import { column } from '../model/layout.ts';
import type { Predicate } from '../plan/plan.ts';
import { conditionsSql, type SqlValues } from '../plan/predicates.ts';
import { countLiteral, identifier, join, type Sql, sql } from '../plan/sql.ts';
import { attributeOf, comparedColumn, entriesTable, enumMember, type Shape, tableSql, whereNotStale } from './shape.ts';

/** All conditions; `true` when there are none. */
export function conditions(where: readonly Predicate[], shape: Shape): Sql {
  return where.length === 0 ? sql`true` : whereNotStale(shape, conditionsSql(where, sqlValues(shape)));
}

/** The columns of the loaded tables. */
export function sqlValues(shape: Shape): SqlValues {
  /** Records with a list entry that meets a condition. */
  const withEntry = ({ name }: Attribute, entry: Sql) =>
    sql`ord IN (SELECT ord FROM ${tableSql(shape, entriesTable(name))} WHERE ${whereNotStale(shape, entry)})`;
  return {
    equal: (name, values) => {
      const attribute = attributeOf(shape, name);
      const compared = comparedColumn(attribute);
      const list = join(
        values.map((value) => enumMember(shape, compared, value)),
        ', ',
      );
      const cell = identifier(compared);
      // A time also equals its day.
      if (attribute.type === 'datetime')
        return sql`(${cell} IN (${list}) OR left(${cell}, ${countLiteral(PERIOD_LENGTHS.day)}) IN (${list}))`;
      return attribute.type === 'strings' ? withEntry(attribute, sql`fold IN (${list})`) : sql`${cell} IN (${list})`;
    },
    containing: (name, needle) => {
      const attribute = attributeOf(shape, name);
      return attribute.type === 'strings'
        ? withEntry(attribute, sql`contains(fold, ${needle})`)
        : sql`contains(${identifier(comparedColumn(attribute))}, ${needle})`;
    },
    compared: (name) => identifier(comparedColumn(attributeOf(shape, name))),
    text: (name) => sql`${identifier(column(name, 'value'))}::VARCHAR`,
    entry: (name, condition) => {
      const attribute = attributeOf(shape, name);
      const matches = withEntry(attribute, condition(sql`value::VARCHAR`));
      return sql`(CASE WHEN ${identifier(comparedColumn(attribute))} IS NOT NULL THEN ${matches} END)`;
    },
    bound: (name, end) => {
      const { type } = attributeOf(shape, name);
      return identifier(column(name, type === 'price' ? end : 'value'));
    },
    point: (name) => ({ lat: identifier(column(name, 'lat')), lng: identifier(column(name, 'lng')) }),
    recordNumber: (name) => identifier(name),
    // Terms are sorted, so few row groups are read.
    word: (prefix, scope) => {
      const visible = scope === 'public' ? sql` AND public` : sql``;
      return sql`ord IN (SELECT ord FROM ${tableSql(shape, 'terms')} WHERE ${prefixRange(prefix)}${visible})`;
    },
    reach: (status) => identifier(status),
    refs: (refs) => {
      const list = join(
        refs.map((ref) => sql`${ref}`),
        ', ',
      );
      return sql`ord IN (SELECT ord FROM ${tableSql(shape, 'refs')} WHERE ref IN (${list}))`;
    },
  };
}

/** Terms with a prefix. */
export function prefixRange(word: string): Sql {
  return sql`term >= ${word} AND term < ${`${word}\u{10ffff}`}`;
}
