// The tables of SQL in a few lines: columns with types, units and real values, and how tables are joined.

import type { StoredRecord } from '../../data/model/record.ts';
import type { Release } from '../../data/releases/release.ts';
import { TABLES, tableColumns } from '../../data/sql/tables.ts';
import { flatCells } from '../../data/write/csv.ts';
import type { Column } from '../../data/write/dictionary.ts';
import { tableName, writtenName } from '../../data/write/sql-names.ts';
import { derive } from '../../packs/define/derive.ts';
import type { Pack } from '../../packs/define/model.ts';
import { blocks, escapeText } from './markdown.ts';

/** Records whose values are examples, and most characters of one. */
const [EXAMPLES, LONGEST] = [3, 24];

/** A column: name, type, unit and examples; the second one of an attribute, and those of every table, by name alone. */
function columnText({ name, type, unit, attribute }: Column, values: readonly string[] = []): string {
  const alone = !attribute || /\.(max|lng)$/.test(name);
  const parts = alone ? [] : [type, unit, values.join(', ')];
  return [`\`${writtenName(name)}\``, ...parts].filter(Boolean).join(' ');
}

/** Up to three different values of a column, texts as SQL writes them. */
function examples({ attribute, name }: Column, pack: Pack, records: readonly StoredRecord[]): string[] {
  const definition = pack.attributes.find((candidate) => candidate.name === attribute);
  if (definition === undefined) return [];
  const place = name.endsWith('.max') || name.endsWith('.lng') ? 1 : 0;
  const values = records.map((record) => flatCells(definition, record.attributes[definition.name])[place] ?? null);
  const texts = values.flatMap((value) => {
    if (value === null) return [];
    if (typeof value !== 'string') return [String(value)];
    return value.length > LONGEST ? [] : [`'${escapeText(value)}'`];
  });
  return [...new Set(texts)];
}

/** The columns of a table by name alone, for errors. */
export const columnNames = (pack: Pack, tier: 'public' | 'all'): string =>
  Object.entries(tableColumns(pack, tier))
    .map(([kind, columns]) => {
      const table = writtenName(tableName(pack.id) + TABLES[kind as keyof typeof TABLES]);
      return `${table}: ${columns.map(({ name }) => writtenName(name)).join(', ')}`;
    })
    .join('. ');

/** The tables of a dataset for its guide, with values of its best records. */
export function sqlTableLines(release: Release): Promise<string> {
  return derive(release, 'sql guide', async () => {
    const { pack, engine } = release;
    const sort = { key: 'quality', descending: true };
    const { ordinals } = await engine.search({ where: [], sort, after: null, limit: EXAMPLES, total: false });
    const records = (await engine.bodies(ordinals)).map(({ body }) => JSON.parse(body) as StoredRecord);
    const columns = tableColumns(pack, 'public');
    const table = tableName(pack.id);
    const paid = tableColumns(pack, 'all').records.filter((column) => !column.public);
    const point = pack.attributes.find(({ type, public: open }) => open && type === 'geo');
    const place = point && ['lat', 'lng'].map((end) => writtenName(`${point.name}.${end}`)).join(', ');
    const list = (kind: keyof typeof TABLES) => columns[kind].map((column) => columnText(column)).join('; ');
    return blocks(
      [
        `- \`${writtenName(table)}\`, a row for each record: ${columns.records.map((column) => columnText(column, examples(column, pack, records))).join('; ')}`,
        `- \`${table}_history\`, a row for each value that was ever published: ${list('history')}`,
        `- \`${table}_provenance\`, a row for each value with its source: ${list('provenance')}`,
        `- \`${table}_as_of('2026-07-01')\`: the table as of a time`,
        ...(place ? [`- Joins by distance in km: \`distance_km(${place}, <lat>, <lng>)\``] : []),
        ...(paid.length > 0 ? ['- With a plan that includes exports, the paid fields are columns too.'] : []),
      ].join('\n'),
    ).trimEnd();
  });
}

/** How the tables of several datasets are joined: by distance, and on columns that they share. */
export function sqlJoins(packs: readonly Pack[]): string {
  const open = packs.map((pack) => ({ pack, attributes: pack.attributes.filter((attribute) => attribute.public) }));
  const places = open.flatMap(({ pack, attributes }) => {
    const point = attributes.find(({ type }) => type === 'geo');
    return point ? [`\`${tableName(pack.id)}\` (\`${writtenName(`${point.name}.lat`)}\`)`] : [];
  });
  const named = open.flatMap(({ pack, attributes }) =>
    attributes
      .filter(({ type, key }) => type === 'enum' || key)
      .map(({ name }) => ({ name, table: tableName(pack.id) })),
  );
  const shared = [...Map.groupBy(named, ({ name }) => name)]
    .filter(([, tables]) => tables.length > 1)
    .map(([name, tables]) => `on \`${writtenName(name)}\`: ${tables.map(({ table }) => `\`${table}\``).join(', ')}`);
  return [
    ...(places.length > 1 ? [`by \`distance_km(lat1, lng1, lat2, lng2)\`: ${places.join(', ')}`] : []),
    ...shared,
  ].join('; ');
}
