// Statements that must not run, or must show nothing: each kind with the texts that it combines.

/** Ways to name what is not a listed table, as `FROM …`. */
const REFERENCES = [
  ...["'/etc/passwd'", '"/etc/passwd"', '"records.parquet"', "'http://example.org/a.csv'", "'s3://bucket/a.parquet'"],
  ...["read_csv('/etc/passwd')", "read_text('/etc/passwd')", "read_blob('/proc/self/environ')", "read_json('a.json')"],
  ...["read_parquet('*.parquet')", "parquet_scan('a.parquet')", "parquet_metadata('a.parquet')", "glob('/*')"],
  ...[
    "read_csv_auto('a')",
    "read_ndjson('a')",
    "read_duckdb('a.duckdb')",
    "sniff_csv('/etc/passwd')",
    "read_text('/etc/' || 'passwd')",
  ],
  ...[
    'duckdb_settings()',
    'duckdb_databases()',
    'duckdb_tables()',
    'duckdb_columns()',
    'duckdb_functions()',
    'duckdb_views()',
  ],
  ...[
    'duckdb_secrets()',
    'duckdb_extensions()',
    'duckdb_memory()',
    'duckdb_temporary_files()',
    'duckdb_variables()',
    'duckdb_logs()',
  ],
  ...[
    'duckdb_tables',
    'duckdb_databases',
    'sqlite_master',
    'pragma_database_list',
    'information_schema.tables',
    'pg_catalog.pg_class',
  ],
  ...[
    'pg_tables',
    'pg_settings',
    "pragma_table_info('harbours')",
    "pragma_storage_info('harbours')",
    'pragma_version()',
  ],
  ...[
    "query('SELECT 1')",
    "query_table('harbours')",
    "query_table(['duckdb_tables'])",
    "query('FROM ' || 'duckdb_settings()')",
  ],
  ...[
    "histogram('harbours', 'depth')",
    "histogram_values('duckdb_tables', 'x')",
    'test_all_types()',
    "which_secret('a', 's3')",
  ],
  ...[
    "json_execute_serialized_sql('{}')",
    "sql_auto_complete('SEL')",
    'icu_calendar_names()',
    'summary((FROM harbours))',
  ],
  ...[
    'file_harbours.records',
    'file_harbours.main.records',
    'internal.harbours_hidden',
    'memory.harbours',
    'main.harbours',
    'memory.main.harbours',
  ],
  ...[
    'system.main.duckdb_tables',
    'temp.sqlite_master',
    '"main"."harbours"',
    'records',
    'history',
    'harbours_hidden',
    'file_harbours',
  ],
  ...[
    '(DESCRIBE harbours)',
    '(SHOW TABLES)',
    '(SUMMARIZE harbours)',
    '(SHOW ALL TABLES)',
    '(DESCRIBE)',
    'seq_scan(1)',
    'repeat(1, 9)',
  ],
  ...[
    'enable_logging()',
    'checkpoint()',
    'force_checkpoint()',
    'truncate_duckdb_logs()',
    'arrow_scan(1, 2, 3)',
    'harbours AT (VERSION => 1)',
  ],
] as const;

/** Expressions that show the process, settings or files, or take names as text. */
const EXPRESSIONS = [
  ...["getenv('HOME')", "current_setting('temp_directory')", "getvariable('x')", 'version()', 'current_database()'],
  ...[
    'current_schema()',
    'current_schemas(true)',
    'current_query()',
    'txid_current()',
    'current_connection_id()',
    'pg_postmaster_start_time()',
  ],
  ...[
    "nextval('a')",
    "currval('a')",
    'pg_sleep(9)',
    'sleep_ms(9000)',
    "write_log('x')",
    "error('x')",
    'error(name)',
    'stats(name)',
  ],
  ...[
    "json_serialize_sql('SELECT 1')",
    "json_deserialize_sql('{}')",
    "json_serialize_plan('SELECT 1')",
    "in_search_path('a', 'b')",
  ],
  ...[
    "list_aggregate([1], 'sum')",
    "array_aggr([1], 'sum')",
    "list_aggr([1], 'histogram')",
    "has_table_privilege('a', 'b')",
  ],
  ...[
    'pg_get_viewdef(1)',
    "obj_description(1, 'a')",
    "parse_path('/a/b')",
    "parse_dirpath('/a/b')",
    "create_sort_key(1, 'ASC')",
  ],
  ...[
    "main.getenv('HOME')",
    "system.main.current_setting('threads')",
    'memory.main.distance_km(1, 2, 3, 4)',
    'setseed(1)',
  ],
  ...[
    "icu_sort_key('a', 'de')",
    'alias(name)',
    'vector_type(name)',
    "which_secret('a')",
    'inet_server_addr()',
    'get_block_size()',
  ],
] as const;

