// Columns of the store's tables: one list gives the tables of both databases and the row types of Kysely.
import { type ColumnDataType, type Generated, type Kysely, sql } from 'kysely';

export type Dialect = 'sqlite' | 'postgres';

/** The first migration. */
export const FIRST = '0001_first';

/** A column whose values in rows are `T`. */
class Column<T> {
  /** Only a type. */
  declare readonly value: T;
  readonly type: 'text' | 'integer' | 'serial';
  readonly rules: {
    optional?: true;
    primaryKey?: true;
    unique?: true;
    references?: string;
    /** Migration that adds the column to a table of an earlier one; it must be optional. Absent: that of the table. */
    since?: string;
  };

  constructor(type: Column<T>['type'], rules: Column<T>['rules'] = {}) {
    this.type = type;
    this.rules = rules;
  }

  #with<U>(rules: Column<T>['rules']): Column<U> {
    return new Column<U>(this.type, { ...this.rules, ...rules });
  }

  optional = (): Column<T | null> => this.#with({ optional: true });
  primaryKey = (): Column<T> => this.#with({ primaryKey: true });
  unique = (): Column<T> => this.#with({ unique: true });
  references = (column: string): Column<T> => this.#with({ references: column });
  since = (migration: string): Column<T> => this.#with({ since: migration });
}

export const text = <T extends string = string>() => new Column<T>('text');

/** An integer of 64 bits, such as micro-euros or milliseconds. */
export const integer = () => new Column<number>('integer');

/** Ascending numbers, the primary key. */
export const serial = () => new Column<Generated<number>>('serial');

interface Index<Name> {
  on: readonly Name[];
  unique?: true;
  /** Condition as SQL text. */
  where?: string;
  /** As that of a column. */
  since?: string;
}

interface TableRules<Name> {
  primaryKey?: readonly Name[];
  indexes?: Readonly<Record<string, Index<Name>>>;
  /** The error of a trigger that rejects changes of rows; absent: rows may change. */
  appendOnly?: string;
  /** Migration that creates the table; absent: the first one. */
  since?: string;
}

export interface Table<Columns extends Record<string, Column<unknown>> = Record<string, Column<unknown>>> {
  columns: Columns;
  rules: TableRules<string>;
}

/** Declares a table, such as `defineTable({ name: text().primaryKey(), value: text() })`. */
export const defineTable = <Columns extends Record<string, Column<unknown>>>(
  columns: Columns,
  rules: TableRules<keyof Columns & string> = {},
): Table<Columns> => ({ columns, rules });

/** The rows of a table. */
export type RowOf<T extends Table> = { [Name in keyof T['columns']]: T['columns'][Name]['value'] };

/** The rows of tables by name, for Kysely. */
export type RowsOf<T extends Record<string, Table>> = { [Name in keyof T]: RowOf<T[Name]> };

/** Creates the tables, columns and indexes of a migration. */
export async function create(
  db: Kysely<unknown>,
  dialect: Dialect,
  tables: Readonly<Record<string, Table>>,
  migration: string,
): Promise<void> {
  for (const [name, { columns, rules }] of Object.entries(tables)) {
    const { since = FIRST, indexes = {}, appendOnly } = rules;
    const added = Object.entries(columns).filter(([, column]) => (column.rules.since ?? since) === migration);
    if (since === migration) {
      await createTable(db, dialect, name, added, rules.primaryKey);
      if (appendOnly !== undefined) await rejectChanges(db, dialect, name, appendOnly);
    } else
      for (const [column, { type }] of added)
        await db.schema.alterTable(name).addColumn(column, dataType(type, dialect)).execute();
    for (const [index, { on, unique = false, where, since: indexSince = since }] of Object.entries(indexes)) {
      if (indexSince !== migration) continue;
      const condition = where === undefined ? sql`` : sql` where ${sql.raw(where)}`;
      const kind = sql.raw(unique ? 'unique index' : 'index');
      await sql`create ${kind} ${sql.ref(index)} on ${sql.table(name)} (${sql.join(on.map(sql.ref))})${condition}`.execute(
        db,
      );
    }
  }
}

function dataType(type: Column<unknown>['type'], dialect: Dialect): ColumnDataType {
  if (type === 'text') return 'text';
  if (dialect === 'sqlite') return 'integer';
  return type === 'integer' ? 'bigint' : 'bigserial';
}

async function createTable(
  db: Kysely<unknown>,
  dialect: Dialect,
  name: string,
  columns: readonly [string, Column<unknown>][],
  primaryKey: readonly string[] | undefined,
): Promise<void> {
  let builder = db.schema.createTable(name);
  for (const [column, { type, rules }] of columns)
    builder = builder.addColumn(column, dataType(type, dialect), (definition) => {
      let defined = rules.optional ? definition : definition.notNull();
      if (type === 'serial' || rules.primaryKey) defined = defined.primaryKey();
      if (type === 'serial' && dialect === 'sqlite') defined = defined.autoIncrement();
      if (rules.unique) defined = defined.unique();
      return rules.references === undefined ? defined : defined.references(rules.references);
    });
  if (primaryKey !== undefined) builder = builder.addPrimaryKeyConstraint(`${name}_pk`, primaryKey as never[]);
  await builder.execute();
}

/** Triggers that reject every change of a row. */
async function rejectChanges(db: Kysely<unknown>, dialect: Dialect, name: string, message: string): Promise<void> {
  if (dialect === 'sqlite') {
    for (const event of ['update', 'delete'])
      await sql
        .raw(
          `create trigger ${name}_no_${event} before ${event} on ${name} begin select raise(abort, '${message}'); end`,
        )
        .execute(db);
    return;
  }
  await sql
    .raw(`create function refuse_change_of_${name}() returns trigger language plpgsql as
      $$ begin raise exception '${message}'; end $$`)
    .execute(db);
  await sql
    .raw(
      `create trigger ${name}_no_change before update or delete on ${name} for each row execute function refuse_change_of_${name}()`,
    )
    .execute(db);
}
