// An overlay as tables: changed records in addition to the stored ones, and views that combine both without
// hidden rows.
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { engineValues, nameWords, recordTerms, statusReach } from '../consolidate/engine-values.ts';
import { column } from '../model/layout.ts';
import { PROVENANCE_STATUSES, type StoredRecord } from '../model/record.ts';
import type { AppliedOverlay, ChangedRecord } from '../plan/applied-overlay.ts';
import { identifier, join, literal, type Sql, sql, textsOf } from '../plan/sql.ts';
import { comparedColumn, entriesTable, type Shape } from './shape.ts';
import { dayNumber, OPEN_INTERVAL_END, stepsTable } from './steps.ts';
import { FIXED_COLUMNS, neededColumns, type RunStatement, typeOf } from './tables.ts';
import { TERM_COLUMNS } from './terms.ts';

/** The tables of an overlay; `drop` removes them. */
export interface ChangedTables {
  shape: Shape;
  drop(): Promise<void>;
}

type Row = Record<string, unknown>;
type Placed = { ord: number } & Pick<ChangedRecord, 'record' | 'unpublished' | 'history'>;

let instances = 0;

/** Creates the tables of an overlay. `base` is the release's own shape, whose tables stay unchanged. */
export async function makeChangedTables(
  run: RunStatement,
  pack: Pack,
  base: Shape,
  { removed, changed }: AppliedOverlay,
): Promise<ChangedTables> {
  const ids = [...removed, ...changed.map(({ record }) => record.id)];
  const found = await run(sql`SELECT ref, ord FROM refs WHERE ref IN (${textsOf(ids)})`);
  const ordinals = new Map(found.map(([ref, ord]) => [String(ref), Number(ord)]));
  const placed = changed.flatMap(({ record, unpublished, history }): Placed[] => {
    const ord = ordinals.get(record.id);
    return ord === undefined || removed.has(record.id) ? [] : [{ ord, record, unpublished, history }];
  });
  if (ordinals.size === 0) return { shape: base, drop: async () => {} };
  const making = new Making(run, pack, base);
  try {
    await making.hide(
      [...ordinals.values()],
      [...removed].flatMap((id) => ordinals.get(id) ?? []),
    );
    await making.records(placed);
    await making.terms(placed);
    for (const attribute of pack.attributes) {
      if (attribute.type === 'strings') await making.entries(attribute, placed);
      if (NUMERIC.includes(attribute.type)) await making.steps(attribute, placed);
    }
    const { stands, enums } = making;
    return { shape: { ...base, stands, enums, ranked: placed.length === 0 }, drop: () => making.drop() };
  } catch (error) {
    await making.drop();
    throw error;
  }
}

class Making {
  readonly stands = new Map<string, string>();
  /** Text columns whose ENUM has all values that the overlay adds. */
  readonly enums: Map<string, string>;
  readonly #run: RunStatement;
  readonly #pack: Pack;
  readonly #numbered: boolean;
  readonly #prefix = `overlay ${++instances}`;
  readonly #dropped: Sql[] = [];

  constructor(run: RunStatement, pack: Pack, base: Shape) {
    this.#run = run;
    this.#pack = pack;
    this.enums = new Map(base.enums);
    this.#numbered = base.numbered !== false;
  }

