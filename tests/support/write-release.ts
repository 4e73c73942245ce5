// Writes a release folder with given records as in data/model/layout.ts: only the files that queries need.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { buildIndex } from '../../data/index/build.ts';
import { column, columnParts, type Manifest, paths, RELEASE_FILES } from '../../data/model/layout.ts';
import type { PublishedInterval, StoredRecord } from '../../data/model/record.ts';
import { publicQuery, recordsQuery } from '../../data/write/analysts.ts';
import type { Attribute, Geo, Pack, PriceRange, Value } from '../../packs/define/model.ts';
import { byCodePoint, fold, words } from '../../packs/define/text.ts';
import { fixture } from './fixtures.ts';
import { HISTORY_COLUMNS, historyRows } from './random-history.ts';
import { searchTermsOf } from './random-records.ts';
import { pastFiles } from './write-past.ts';

const TYPES: Record<string, string> = {
  boolean: 'BOOLEAN',
  integer: 'DOUBLE',
  number: 'DOUBLE',
  date: 'VARCHAR',
  strings: 'VARCHAR[]',
  price: 'DOUBLE',
  geo: 'DOUBLE',
};

const ends = (value: number | PriceRange) => (typeof value === 'number' ? { min: value, max: value } : value);

function engineValues(attribute: Attribute, value: Value): Record<string, unknown> {
  switch (attribute.type) {
    case 'strings':
      return { value, fold: (value as string[]).map(fold) };
    case 'price':
      return { ...ends(value as number | PriceRange) };
    case 'geo':
      return { ...(value as Geo) };
    case 'boolean':
    case 'integer':
    case 'number':
    case 'date':
      return { value };
    default:
      return { value, fold: fold(value as string) };
  }
}

function engineRow(pack: Pack, record: StoredRecord, ord: number): Record<string, unknown> {
  const { id, slug, name } = record;
  const updated = Date.parse(record.updated_at);
  const row: Record<string, unknown> = { ord, id, slug, name, updated, quality: record.quality_score };
  row['name_words'] = words(name).join(' ');
  Object.assign(row, { completeness: record.completeness, owner: record.verified_owner });
  for (const status of ['held', 'contested']) {
    const having = pack.attributes.filter(({ name: each }) => record.provenance[each]?.status === status);
    row[status] = having.some((each) => each.public) ? 2 : having.length > 0 ? 1 : 0;
  }
  for (const attribute of pack.attributes) {
    const value = record.attributes[attribute.name];
    const values = value === undefined ? {} : engineValues(attribute, value);
    for (const part of columnParts(attribute)) row[column(attribute.name, part)] = values[part] ?? null;
  }
  return row;
}

export interface WrittenRelease {
  folder: string;
  release: string;
  manifest: Manifest;
}

/** Minimal snapshot files; the tests of the build check their content. */
function snapshots(folder: string, records: readonly StoredRecord[]) {
  const texts = {
    [RELEASE_FILES.csv]: ['id', ...records.map(({ id }) => id)],
    [RELEASE_FILES.jsonl]: records.map((record) => JSON.stringify(record)),
    [RELEASE_FILES.records]: ['no Parquet, only bytes'],
  };
  return Object.entries(texts).map(([file, lines]) => {
    const text = lines.map((line) => `${line}\n`).join('');
    writeFileSync(join(folder, file), text);
    const sha256 = createHash('sha256').update(text).digest('hex');
    return [file, { bytes: Buffer.byteLength(text), sha256, rows: records.length }] as const;
  });
}

/**
 * Writes `records` (best first) below DATA_DIR and, by default, makes them the current release. The same
 * records of the same pack are written once in a run, and copied for each test.
 */
export async function writeRelease(
  dataDir: string,
  pack: Pack,
  records: StoredRecord[],
  current = true,
  history: PublishedInterval[] = [],
): Promise<WrittenRelease> {
  const release = hash16([records, history]);
  const folder = paths.release(dataDir, pack.id, release);
  const path = join(folder, RELEASE_FILES.manifest);
  await fixture(`release ${pack.id} ${release} ${hash16(pack)}`, folder, (draft) =>
    writeFolder(draft, release, pack, records, history),
  );
  if (current) writeFileSync(paths.current(dataDir, pack.id), release);
  return { folder, release, manifest: JSON.parse(readFileSync(path, 'utf8')) as Manifest };
}

const hash16 = (content: unknown) => createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16);

