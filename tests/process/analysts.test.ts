// Files for analysts from a night of the fictional packs: their content and their descriptions.
import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { beforeAll, describe, expect, test } from 'vitest';
import { FileList } from '../../api/pages/file-list.ts';
import { sqlExamples } from '../../api/pages/sql.ts';
import { paths } from '../../data/model/layout.ts';
import { writePublicFiles } from '../../data/write/analysts-files.ts';
import { dictionary } from '../../data/write/dictionary.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { analystsStage, IDS, NAMES, openDuckdb } from '../support/analysts-stage.ts';
import { BASE } from '../support/app.ts';
import { PACKS } from '../support/whole-night.ts';

const stage = analystsStage();
const { folder, config, file, night, records, released } = stage;
let packs: Pack[];

beforeAll(async () => {
  await stage.open();
  packs = await Promise.all(IDS.map((id) => loadPack(join(PACKS, id))));
}, 180_000);

async function told(path: string): Promise<Record<string, string>> {
  const { key_value_metadata = [] } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  return Object.fromEntries(key_value_metadata.map(({ key, value }) => [key, value ?? '']));
}

describe.each(IDS)('%s', (dataset) => {
  const pack = () => packs.find(({ id }) => id === dataset)!;

  test('public.parquet holds the public values of every record and no others', async () => {
    const rows = await parquetReadObjects({
      file: await asyncBufferFromFile(file(dataset, 'public.parquet')),
      compressors,
    });
    expect(rows.map((row) => row['id'])).toEqual(records(dataset).map(({ id }) => id));
    expect(Object.keys(rows[0]!)).toEqual(dictionary(pack(), 'public').map(({ name }) => name));
    const open = pack().attributes.filter((each) => each.public);
    expect(open.length).toBeLessThan(pack().attributes.length);
    expect(Object.keys(rows[0]!['provenance'] as object)).toEqual(open.map(({ name }) => name));
  });

  test.each([
    ['public.parquet', 'public', () => file(dataset, 'public.parquet')],
    [
      'records.parquet',
      'all',
      () => join(paths.release(config.DATA_DIR, dataset, released[dataset]!), 'records.parquet'),
    ],
  ] as const)('%s says what it is', async (_name, only, path) => {
    const { columns, ...about } = await told(path());
    const { title, description, license, attribution } = pack();
    expect(about).toMatchObject({ dataset, title, description, release: released[dataset], license: license.name });
    expect(about).toMatchObject({ license_url: license.url, attribution, created_at: '2026-11-20T00:00:00Z' });
    const meant = dictionary(pack(), only).map(({ public: _, ...column }) => column);
    expect(JSON.parse(columns!)).toEqual(meant);
    expect(meant.some(({ unit }) => unit !== null)).toBe(true);
  });

  test('public.duckdb has a storage version that DuckDB 1.0 reads, and every example query runs on it', async () => {
    const db = await openDuckdb();
    await db.rows(`ATTACH '${file(dataset, 'public.duckdb')}' AS register (READ_ONLY)`);
    const [[tags]] = (await db.rows(
      "SELECT tags::VARCHAR FROM duckdb_databases() WHERE database_name = 'register'",
    )) as [[string]];
    expect(tags).toContain('v1.0.0');
    await db.rows('USE register');
    const described = await db.rows(
      "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'records' ORDER BY column_index",
    );
    expect(described).toEqual(dictionary(pack(), 'public', false).map(({ name, type }) => [name, type]));
    expect(await db.rows('SELECT id FROM records')).toEqual(records(dataset).map(({ id }) => [id]));
    for (const { title, sql } of sqlExamples(pack())) expect((await db.rows(sql)).length, title).toBeGreaterThan(0);
    db.close();
  });

  test('the dictionary has every column of the full file, as JSON and as Markdown', async () => {
    const { columns, ...about } = JSON.parse(readFileSync(file(dataset, 'dictionary.json'), 'utf8'));
    expect(about).toMatchObject({ dataset, release: released[dataset], records: records(dataset).length });
    const { schema } = await parquetMetadataAsync(
      await asyncBufferFromFile(join(paths.release(config.DATA_DIR, dataset, released[dataset]!), 'records.parquet')),
    );
    const names = (columns as { name: string }[]).map(({ name }) => name);
    for (const name of names) expect(schema.map((each) => each.name)).toContain(name);
    expect(names).toHaveLength(Number(schema[0]?.num_children));
    const markdown = readFileSync(file(dataset, 'dictionary.md'), 'utf8');
    for (const name of names) expect(markdown).toContain(`|${name}|`);
  });

  test('Croissant has the required members, and describes the actual file', async () => {
    const croissant = JSON.parse(readFileSync(file(dataset, 'croissant.jsonld'), 'utf8'));
    // Croissant 1.0 and 1.1, "Dataset-level information", required; and `distribution`, which both require.
    const required = [
      '@context',
      '@type',
      'conformsTo',
      'description',
      'license',
      'name',
      'url',
      'creator',
      'datePublished',
      'distribution',
    ];
    for (const member of required) expect(croissant[member], member).toBeTruthy();
    expect(croissant).toMatchObject({
      '@type': 'sc:Dataset',
      conformsTo: 'http://mlcommons.org/croissant/1.0',
      version: expect.stringMatching(/^\d+\.\d{8}\.\d{1,6}$/),
      identifier: released[dataset],
    });
    // The complete context of the specification (Croissant 1.0, appendix 1).
    expect(Object.keys(croissant['@context'])).toHaveLength(34);
    for (const prefix of ['@language', '@vocab', 'cr', 'rai', 'dct', 'sc'])
      expect(croissant['@context'], prefix).toHaveProperty(prefix);
    expect(croissant['@context']).toMatchObject({
      conformsTo: 'dct:conformsTo',
      data: { '@id': 'cr:data', '@type': '@json' },
      jsonPath: 'cr:jsonPath',
      transform: 'cr:transform',
    });
    const [object] = croissant.distribution;
    expect(object).toMatchObject({ '@type': 'cr:FileObject', encodingFormat: 'application/vnd.apache.parquet' });
    expect(object.contentUrl).toBe(`${BASE}/files/${dataset}/public.parquet`);
    const bytes = readFileSync(file(dataset, 'public.parquet'));
    expect(object).toMatchObject({ sha256: hash('sha256', bytes, 'hex'), contentSize: `${bytes.length} B` });
    const [set] = croissant.recordSet;
    expect(set).toMatchObject({ '@type': 'cr:RecordSet', key: { '@id': 'records/id' } });
    const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(file(dataset, 'public.parquet')));
    for (const field of set.field) {
      expect(field).toMatchObject({
        '@type': 'cr:Field',
        '@id': `records/${field.name}`,
        description: expect.any(String),
      });
      expect(field.dataType).toMatch(/^sc:(Text|Integer|Float|Boolean|Date|DateTime)$/);
      expect(field.source.fileObject['@id']).toBe(object['@id']);
      expect(schema.map(({ name }) => name)).toContain(field.source.extract.column);
    }
  });
});