/** Statements that are no SELECT, or several. */
const STATEMENTS = [
  ...[
    "ATTACH 'x.duckdb'",
    "ATTACH '/etc/passwd' AS p",
    'DETACH file_harbours',
    "COPY harbours TO 'x.csv'",
    "COPY (SELECT 1) TO '/tmp/x'",
  ],
  ...[
    "EXPORT DATABASE 'x'",
    "IMPORT DATABASE 'x'",
    'INSTALL httpfs',
    'LOAD httpfs',
    "LOAD '/tmp/x.so'",
    'FORCE INSTALL json',
  ],
  ...[
    'SET threads = 8',
    'SET enable_external_access = true',
    'SET lock_configuration = false',
    'RESET memory_limit',
    'SET VARIABLE x = 1',
  ],
  ...[
    'PRAGMA database_list',
    'PRAGMA version',
    "PRAGMA table_info('harbours')",
    'PRAGMA enable_profiling',
    'CALL duckdb_settings()',
  ],
  ...[
    'CREATE TABLE x AS SELECT 1',
    'CREATE TEMP TABLE x (a int)',
    'CREATE VIEW x AS SELECT 1',
    'CREATE MACRO m(a) AS a',
    'CREATE SECRET (TYPE s3)',
  ],
  ...[
    'CREATE SCHEMA x',
    'CREATE SEQUENCE s',
    "CREATE TYPE t AS ENUM ('a')",
    'DROP VIEW harbours',
    'DROP MACRO distance_km',
    'ALTER VIEW harbours RENAME TO x',
  ],
  ...[
    'INSERT INTO harbours VALUES (1)',
    'UPDATE harbours SET depth = 1',
    'DELETE FROM harbours',
    'TRUNCATE harbours',
    'MERGE INTO harbours USING tools ON true WHEN MATCHED THEN DELETE',
  ],
  ...[
    'BEGIN',
    'COMMIT',
    'CHECKPOINT',
    'VACUUM',
    'ANALYZE',
    'EXPLAIN SELECT 1',
    'EXPLAIN ANALYZE SELECT 1',
    'USE memory',
    'SHOW TABLES',
    'DESCRIBE harbours',
  ],
  ...[
    'PREPARE p AS SELECT 1',
    'EXECUTE p',
    'DEALLOCATE p',
    'SUMMARIZE harbours',
    'SHOW ALL TABLES',
    "COMMENT ON VIEW harbours IS 'x'",
  ],
  ...[
    'SELECT 1; SELECT 2',
    'SELECT 1; DROP VIEW harbours',
    "SELECT 1;\nATTACH 'x'",
    '',
    ';',
    '-- nothing',
    '/* SELECT 1 */',
    'SELECT',
    'PIVOT harbours ON coast',
  ],
] as const;

