// An overlay as tables: changed records in addition to the stored ones, and views that combine both without
// hidden rows.
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { engineValues, nameWords, recordTerms, statusReach } from '../consolidate/engine-values.ts';
import { column } from '../model/layout.ts';
import { PROVENANCE_STATUSES, type StoredRecord } from '../model/record.ts';
import type { AppliedOverlay, ChangedRecord } from '../plan/applied-overlay.ts';
import { countLiteral, identifier, join, literal, type Sql, sql, textsOf } from '../plan/sql.ts';
import { comparedColumn, entriesTable, type Shape, tableSql } from './shape.ts';
import { dayNumber, OPEN_INTERVAL_END, stepsTable } from './steps.ts';
import { FIXED_COLUMNS, neededColumns, type RunStatement, typeOf } from './tables.ts';
import { TERM_COLUMNS } from './terms.ts';

/** The tables of an overlay; `drop` removes them. */
export interface ChangedTables {
  shape: Shape;
  drop(): Promise<void>;
}

type Row = Record<string, unknown>;
type NumberedRecord = { ord: number } & Pick<ChangedRecord, 'record' | 'unpublished' | 'history'>;

let instances = 0;

/** Creates the tables of an overlay. `base` is the release's own shape, whose tables stay unchanged. */
export async function makeChangedTables(
  run: RunStatement,
  pack: Pack,
  base: Shape,
  { removed, changed }: AppliedOverlay,
): Promise<ChangedTables> {
  const ids = [...removed, ...changed.map(({ record }) => record.id)];
  const rows = await run(sql`SELECT ref, ord FROM refs WHERE ref IN (${textsOf(ids)})`);
  const ordinals = new Map(rows.map(([ref, ord]) => [String(ref), Number(ord)]));
  const records = changed.flatMap(({ record, unpublished, history }): NumberedRecord[] => {
    const ord = ordinals.get(record.id);
    return ord === undefined || removed.has(record.id) ? [] : [{ ord, record, unpublished, history }];
  });
  if (ordinals.size === 0) return { shape: base, drop: async () => {} };
  const builder = new ChangedTablesBuilder(run, pack, base);
  try {
    await builder.hide(
      [...ordinals.values()],
      [...removed].flatMap((id) => ordinals.get(id) ?? []),
    );
    await builder.createRecords(records);
    await builder.createTerms(records);
    for (const attribute of pack.attributes) {
      if (attribute.type === 'strings') await builder.createEntries(attribute, records);
      if (NUMERIC.includes(attribute.type)) await builder.createSteps(attribute, records);
    }
    const { enums } = builder;
    const viewByTable = new Map([...(base.viewByTable ?? []), ...builder.viewByTable]);
    return {
      shape: { ...base, viewByTable, enums, hasStale: true, ranked: base.ranked !== false && records.length === 0 },
      drop: () => builder.drop(),
    };
  } catch (error) {
    await builder.drop();
    throw error;
  }
}

class ChangedTablesBuilder {
  readonly viewByTable = new Map<string, string>();
  /** Text columns whose ENUM has all values that the overlay adds. */
  readonly enums: Map<string, string>;
  readonly #run: RunStatement;
  readonly #pack: Pack;
  readonly #base: Shape;
  readonly #prefix = `overlay ${++instances}`;
  readonly #dropped: Sql[] = [];
  #hiddenOrdinals: readonly number[] = [];

  constructor(run: RunStatement, pack: Pack, base: Shape) {
    this.#run = run;
    this.#pack = pack;
    this.enums = new Map(base.enums);
    this.#base = base;
  }

  /** A table that the overlay changes. */
  #stored(of: string): Sql {
    return tableSql(this.#base, of);
  }