  #own(of: string): string {
    return `${this.#prefix}: ${of}`;
  }

  async #create(of: string, query: Sql): Promise<Sql> {
    const own = identifier(this.#own(of));
    this.#dropped.push(sql`DROP TABLE IF EXISTS ${own}`);
    await this.#run(sql`CREATE TABLE ${own} AS ${query}`);
    return own;
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
    const own = this.#own(`view of ${of}`);
    this.#dropped.unshift(sql`DROP VIEW IF EXISTS ${identifier(own)}`);
    await this.#run(sql`CREATE VIEW ${identifier(own)} AS ${query}`);
    this.stands.set(of, own);
  }

  /** Stores the ordinals of hidden rows: removed records, and changed records, which are added again. */
  async hide(hidden: readonly number[], gone: readonly number[]): Promise<void> {
    const ord = (list: readonly number[]) => list.map((each) => ({ ord: each }));
    await this.#table('hidden', { ord: sql`UINTEGER` }, ord(hidden));
    const away = await this.#table('gone', { ord: sql`UINTEGER` }, ord(gone));
    await this.#view('refs', sql`SELECT ref, ord FROM refs WHERE ord NOT IN (SELECT ord FROM ${away})`);
  }

  get #hidden(): Sql {
    return sql`ord NOT IN (SELECT ord FROM ${identifier(this.#own('hidden'))})`;
  }

  /** A column of a stored table: an ENUM only if every new value is a member. */
  async #column(own: string, side: Sql): Promise<{ stored: Sql; added: Sql }> {
    const type = this.enums.get(own);
    if (type === undefined) return { stored: identifier(own), added: identifier(own) };
    const [[strange] = []] = await this.#run(
      sql`SELECT count(*) FROM ${side} WHERE ${identifier(own)} IS NOT NULL AND TRY_CAST(${identifier(own)} AS ${identifier(type)}) IS NULL`,
    );
    if (Number(strange) === 0)
      return { stored: identifier(own), added: sql`${identifier(own)}::${identifier(type)} AS ${identifier(own)}` };
    this.enums.delete(own);
    return { stored: sql`${identifier(own)}::VARCHAR AS ${identifier(own)}`, added: identifier(own) };
  }

  async records(placed: readonly Placed[]): Promise<void> {
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
    for (const own of listed) columns[own] = sql`BOOLEAN`;
    for (const attribute of this.#pack.attributes.filter(({ type }) => type !== 'strings'))
      for (const own of neededColumns(attribute)) columns[own] = typeOf(attribute);
    const side = await this.#table(
      'records',
      columns,
      placed.map(({ ord, record }) => rowOf(this.#pack, ord, record)),
    );
    const both = { stored: [...FIXED_COLUMNS], added: [...FIXED_COLUMNS] };
    for (const own of Object.keys(columns).slice(FIXED_COLUMNS.length)) {
      const plain = { stored: identifier(own), added: identifier(own) };
      const { stored, added } = listed.includes(own) ? plain : await this.#column(own, side);
      both.stored.push(stored);
      both.added.push(added);
    }
    await this.#view(
      'records',
      sql`SELECT ${join(both.stored, ', ')} FROM records WHERE ${this.#hidden} UNION ALL SELECT ${join(both.added, ', ')} FROM ${side}`,
    );
  }

  /** New words get numbers above all others, so that they match no stored word. */
  async terms(placed: readonly Placed[]): Promise<void> {
    const rows = placed.flatMap(({ ord, record, unpublished }) =>
      [...recordTerms(this.#pack, record, unpublished)].map(([term, flags]) => ({ term, ord, ...flags })),
    );
    const columns = { term: sql`VARCHAR`, ord: sql`UINTEGER`, ...TERM_COLUMNS };
    const words = await this.#table('words', columns, rows);
    const known = sql`SELECT DISTINCT term, code FROM terms WHERE term IN (SELECT term FROM ${words})`;
    const code = sql`coalesce(code, 4294967296 - dense_rank() OVER (ORDER BY term))::UINTEGER AS code`;
    const own = sql`term, ord, ${join(Object.keys(TERM_COLUMNS).map(identifier), ', ')}`;
    const numbered = sql`SELECT ${own}, ${code} FROM ${words} LEFT JOIN (${known}) USING (term)`;
    const plain = sql`SELECT ${own}, term AS code FROM ${words}`;
    const side = await this.#create('terms', this.#numbered ? numbered : plain);
    await this.#view(
      'terms',
      sql`SELECT ${own}, code FROM terms WHERE ${this.#hidden} UNION ALL SELECT ${own}, code FROM ${side}`,
    );
    await this.#view(
      'term_counts',
      sql`SELECT ord, words FROM term_counts WHERE ${this.#hidden} UNION ALL SELECT ord, count(*)::UINTEGER FROM ${side} WHERE compared GROUP BY ord`,
    );
  }

  async entries(attribute: Attribute, placed: readonly Placed[]): Promise<void> {
    const [fold, value] = [column(attribute.name, 'fold'), column(attribute.name, 'value')];
    const rows = placed.flatMap(({ ord, record }) => {
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
    const base = sql`SELECT fold AS ${identifier(fold)}, value AS ${identifier(value)}, ord FROM ${identifier(of)} WHERE ${this.#hidden}`;
    const both = sql`SELECT ${folds.stored}, ${values.stored}, ord FROM (${base}) UNION ALL SELECT ${folds.added}, ${values.added}, ord FROM ${side}`;
    await this.#view(of, sql`SELECT ${identifier(fold)} AS fold, ${identifier(value)} AS value, ord FROM (${both})`);
  }

  async steps(attribute: Attribute, placed: readonly Placed[]): Promise<void> {
    const rows = placed.flatMap(({ ord, history }) =>
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
