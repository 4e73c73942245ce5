// Earlier states of a release, for `as_of`: at each moment a small table of the records then, and views that combine it
// with the tables of the release.
import { join as path } from 'node:path';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { BoundedCache } from '../model/bounded-cache.ts';
import { DataError } from '../model/errors.ts';
import { column, columnParts, keptColumn, RELEASE_FILES } from '../model/layout.ts';
import { PROVENANCE_STATUSES } from '../model/record.ts';
import { runOnce } from '../model/run-once.ts';
import type { QueryOptions } from '../plan/plan.ts';
import type { QueryQueue } from '../plan/query-queue.ts';
import { countLiteral, identifier, join, literal, type Sql, sql } from '../plan/sql.ts';
import type { ChangedTables } from './changed-tables.ts';
import { comparedColumn, entriesTable, type Shape, tableSql } from './shape.ts';
import {
  loadTerms,
  neededColumns,
  type RunStatement,
  type Target,
  TERM_FIELDS,
  tablesOf,
  typeOf,
  VIEW,
} from './tables.ts';

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
  readonly #changes: () => Promise<number[]>;

  constructor(source: MomentSource) {
    this.#source = source;
    this.#changes = runOnce(source.changes);
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
    return (await this.#changes()).reduce((newest, time) => (time <= at && time > newest ? time : newest), -1);
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
  const schema = `moment ${++instances}`;
  const drop = async () => void (await run(sql`DROP SCHEMA IF EXISTS ${identifier(schema)} CASCADE`));
  const time = sql`make_timestamp_ms(${countLiteral(Math.max(0, at))})`;
  const begun = sql`since <= ${time}`;
  const held = sql`${begun} AND until > ${time}`;
  try {
    await run(sql`CREATE SCHEMA ${identifier(schema)}`);
    const states = await createStates({ run, pack, schema }, folder, sql`${begun} AND (until IS NULL OR ${held})`);
    const views = new Map([['records', recordsAt(pack, states)]]);
    for (const attribute of pack.attributes.filter(({ type }) => type === 'strings'))
      views.set(entriesTable(attribute.name), entriesAt(attribute, states));
    const [current, past] = [RELEASE_FILES.terms, RELEASE_FILES.past_terms].map((file) => fileOf(folder, file));
    const terms = sql`(SELECT ${TERM_FIELDS} FROM ${current!} WHERE ${begun} UNION ALL SELECT ${TERM_FIELDS} FROM ${past!} WHERE ${held})`;
    await loadTerms({ run, pack, schema }, terms, VIEW);
    // Those of terms exist; the others have no earlier state.
    for (const table of tablesOf(pack)) {
      const rows = views.get(table) ?? sql`FROM ${tableSql({ schema: 'main' }, table)}`;
      await run(sql`CREATE VIEW IF NOT EXISTS ${tableSql({ schema }, table)} AS ${rows}`);
    }
  } catch (error) {
    await drop();
    throw error;
  }
  return { shape: { ...base, enums: new Map(), ranked: false, schema, whole: schema }, drop };
}

/** Tables of a moment: the records, and which of their values are the current ones; and the other values. */
interface States {
  kept: Sql;
  /** Few records have any, and a row without values takes as much memory. */
  others: Sql;
}

/** Creates the tables from the states of a release that meet a condition. */
async function createStates({ run, pack, schema }: Target, folder: string, condition: Sql): Promise<States> {
  const file = fileOf(folder, RELEASE_FILES.moments);
  const present = new Set((await run(sql`DESCRIBE SELECT * FROM ${file}`)).map(([name]) => String(name)));
  // Missing columns are of attributes that the pack gained later.
  const stored = (name: string, type: Sql) =>
    sql`${present.has(name) ? identifier(name) : sql`NULL`}::${type} AS ${identifier(name)}`;
  const kept = pack.attributes.map(({ name }) => stored(keptColumn(name), sql`BOOLEAN`));
  const cells = pack.attributes.flatMap((attribute) =>
    columnParts(attribute).map((part) => [column(attribute.name, part), typeOf(attribute)] as const),
  );
  const others = cells.map(([name, type]) => stored(name, type));
  const other = ['name_words', ...cells.map(([name]) => name)]
    .filter((name) => present.has(name))
    .map((name) => sql`${identifier(name)} IS NOT NULL`);
  const states = { kept: tableSql({ schema }, 'states'), others: tableSql({ schema }, 'other_values') };
  const rows = sql`FROM ${file} WHERE ${condition}`;
  await run(sql`CREATE TABLE ${states.kept} AS SELECT ord, updated, quality, ${join(kept, ', ')} ${rows}`);
  await run(
    sql`CREATE TABLE ${states.others} AS SELECT ord, name_words, ${join(others, ', ')} ${rows} AND (${join(other, ' OR ')})`,
  );
  return states;
}

function recordsAt(pack: Pack, { kept, others }: States): Sql {
  const values = pack.attributes.flatMap((attribute) => {
    const isKept = sql`s.${identifier(keptColumn(attribute.name))}`;
    if (attribute.type === 'strings') {
      const listed = identifier(comparedColumn(attribute));
      return [sql`CASE WHEN ${isKept} THEN r.${listed} WHEN o.${listed} IS NOT NULL THEN true END AS ${listed}`];
    }
    return neededColumns(attribute).map((name) => {
      const cell = identifier(name);
      return sql`CASE WHEN ${isKept} THEN r.${cell}::${typeOf(attribute)} ELSE o.${cell} END AS ${cell}`;
    });
  });
  const statuses = PROVENANCE_STATUSES.map((status) => sql`0::UTINYINT AS ${identifier(status)}`);
  const fixed = sql`s.ord, r.id, r.slug, coalesce(o.name_words, r.name_words) AS name_words, s.updated, s.quality`;
  const tables = sql`${kept} s JOIN main.records r ON r.ord = s.ord LEFT JOIN ${others} o ON o.ord = s.ord`;
  return sql`SELECT ${join([fixed, ...statuses, ...values], ', ')} FROM ${tables}`;
}

function entriesAt({ name }: Attribute, { kept, others }: States): Sql {
  const [fold, value] = [identifier(column(name, 'fold')), identifier(column(name, 'value'))];
  const ordinals = sql`(SELECT ord FROM ${kept} WHERE ${identifier(keptColumn(name))})`;
  return sql`SELECT fold::VARCHAR AS fold, value::VARCHAR AS value, ord FROM ${tableSql({ schema: 'main' }, entriesTable(name))} WHERE ord IN ${ordinals} UNION ALL SELECT DISTINCT unnest(${fold}), unnest(${value}), ord FROM ${others}`;
}
