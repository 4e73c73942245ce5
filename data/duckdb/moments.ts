// Earlier states of a release, for `as_of`: at each moment a small table of the records then, and views that combine it
// with the tables of the release.
import { join as path } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { BoundedCache } from '../model/bounded-cache.ts';
import { DataError } from '../model/errors.ts';
import { column, columnParts, keptColumn, RELEASE_FILES } from '../model/layout.ts';
import { PROVENANCE_STATUSES } from '../model/record.ts';
import type { QueryOptions } from '../plan/plan.ts';
import type { QueryQueue } from '../plan/query-queue.ts';
import { countLiteral, identifier, join, literal, type Sql, sql } from '../plan/sql.ts';
import type { ChangedTables } from './changed-tables.ts';
import { comparedColumn, entriesTable, type Shape } from './shape.ts';
import { neededColumns, type RunStatement, typeOf } from './tables.ts';
import { TERM_COLUMNS } from './terms.ts';

/** Moments that are kept of a release. */
export const KEPT_MOMENTS = 8;

/** Bytes of their tables for each record of a release. */
export const MOMENT_BYTES = KEPT_MOMENTS * 100;

/** Runs a query on the tables as of a moment (milliseconds; null: now), which exist until it ends. */
export type WithShape = <T>(
  at: number | null,
  query: (shape: Shape) => Promise<T>,
  options?: QueryOptions,
) => Promise<T>;

/** The tables of a moment, dropped when the cache and all queries have left them. */
interface Moment {
  tables: Promise<ChangedTables>;
  users: number;
}

/** How the moments of a release, or of one with an overlay, are made. */
interface MomentSource {
  now: () => Promise<Shape>;
  /** Times of all changes, in any order (milliseconds): between two of them all moments are one. */
  changes: () => Promise<number[]>;
  build: (at: number) => Promise<ChangedTables>;
  /** Admits one build at a time. */
  queue: QueryQueue;
}

/** The moments of a release that were queried last. */
export class Moments {
  readonly #source: MomentSource;
  readonly #kept = new BoundedCache<number, Moment>('moments', {
    most: KEPT_MOMENTS,
    dropped: (moment) => void leave(moment),
  });
  /** Moments that are built or wait for it: they must not evict others, since most waits end with an error. */
  readonly #pending = new Map<number, Moment>();
  #changes: Promise<number[]> | null = null;

  constructor(source: MomentSource) {
    this.#source = source;
  }

  readonly use: WithShape = async (at, query, options) => {
    if (at === null) return query(await this.#source.now());
    const moment = this.#momentOf(await this.#newestChange(at), options);
    moment.users += 1;
    try {
      return await query((await moment.tables).shape);
    } finally {
      await leave(moment);
    }
  };

  /** Drops every table that no query uses. */
  close(): void {
    this.#kept.clear();
  }

  /** Negative: before the first change. */
  async #newestChange(at: number): Promise<number> {
    this.#changes ??= this.#source.changes();
    this.#changes.catch(() => {
      this.#changes = null;
    });
    return (await this.#changes).reduce((newest, time) => (time <= at && time > newest ? time : newest), -1);
  }

  #momentOf(at: number, options: QueryOptions | undefined): Moment {
    const existing = this.#kept.get(at) ?? this.#pending.get(at);
    if (existing) return existing;
    const moment: Moment = { tables: this.#build(at, options), users: 1 };
    this.#pending.set(at, moment);
    moment.tables
      .then(
        () => this.#kept.set(at, moment),
        () => {},
      )
      .finally(() => this.#pending.delete(at));
    return moment;
  }

  /** Without the signal of the first caller, since others may wait for the same moment. */
  async #build(at: number, { visibility, holder }: QueryOptions = {}): Promise<ChangedTables> {
    const done = await this.#source.queue.enter(undefined, { preferred: visibility !== 'public', holder });
    try {
      return await this.#source.build(at);
    } finally {
      done();
    }
  }
}

async function leave(moment: Moment): Promise<void> {
  moment.users -= 1;
  if (moment.users > 0) return;
  // A release that is closed has no tables any more.
  await moment.tables.then(
    (tables) => tables.drop().catch(() => {}),
    () => {},
  );
}

const fileOf = (folder: string, file: string) => sql`read_parquet(${literal(path(folder, file))})`;

/** Times of all changes in the release in `folder`. Throws `unavailable` for one without states. */
export async function changeTimes(run: RunStatement, folder: string): Promise<number[]> {
  const moments = fileOf(folder, RELEASE_FILES.moments);
  const times = sql`SELECT DISTINCT epoch_ms(since) FROM ${moments} UNION SELECT DISTINCT epoch_ms(until) FROM ${moments} WHERE until IS NOT NULL`;
  const rows = await run(times).catch(() => {
    throw new DataError(
      'unavailable',
      'as_of: this release has no earlier states yet; the next nightly run writes them.',
    );
  });
  return rows.map(([time]) => Number(time));
}

let instances = 0;

/** Creates the tables of a release as of `at`. `base` is its own shape. */
export async function makeMomentTables(
  run: RunStatement,
  pack: Pack,
  base: Shape,
  folder: string,
  at: number,
): Promise<ChangedTables> {
  const builder = new MomentBuilder(run, pack, folder, at);
  try {
    await builder.createTables();
    await builder.createRecords();
    await builder.createEntries();
    await builder.createTerms();
  } catch (error) {
    await builder.drop();
    throw error;
  }
  const { viewByTable } = builder;
  const shape = { ...base, enums: new Map(), numbered: false, ranked: false, viewByTable, whole: viewByTable };
  return { shape, drop: () => builder.drop() };
}

