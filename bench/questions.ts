// What the bench asks of the service, and the same question as SQL for the naive DuckDB peer.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { paths as layout } from '../data/layout.ts';

export interface Question {
  name: string;
  /** Paths on the service, asked in turn. */
  service: string[];
  /** Statement for the peer, with at most one bound value. */
  sql: string;
  /** Paths on the peer, in the same order. */
  peer: string[];
}

/** Folder of a dataset's current release. */
export function releaseFolder(dataDir: string, dataset: string): string {
  const release = readFileSync(layout.current(dataDir, dataset), 'utf8').trim();
  return layout.release(dataDir, dataset, release);
}

/** Questions with values drawn evenly from the release itself. `group` is a public enum or string to filter and count by. */
export async function questionsFor(dataDir: string, dataset: string, group: string): Promise<Question[]> {
  const folder = releaseFolder(dataDir, dataset);
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const table = `read_parquet('${join(folder, 'engine.parquet')}')`;
  const column = async (sql: string) => (await connection.runAndReadAll(sql)).getColumnsJS()[0] as string[];
  const ids = await column(
    `select id from ${table} where ord % greatest(1, (select count(*) from ${table}) // 199) = 0`,
  );
  const groups = await column(
    `select "${group}:value" from ${table} where "${group}:value" is not null group by 1 having count(*) >= 20 order by count(*) desc limit 20`,
  );
  connection.closeSync();
  const encoded = groups.map((value) => encodeURIComponent(value));
  return [
    {
      name: 'get',
      service: ids.map((id) => `/v1/${dataset}/entities/${id}`),
      sql: 'select body from bodies where id = $1',
      peer: ids.map((id) => `/get/${id}`),
    },
    {
      name: 'search, 20 full records',
      service: encoded.map((value) => `/v1/${dataset}/entities?${group}=${value}`),
      sql: `select body from engine join bodies using (ord) where "${group}:value" = $1 order by quality desc, engine.id limit 20`,
      peer: encoded.map((value) => `/search/${value}`),
    },
    {
      name: 'facets over a filtered set',
      service: encoded.map((value) => `/v1/${dataset}/facets?by=${group}&${group}=${value}`),
      sql: `select "${group}:value", count(*) from engine where "${group}:value" = $1 group by 1 order by 2 desc limit 50`,
      peer: encoded.map((value) => `/facets/${value}`),
    },
  ];
}