/** Writes the files of a release into its folder. */
async function writeFolder(
  folder: string,
  release: string,
  pack: Pack,
  records: StoredRecord[],
  history: PublishedInterval[],
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const parquet = async (file: string, columns: Record<string, string>, rows: Record<string, unknown>[]) => {
    const source = join(folder, `${file}.ndjson`);
    writeFileSync(source, rows.map((row) => JSON.stringify(row)).join('\n'));
    const shape = Object.entries(columns).map(([name, type]) => `'${name}': '${type}'`);
    const read = `SELECT * FROM read_json('${source}', format = 'newline_delimited', columns = {${shape.join(', ')}})`;
    await connection.run(
      `COPY (${rows.length === 0 ? `${read} LIMIT 0` : read}) TO '${join(folder, file)}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048)`,
    );
    const bytes = statSync(join(folder, file)).size;
    const sha256 = createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex');
    return [file, { bytes, sha256, rows: rows.length }] as const;
  };
  const engine: Record<string, string> = {
    ord: 'UINTEGER',
    id: 'VARCHAR',
    slug: 'VARCHAR',
    name: 'VARCHAR',
    name_words: 'VARCHAR',
    updated: 'BIGINT',
  };
  Object.assign(engine, {
    quality: 'DOUBLE',
    completeness: 'DOUBLE',
    owner: 'BOOLEAN',
    held: 'UTINYINT',
    contested: 'UTINYINT',
  });
  for (const attribute of pack.attributes)
    for (const part of columnParts(attribute))
      engine[column(attribute.name, part)] = TYPES[attribute.type] ?? 'VARCHAR';
  const terms = records
    .flatMap((record, ord) =>
      [...searchTermsOf(pack, record)].map(([term, flags]) => ({ term, ord, ...flags, since: '2000-01-01T00:00:00Z' })),
    )
    .sort((a, b) => byCodePoint(a.term, b.term) || a.ord - b.ord);
  const bodies = records.map((record, ord) => {
    const body = JSON.stringify(record);
    const known = pack.identity.attributes.map((name) => [name, record.attributes[name] ?? record.slug]);
    const identity = JSON.stringify(Object.fromEntries(known));
    return {
      ord,
      id: record.id,
      version: createHash('sha256').update(body).digest('hex').slice(0, 16),
      identity,
      body,
    };
  });
  const files = Object.fromEntries([
    await parquet(
      RELEASE_FILES.engine,
      engine,
      records.map((record, ord) => engineRow(pack, record, ord)),
    ),
    await parquet(
      RELEASE_FILES.terms,
      {
        term: 'VARCHAR',
        ord: 'UINTEGER',
        public: 'BOOLEAN',
        compared: 'BOOLEAN',
        weight: 'UTINYINT',
        public_weight: 'UTINYINT',
        since: 'TIMESTAMP',
      },
      terms,
    ),
    await parquet(RELEASE_FILES.history, HISTORY_COLUMNS, historyRows(history, records)),
    await parquet(
      RELEASE_FILES.bodies,
      { ord: 'UINTEGER', id: 'VARCHAR', version: 'VARCHAR', identity: 'VARCHAR', body: 'VARCHAR' },
      bodies,
    ),
    ...(await Promise.all(pastFiles(pack, records, history).map((each) => parquet(...each)))),
    ...snapshots(folder, records),
  ]);
  // The files for analysts are made from the public rows.
  const rows = join(folder, 'rows.parquet');
  const flat = `COPY (${recordsQuery(pack, join(folder, RELEASE_FILES.jsonl), 0)}) TO '${rows}' (FORMAT parquet)`;
  await connection.run(flat);
  const open = join(folder, RELEASE_FILES.public);
  await connection.run(`COPY (${publicQuery(pack, rows)}) TO '${open}' (FORMAT parquet, COMPRESSION zstd)`);
  rmSync(rows);
  instance.closeSync();
  const manifest: Manifest = {
    schema_version: 1,
    dataset: pack.id,
    release,
    created_at: '2026-11-20T00:00:00Z',
    title: pack.title,
    records: records.length,
    facts: 0,
    confirmed: {},
    last_collection: '2026-11-20T00:00:00Z',
    files,
    enums: {},
    ages: [],
  };
  writeFileSync(join(folder, RELEASE_FILES.manifest), JSON.stringify(manifest));
  // Tests of statements use ids such as r-1, which the index does not accept; they query only DuckDB.
  if (!records.some(({ id }) => /^r-\d$/.test(id))) await buildIndex(folder, pack);
}