test('the night lists the files of each dataset with size and SHA-256, for hosts that serve only files', () => {
  for (const dataset of IDS) {
    const list = FileList.parse(JSON.parse(readFileSync(file(dataset, 'index.json'), 'utf8')));
    expect(list).toMatchObject({ dataset, release: released[dataset] });
    expect(list.attribution).toContain(`${BASE}/datasets/${dataset}`);
    expect(list.files.map(({ name }) => name)).toEqual(NAMES);
    const html = readFileSync(file(dataset, 'index.html'), 'utf8');
    for (const { name, url, description, bytes, sha256, last_modified, withheld } of list.files) {
      const content = readFileSync(file(dataset, name));
      expect([name, bytes, sha256]).toEqual([name, content.length, hash('sha256', content, 'hex')]);
      expect(url).toBe(`${BASE}/files/${dataset}/${name}`);
      expect(description, name).not.toBe('');
      expect(last_modified).toBe('2026-11-20T00:00:00.000Z');
      expect(withheld).toBeUndefined();
      expect(html).toContain(`href="/files/${dataset}/${name}"`);
      expect(html).toContain(sha256);
    }
  }
  const { datasets } = JSON.parse(readFileSync(join(config.DIST_DIR, 'files/index.json'), 'utf8'));
  const rows = (datasets as { dataset: string; files: number }[]).map((each) => [each.dataset, each.files]);
  expect(rows).toEqual(IDS.map((id) => [id, NAMES.length]));
});

test('a night without changes keeps the files', async () => {
  const names = [...NAMES, 'index.json', 'index.html'];
  const stamps = () => IDS.flatMap((id) => names.map((name) => statSync(file(id, name), { bigint: true }).ctimeNs));
  const before = stamps();
  expect((await night()).failures).toEqual([]);
  expect(stamps()).toEqual(before);
}, 60_000);

test('over a release that was made before an overlay, removed records are left out and changed ones marked', async () => {
  const pack = packs[0]!;
  const [gone, changed, ...others] = records(pack.id);
  const release = paths.release(config.DATA_DIR, pack.id, released[pack.id]!);
  const instead = [{ ...changed!, attributes: { ...changed!.attributes, name: 'Renamed' } }];
  const telling = { release: released[pack.id]!, created_at: '2026-11-20T00:00:00Z' };
  const made = await writePublicFiles(pack, release, telling, { without: [gone!.id], instead }, join(folder, 'over'));
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(made.parquet), compressors });
  expect(rows.map((row) => row['id']).sort()).toEqual([changed!, ...others].map(({ id }) => id).sort());
  expect(rows.find((row) => row['id'] === changed!.id)).toMatchObject({ name: 'Renamed' });
  expect(readFileSync(made.database).includes(gone!.id)).toBe(false);
});
