// Parameters of the questions, drawn from the release: spread over all of it, and the same in every run.
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { fold, words } from '../packs/define/text.ts';
import type { Subject } from './subject.ts';

export interface Drawn {
  ids: string[];
  slugs: string[];
  /** Groups with at least a page of records above the shape's `least`, largest first. */
  groups: string[];
  /** Groups within the limit of a time series, closest to it first. */
  serial: string[];
  /** Two word prefixes of one name. */
  prefixes: [string, string][];
  /** Names of at least two words, in lower case. */
  names: string[];
  points: { lat: number; lng: number }[];
  /** An area with its group, of 50 to 2,000 records. */
  areas: { group: string; area: string }[];
  /** Moments of changes, ISO 8601: fewer than the service keeps. */
  moments: string[];
}

/** Draws up to `count` of each. */
export async function drawValues({ folder, shape }: Subject, count = 200): Promise<Drawn> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const engine = `read_parquet('${join(folder, 'engine.parquet')}')`;
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJS();
  const column = async (sql: string) => (await rows(sql)).map(([value]) => String(value));
  const spread = (n: number) => `ord % greatest(1, (select count(*) from ${engine}) // ${n}) = 0`;
  const { group, area, number, least, geo } = shape;
  try {
    const ids = await rows(`select id, slug from ${engine} where ${spread(count - 1)} limit ${count}`);
    const names = await column(
      `select name from ${engine} where regexp_matches(name, '^[A-Za-z]{3,} [A-Za-z]{3,}') and hash(id) % 8 = 0 order by hash(id) limit ${count}`,
    );
    const points = await rows(
      `select "${geo}:lat", "${geo}:lng" from ${engine} where "${geo}:lat" is not null and ${spread(count - 1)} limit ${count}`,
    );
    const areas = await rows(
      `select any_value("${group}:value"), "${area}:value" from ${engine} where "${area}:value" is not null group by 2
       having count(*) between 50 and 2000 order by hash("${area}:value") limit ${count}`,
    );
    const moments = await rows(
      `select distinct epoch_ms(since) as moment from read_parquet('${join(folder, 'moments.parquet')}') order by hash(moment) limit 4`,
    );
    return {
      ids: ids.map(([id]) => String(id)),
      slugs: ids.map(([, slug]) => String(slug)),
      groups: await column(
        `select "${group}:value" from ${engine} where "${number}:value" >= ${least} and "${group}:value" is not null group by 1
         having count(*) >= 20 order by count(*) desc, 1 limit 40`,
      ),
      serial: await column(
        `select "${group}:value" from ${engine} where "${group}:value" is not null group by 1
         having count(*) <= 5000 order by count("${number}:value") desc, 1 limit 5`,
      ),
      prefixes: names
        .map((name) => fold(name).split(' ').slice(0, 2))
        .map(([a = '', b = '']) => [a.slice(0, 3), b.slice(0, 3)]),
      names: names.map((name) => words(name).join(' ')),
      points: points.map(([lat, lng]) => ({ lat: Number(lat), lng: Number(lng) })),
      areas: areas.map(([first, second]) => ({ group: String(first), area: String(second) })),
      moments: moments.map(([at]) => new Date(Number(at) + 1).toISOString()),
    };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
