// Copies a release into SQLite: narrow indexed columns, the complete answer of every record as text, words in
// FTS5, points in an R*Tree.
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { NAME_WEIGHT } from '../../data/consolidate/engine-values.ts';
import { presentRecord } from '../../data/queries/present.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { SubjectShape } from '../subject.ts';

export const quotedName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Input of the copy: the release folder, the folder of its pack, the base address in the answers. */
export interface Filling {
  release: string;
  pack: string;
  base_url: string;
  shape: SubjectShape;
}

const FTS5 = `content='', tokenize="unicode61 remove_diacritics 0 categories 'L* M* N* Co'", prefix='2 3'`;

/** Fills an empty database. The answers have fixed ages, which spares the peer that work. */
export async function fill(db: DatabaseSync, { release, pack: folder, base_url, shape }: Filling): Promise<void> {
  const pack = await loadPack(folder);
  const { texts, number, geo } = shape;
  db.exec('pragma journal_mode = off; pragma synchronous = off; pragma page_size = 8192');
  const columns = [...texts.map((name) => `${quotedName(name)} text`), `${quotedName(number)} real`];
  db.exec(
    `create table record (ord integer primary key, id text, slug text, quality real, lat real, lng real, ${columns.join(', ')}, terms text)`,
  );
  db.exec('create table body (ord integer primary key, body text)');
  db.exec(`create virtual table words using fts5(text, ${FTS5})`);
  // bm25() needs positions, which a table without content only has with detail=full, the default.
  db.exec(`create virtual table ranked using fts5(name, text, ${FTS5})`);
  db.exec(`insert into ranked (ranked, rank) values ('rank', 'bm25(${NAME_WEIGHT}.0, 1.0)')`);
  // Its bounds are of 32 bits; the exact point is stored with them, so that no other table is read.
  db.exec('create virtual table point using rtree (ord, south, north, west, east, +lat real, +lng real)');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const table = (file: string) => `read_parquet('${join(release, file)}')`;
  const chosen = [...texts, number].map((name) => `e.${quotedName(`${name}:value`)}`);
  const result = await connection.stream(
    `select e.ord, e.id, e.slug, e.quality, e.${quotedName(`${geo}:lat`)}, e.${quotedName(`${geo}:lng`)}, ${chosen.join(', ')}, e.name_words, t.text, b.body
     from ${table('engine.parquet')} e join ${table('bodies.parquet')} b using (ord)
     left join (select ord, string_agg(term, ' ' order by term) as text from ${table('terms.parquet')} group by ord) t using (ord) order by e.ord`,
  );
  const marks = Array.from({ length: 7 + chosen.length }, () => '?').join(', ');
  const record = db.prepare(`insert into record values (${marks})`);
  const body = db.prepare('insert into body values (?, ?)');
  const words = db.prepare('insert into words (rowid, text) values (?, ?)');
  const ranked = db.prepare('insert into ranked (rowid, name, text) values (?, ?, ?)');
  const point = db.prepare('insert into point values (?1, ?2, ?2, ?3, ?3, ?2, ?3)');
  const presenting = { now: new Date(), base_url, visibility: 'full' } as const;
  db.exec('begin');
  for await (const rows of result.yieldRowsJs()) {
    for (const row of rows) {
      const ord = row[0] as number;
      record.run(...([...row.slice(0, -3), row.at(-2)] as (string | number | null)[]));
      body.run(ord, JSON.stringify(presentRecord(String(row.at(-1)), pack, presenting)));
      words.run(ord, String(row.at(-2) ?? ''));
      ranked.run(ord, String(row.at(-3)), String(row.at(-2) ?? ''));
      const [lat, lng] = row.slice(4, 6) as (number | null)[];
      if (typeof lat === 'number' && typeof lng === 'number') point.run(ord, lat, lng);
    }
  }
  db.exec('commit');
  for (const name of texts)
    db.exec(`create index ${quotedName(`by ${name}`)} on record (${quotedName(name)}, quality desc, id)`);
  db.exec(
    `create index ${quotedName(`by ${number}`)} on record (${quotedName(number)}); create unique index by_id on record (id); create unique index by_slug on record (slug);
     create index by_quality on record (quality desc, id); create index by_point on record (lat, lng); insert into words (words) values ('optimize'); insert into ranked (ranked) values ('optimize'); analyze`,
  );
  connection.closeSync();
}