class MomentBuilder {
  readonly viewByTable = new Map<string, string>();
  readonly #run: RunStatement;
  readonly #pack: Pack;
  readonly #folder: string;
  readonly #prefix = `moment ${++instances}`;
  readonly #dropped: Sql[] = [];
  /** The records, and which of their values are the current ones. */
  readonly #states = identifier(this.#prefix);
  /** Other values. Few records have any, and a row without values takes as much memory. */
  readonly #others = identifier(`${this.#prefix}: other values`);
  readonly #begun: Sql;
  readonly #held: Sql;

  constructor(run: RunStatement, pack: Pack, folder: string, at: number) {
    this.#run = run;
    this.#pack = pack;
    this.#folder = folder;
    const time = sql`make_timestamp_ms(${countLiteral(Math.max(0, at))})`;
    this.#begun = sql`since <= ${time}`;
    this.#held = sql`${this.#begun} AND until > ${time}`;
  }

  async createTables(): Promise<void> {
    const file = fileOf(this.#folder, RELEASE_FILES.moments);
    const present = new Set((await this.#run(sql`DESCRIBE SELECT * FROM ${file}`)).map(([name]) => String(name)));
    // Missing columns are of attributes that the pack gained later.
    const stored = (name: string, type: Sql) =>
      sql`${present.has(name) ? identifier(name) : sql`NULL`}::${type} AS ${identifier(name)}`;
    const kept = this.#pack.attributes.map(({ name }) => stored(keptColumn(name), sql`BOOLEAN`));
    const cells = this.#pack.attributes.flatMap((attribute) =>
      columnParts(attribute).map((part) => [column(attribute.name, part), typeOf(attribute)] as const),
    );
    const differs = ['name_words', ...cells.map(([name]) => name)].filter((name) => present.has(name));
    const rows = sql`FROM ${file} WHERE ${this.#begun} AND (until IS NULL OR ${this.#held})`;
    const others = join(
      cells.map(([name, type]) => stored(name, type)),
      ', ',
    );
    const other = join(
      differs.map((name) => sql`${identifier(name)} IS NOT NULL`),
      ' OR ',
    );
    await this.#create(this.#states, sql`SELECT ord, updated, quality, ${join(kept, ', ')} ${rows}`);
    await this.#create(this.#others, sql`SELECT ord, name_words, ${others} ${rows} AND (${other})`);
  }

  async createRecords(): Promise<void> {
    const values = this.#pack.attributes.flatMap((attribute) => {
      const kept = sql`s.${identifier(keptColumn(attribute.name))}`;
      if (attribute.type === 'strings') {
        const listed = identifier(comparedColumn(attribute));
        return [sql`CASE WHEN ${kept} THEN r.${listed} WHEN o.${listed} IS NOT NULL THEN true END AS ${listed}`];
      }
      return neededColumns(attribute).map((name) => {
        const cell = identifier(name);
        return sql`CASE WHEN ${kept} THEN r.${cell}::${typeOf(attribute)} ELSE o.${cell} END AS ${cell}`;
      });
    });
    const statuses = PROVENANCE_STATUSES.map((status) => sql`0::UTINYINT AS ${identifier(status)}`);
    const fixed = sql`s.ord, r.id, r.slug, coalesce(o.name_words, r.name_words) AS name_words, s.updated, s.quality`;
    const tables = sql`${this.#states} s JOIN records r ON r.ord = s.ord LEFT JOIN ${this.#others} o ON o.ord = s.ord`;
    await this.#view('records', sql`SELECT ${join([fixed, ...statuses, ...values], ', ')} FROM ${tables}`);
  }

  async createEntries(): Promise<void> {
    for (const attribute of this.#pack.attributes.filter(({ type }) => type === 'strings')) {
      const [fold, value] = [identifier(column(attribute.name, 'fold')), identifier(column(attribute.name, 'value'))];
      const table = entriesTable(attribute.name);
      const kept = sql`(SELECT ord FROM ${this.#states} WHERE ${identifier(keptColumn(attribute.name))})`;
      await this.#view(
        table,
        sql`SELECT fold::VARCHAR AS fold, value::VARCHAR AS value, ord FROM ${identifier(table)} WHERE ord IN ${kept} UNION ALL SELECT DISTINCT unnest(${fold}), unnest(${value}), ord FROM ${this.#others}`,
      );
    }
  }

  async createTerms(): Promise<void> {
    const columns = sql`term, ord, ${join(Object.keys(TERM_COLUMNS).map(identifier), ', ')}, term AS code`;
    const [current, past] = [RELEASE_FILES.terms, RELEASE_FILES.past_terms].map((file) => fileOf(this.#folder, file));
    const terms = await this.#view(
      'terms',
      sql`SELECT ${columns} FROM ${current!} WHERE ${this.#begun} UNION ALL SELECT ${columns} FROM ${past!} WHERE ${this.#held}`,
    );
    await this.#view(
      'term_counts',
      sql`SELECT ord, count(*)::UINTEGER AS words FROM ${terms} WHERE compared GROUP BY ord`,
    );
  }

  /** Drops everything, views before their tables. */
  async drop(): Promise<void> {
    for (const statement of this.#dropped.splice(0)) await this.#run(statement);
  }

  async #create(table: Sql, query: Sql): Promise<void> {
    this.#dropped.unshift(sql`DROP TABLE IF EXISTS ${table}`);
    await this.#run(sql`CREATE TABLE ${table} AS ${query}`);
  }

  /** Creates the view that replaces a table. */
  async #view(of: string, query: Sql): Promise<Sql> {
    const name = `${this.#prefix}: ${of}`;
    this.#dropped.unshift(sql`DROP VIEW IF EXISTS ${identifier(name)}`);
    await this.#run(sql`CREATE VIEW ${identifier(name)} AS ${query}`);
    this.viewByTable.set(of, name);
    return identifier(name);
  }
}
