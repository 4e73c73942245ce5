// The readers of declared sources, by kind.
import type { DeclaredAs, DeclaredKind } from '../../packs/define/sources.ts';
import { readCsv } from './csv.ts';
import { readHttp } from './http.ts';
import { readJson } from './json.ts';
import { readJsonl } from './jsonl.ts';
import { readParquet } from './parquet.ts';
import { readPostgres } from './postgres.ts';
import type { SourceReader } from './reader.ts';
import { readSqlite } from './sqlite.ts';
import { readXlsx } from './xlsx.ts';

/** Reads the versions of a declared source. */
export const READERS: { readonly [K in DeclaredKind]: SourceReader<DeclaredAs<K>> } = {
  csv: readCsv,
  jsonl: readJsonl,
  json: readJson,
  parquet: readParquet,
  xlsx: readXlsx,
  sqlite: readSqlite,
  postgres: readPostgres,
  http: readHttp,
};