/** Statements whose errors of DuckDB contain values of the data. */
const SHOWING = [
  ...[
    'SELECT name::INT FROM harbours',
    'SELECT CAST(site AS DATE) FROM harbours',
    'SELECT name::JSON FROM harbours',
    "SELECT (name || 'x')::DOUBLE FROM harbours",
  ],
  ...[
    "SELECT strptime(name, '%Y') FROM harbours",
    'SELECT name::UUID FROM harbours',
    'SELECT name::BLOB::INT FROM harbours',
    'SELECT [name]::INT[] FROM harbours',
  ],
  ...[
    'SELECT name::BOOLEAN FROM harbours',
    'SELECT name::TIMESTAMP FROM harbours',
    'SELECT name::INTERVAL FROM harbours',
    "SELECT json_extract(name, '$.a') FROM harbours",
  ],
  ...[
    'SELECT (code * 9223372036854775807) FROM harbours',
    'SELECT depth::TINYINT * 100::TINYINT FROM harbours',
    'SELECT chr((code * 99999999)::INT) FROM harbours',
  ],
  ...[
    "SELECT regexp_matches(name, '(') FROM harbours",
    'SELECT name::STRUCT(a INT) FROM harbours',
    'SELECT from_base64(name) FROM harbours',
    'SELECT unhex(name) FROM harbours',
  ],
  ...[
    "SELECT format('{:d}', name) FROM harbours",
    "SELECT printf('%d', name) FROM harbours",
    'SELECT make_date(code * 99999, 1, 1) FROM harbours',
    'SELECT date_trunc(name, now()) FROM harbours',
  ],
] as const;

/** Statements that need more memory or time than there is. */
const HEAVY = [
  ...[
    "SELECT length(repeat('x', 2000000000))",
    "SELECT length(lpad('x', 2000000000, 'y'))",
    "SELECT length(printf('%2000000000d', 1))",
  ],
  ...[
    'SELECT len(range(2000000000))',
    "SELECT string_agg(repeat('x', 100000), '') FROM range(100000)",
    "SELECT list(repeat('y', 10000)) FROM range(1000000)",
  ],
  ...[
    "SELECT repeat('x', 9000000)",
    "WITH RECURSIVE r AS (SELECT 'x' AS s UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r",
  ],
  ...[
    "SELECT replace(repeat('x', 100000), 'x', repeat('y', 100000))",
    'SELECT * FROM range(1000000) ORDER BY repeat(range::VARCHAR, 1000)',
  ],
  ...[
    'SELECT count(*) FROM range(100000000000)',
    'SELECT max(a.range * b.range) FROM range(1000000) a, range(1000000) b',
  ],
  ...[
    'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r',
    'SELECT count(*) FROM harbours a, harbours b, harbours c, harbours d, harbours e, harbours f, harbours g, harbours h, harbours i',
  ],
] as const;

/** Nesting that is too deep for a parser or a walk. */
const DEEP = [
  ...[
    `SELECT ${'('.repeat(4_500)}1${')'.repeat(4_500)}`,
    `SELECT 1${'+1'.repeat(4_900)}`,
    `SELECT ${'NOT '.repeat(2_400)}true`,
    `SELECT ${'['.repeat(4_500)}1${']'.repeat(4_500)}`,
  ],
  ...[
    `SELECT * FROM ${'(SELECT * FROM '.repeat(400)}harbours${')'.repeat(400)}`,
    `SELECT ${'CASE WHEN true THEN '.repeat(300)}1${' END'.repeat(300)}`,
    `SELECT '${'\\u0000'.repeat(1_500)}'`,
  ],
] as const;