  #nameOf(of: string): string {
    return `${this.#prefix}: ${of}`;
  }

  async #create(of: string, query: Sql): Promise<Sql> {
    const table = identifier(this.#nameOf(of));
    this.#dropped.push(sql`DROP TABLE IF EXISTS ${table}`);
    await this.#run(sql`CREATE TABLE ${table} AS ${query}`);
    return table;
  }

  /** A table of rows with a type for every column. */
  #table(of: string, columns: Record<string, Sql>, rows: readonly Row[]): Promise<Sql> {
    const shape = literal(
      JSON.stringify([Object.fromEntries(Object.entries(columns).map(([key, type]) => [key, type.text]))]),
    );
    return this.#create(
      of,
      sql`SELECT row.* FROM (SELECT unnest(from_json(${JSON.stringify(rows)}, ${shape})) AS row)`,
    );
  }

  /** Creates a view and uses it instead of the table. */
  async #view(of: string, query: Sql): Promise<void> {
    const view = this.#nameOf(`view of ${of}`);
    this.#dropped.unshift(sql`DROP VIEW IF EXISTS ${identifier(view)}`);
    await this.#run(sql`CREATE VIEW ${identifier(view)} AS ${query}`);
    this.viewByTable.set(of, view);
  }

  /** Stores the ordinals of hidden rows: removed records, and changed records, which are added again. */
  async hide(hidden: readonly number[], removed: readonly number[]): Promise<void> {
    const ord = (list: readonly number[]) => list.map((ordinal) => ({ ord: ordinal }));
    await this.#table('hidden', { ord: sql`UINTEGER` }, ord(hidden));
    this.#hiddenOrdinals = hidden;
    const removedTable = await this.#table('gone', { ord: sql`UINTEGER` }, ord(removed));
    await this.#view('refs', sql`SELECT ref, ord FROM refs WHERE ord NOT IN (SELECT ord FROM ${removedTable})`);
  }

  /** Whether a stored row is of a removed or replaced record. A list, since a filter by a table would make it constant. */
  get #stale(): Sql {
    return this.#hiddenOrdinals.length === 0
      ? sql`false`
      : sql`ord IN (${join(this.#hiddenOrdinals.map(countLiteral), ', ')})`;
  }

  get #hidden(): Sql {
    return sql`ord NOT IN (SELECT ord FROM ${identifier(this.#nameOf('hidden'))})`;
  }

  /** A column of a stored table: an ENUM only if every new value is a member. */
  async #column(name: string, side: Sql): Promise<{ stored: Sql; added: Sql }> {
    const type = this.enums.get(name);
    if (type === undefined) return { stored: identifier(name), added: identifier(name) };
    const [[unknownValues] = []] = await this.#run(
      sql`SELECT count(*) FROM ${side} WHERE ${identifier(name)} IS NOT NULL AND TRY_CAST(${identifier(name)} AS ${identifier(type)}) IS NULL`,
    );
    if (Number(unknownValues) === 0)
      return { stored: identifier(name), added: sql`${identifier(name)}::${identifier(type)} AS ${identifier(name)}` };
    this.enums.delete(name);
    return { stored: sql`${identifier(name)}::VARCHAR AS ${identifier(name)}`, added: identifier(name) };
  }

  async createRecords(records: readonly NumberedRecord[]): Promise<void> {
    const columns: Record<string, Sql> = {
      ord: sql`UINTEGER`,
      id: sql`VARCHAR`,
      slug: sql`VARCHAR`,
      name_words: sql`VARCHAR`,
      updated: sql`BIGINT`,
      quality: sql`DOUBLE`,
      ...Object.fromEntries(PROVENANCE_STATUSES.map((status) => [status, sql`UTINYINT`])),
    };
    const listed = this.#pack.attributes.filter(({ type }) => type === 'strings').map(comparedColumn);
    for (const name of listed) columns[name] = sql`BOOLEAN`;
    for (const attribute of this.#pack.attributes.filter(({ type }) => type !== 'strings'))
      for (const neededColumn of neededColumns(attribute)) columns[neededColumn] = typeOf(attribute);
    const side = await this.#table(
      'records',
      columns,
      records.map(({ ord, record }) => rowOf(this.#pack, ord, record)),
    );
    const lists = {
      stored: [...FIXED_COLUMNS, sql`${this.#stale} AS stale`],
      added: [...FIXED_COLUMNS, sql`false AS stale`],
    };
    for (const name of Object.keys(columns).slice(FIXED_COLUMNS.length)) {
      const plain = { stored: identifier(name), added: identifier(name) };
      const { stored, added } = listed.includes(name) ? plain : await this.#column(name, side);
      lists.stored.push(stored);
      lists.added.push(added);
    }
    await this.#view(
      'records',
      sql`SELECT ${join(lists.stored, ', ')} FROM ${this.#stored('records')} WHERE ${this.#hidden} UNION ALL SELECT ${join(lists.added, ', ')} FROM ${side}`,
    );
  }

  /** New words get numbers above all others, so that they match no stored word. */
  async createTerms(records: readonly NumberedRecord[]): Promise<void> {
    const rows = records.flatMap(({ ord, record, unpublished }) =>
      [...recordTerms(this.#pack, record, unpublished)].map(([term, flags]) => ({ term, ord, ...flags })),
    );
    const columns = { term: sql`VARCHAR`, ord: sql`UINTEGER`, ...TERM_COLUMNS };
    const words = await this.#table('words', columns, rows);
    const codes = sql`SELECT DISTINCT term, code FROM terms WHERE term IN (SELECT term FROM ${words})`;
    const code = sql`coalesce(code, 4294967296 - dense_rank() OVER (ORDER BY term))::UINTEGER AS code`;
    const fields = sql`term, ord, ${join(Object.keys(TERM_COLUMNS).map(identifier), ', ')}`;
    const numbered = sql`SELECT ${fields}, ${code} FROM ${words} LEFT JOIN (${codes}) USING (term)`;
    const plain = sql`SELECT ${fields}, term AS code FROM ${words}`;
    const side = await this.#create('terms', this.#base.numbered === false ? plain : numbered);
    await this.#view(
      'terms',
      sql`SELECT ${fields}, code FROM ${this.#stored('terms')} WHERE ${this.#hidden} UNION ALL SELECT ${fields}, code FROM ${side}`,
    );
    await this.#view(
      'term_counts',
      sql`SELECT ord, words FROM ${this.#stored('term_counts')} WHERE ${this.#hidden} UNION ALL SELECT ord, count(*)::UINTEGER FROM ${side} WHERE compared GROUP BY ord`,
    );
  }

  async createEntries(attribute: Attribute, records: readonly NumberedRecord[]): Promise<void> {
    const [fold, value] = [column(attribute.name, 'fold'), column(attribute.name, 'value')];
    const rows = records.flatMap(({ ord, record }) => {
      const list = (record.attributes[attribute.name] ?? []) as string[];
      const folded = engineValues(attribute, list).fold as string[];
      const entries = new Map(
        list.map((entry, i) => [`${folded[i]}\n${entry}`, { [fold]: folded[i], [value]: entry, ord }]),
      );
      return [...entries.values()];
    });
    const of = entriesTable(attribute.name);
    const side = await this.#table(of, { [fold]: sql`VARCHAR`, [value]: sql`VARCHAR`, ord: sql`UINTEGER` }, rows);
    const folds = await this.#column(fold, side);
    const values = await this.#column(value, side);
    const base = sql`SELECT fold AS ${identifier(fold)}, value AS ${identifier(value)}, ord, ${this.#stale} AS stale FROM ${this.#stored(of)} WHERE ${this.#hidden}`;
    const union = sql`SELECT ${folds.stored}, ${values.stored}, ord, stale FROM (${base}) UNION ALL SELECT ${folds.added}, ${values.added}, ord, false FROM ${side}`;
    await this.#view(
      of,
      sql`SELECT ${identifier(fold)} AS fold, ${identifier(value)} AS value, ord, stale FROM (${union})`,
    );
  }

  async createSteps(attribute: Attribute, records: readonly NumberedRecord[]): Promise<void> {
    const rows = records.flatMap(({ ord, history }) =>
      history
        .filter((row) => row.attribute === attribute.name)
        .flatMap(({ cells: [, , min, , from, to] }) => {
          const [since, until] = [dayNumber(from), to === null ? OPEN_INTERVAL_END : dayNumber(to)];
          return min !== null && since < until ? [{ ord, value: min, since, until }] : [];
        }),
    );
    const of = stepsTable(attribute.name);
    const columns = { ord: sql`UINTEGER`, value: sql`DOUBLE`, since: sql`INTEGER`, until: sql`INTEGER` };
    const side = await this.#table(of, columns, rows);
    await this.#view(
      of,
      sql`SELECT ord, value, since, until FROM ${identifier(of)} WHERE ${this.#hidden} UNION ALL SELECT ord, value, since, until FROM ${side}`,
    );
  }

  /** Drops everything, views before their tables. */
  async drop(): Promise<void> {
    for (const statement of this.#dropped.splice(0)) await this.#run(statement);
  }
}

function rowOf(pack: Pack, ord: number, record: StoredRecord): Row {
  const { id, slug } = record;
  const name_words = nameWords(record.name);
  const row: Row = { ord, id, slug, name_words, updated: Date.parse(record.updated_at), quality: record.quality_score };
  for (const status of PROVENANCE_STATUSES)
    row[status] = statusReach(pack, status, (attribute) => record.provenance[attribute]?.status);
  for (const attribute of pack.attributes) {
    const value: Value | undefined = record.attributes[attribute.name];
    if (value === undefined) continue;
    if (attribute.type === 'strings') row[comparedColumn(attribute)] = true;
    else
      for (const [part, cell] of Object.entries(engineValues(attribute, value)))
        row[column(attribute.name, part as 'value')] = cell;
  }
  return row;
}