/** A reference or expression at different places of a statement. */
const AROUND_REFERENCE = [
  (reference: string) => `SELECT * FROM ${reference}`,
  (reference: string) => `FROM ${reference}`,
  (reference: string) => `SELECT (SELECT count(*) FROM ${reference})`,
  (reference: string) => `WITH a AS (SELECT * FROM ${reference}) SELECT * FROM a`,
  (reference: string) => `SELECT 1 FROM harbours WHERE EXISTS (FROM ${reference})`,
  (reference: string) => `SELECT * FROM harbours, LATERAL (SELECT * FROM ${reference})`,
  (reference: string) => `/* a */ SELECT/**/*FROM--\n${reference}`,
  (reference: string) => `SELECT * REPLACE ((SELECT count(*) FROM ${reference}) AS depth) FROM harbours`,
  (reference: string) => `SELECT array(SELECT 1 FROM ${reference})`,
  (reference: string) => `WITH RECURSIVE a AS (SELECT 1 UNION ALL SELECT 1 FROM a, ${reference}) SELECT * FROM a`,
  (reference: string) => `SELECT 1 UNION ALL SELECT 2 FROM ${reference}`,
];
const AROUND_EXPRESSION = [
  (expression: string) => `SELECT ${expression} FROM harbours`,
  (expression: string) => `SELECT 1 FROM harbours ORDER BY ${expression}`,
  (expression: string) => `SELECT count(*) FILTER (WHERE ${expression} IS NULL) FROM harbours`,
  (expression: string) => `SELECT list_transform([1], x -> ${expression}) FROM harbours`,
  (expression: string) => `SELECT 1 FROM harbours GROUP BY ALL HAVING max(${expression}) IS NULL`,
  (expression: string) => `SELECT max(1) OVER (PARTITION BY ${expression}) FROM harbours`,
  (expression: string) => `SELECT 1 FROM harbours LIMIT (SELECT length(${expression}::VARCHAR))`,
  (expression: string) => `SELECT * REPLACE (${expression} AS depth) FROM harbours`,
  (expression: string) => `SELECT COLUMNS(* REPLACE (${expression} AS depth)) FROM harbours`,
  (expression: string) => `SELECT {'a': [${expression}]}, CASE WHEN true THEN 1 ELSE ${expression} END FROM harbours`,
  (expression: string) =>
    `SELECT first_value(1) OVER (ORDER BY code ROWS BETWEEN length(${expression}::VARCHAR) PRECEDING AND CURRENT ROW) FROM harbours`,
  (expression: string) => `FROM harbours PIVOT (max(${expression}) FOR coast IN ('north'))`,
  (expression: string) => `SELECT 1 FROM harbours a JOIN tools b ON ${expression.replace('name', 'a.name')} IS NULL`,
  (expression: string) => `VALUES (${expression.replace('(name', "('x'")})`,
];

/** Common table expressions that hide a name of the catalog, and tricks with names, comments and Unicode. */
const NAMES = [
  ...[
    'WITH duckdb_tables AS (SELECT 1) SELECT * FROM duckdb_tables',
    'WITH DUCKDB_TABLES AS (FROM duckdb_tables) SELECT * FROM duckdb_tables',
  ],
  ...[
    'WITH a AS (WITH pg_class AS (SELECT 1) SELECT 1) SELECT * FROM pg_class',
    'WITH a AS (FROM b), b AS (SELECT 1) SELECT * FROM a',
  ],
  ...[
    'WITH x AS (FROM x) SELECT * FROM x',
    'WITH "a.parquet" AS (SELECT 1) SELECT * FROM "a.parquet"',
    'SELECT * FROM (WITH y AS (SELECT 1) FROM y), y',
  ],
  ...[
    'SELECT * FROM “harbours”',
    'SELECT * FROM harbours\u0000',
    'SELECT * FROM ｈarbours',
    'SELECT * FROM harbours;--',
    'SELECT\u00a0*\u00a0FROM\u00a0duckdb_settings()',
  ],
  ...[
    'SELECT * FROM Duckdb_Settings()',
    'SELECT * FROM "duckdb_settings"()',
    "SELECT GETENV('HOME')",
    'SELECT "getenv"(\'HOME\')',
    "SELECT 'HOME'.getenv()",
  ],
  ...[
    'FROM harbours SELECT name.current_setting()',
    "SELECT COLUMNS('.*')::INT FROM harbours",
    "SELECT * FROM harbours_as_of((SELECT getenv('HOME')))",
    "SELECT * FROM harbours_as_of('x')",
  ],
] as const;

/** All statements by kind; `every`: each with each place. */
export function hostileStatements(every: boolean): Record<string, readonly string[]> {
  const around = (texts: readonly string[], places: readonly ((text: string) => string)[]) =>
    texts.flatMap((text, i) => (every ? places : [places[i % places.length]!]).map((place) => place(text)));
  return {
    references: around(REFERENCES, AROUND_REFERENCE),
    expressions: around(EXPRESSIONS, AROUND_EXPRESSION),
    statements: STATEMENTS,
    names: NAMES,
    values: SHOWING,
    heavy: HEAVY,
    deep: DEEP,
  };
}
