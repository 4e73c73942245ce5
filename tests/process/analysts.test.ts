// Files for analysts from a night of the fictional packs: their content and their descriptions.
import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { describe, expect, test } from 'vitest';
import { FileList } from '../../api/pages/file-list.ts';
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

await stage.open();
const packs: Pack[] = await Promise.all(IDS.map((id) => loadPack(join(PACKS, id))));

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

  test('public.duckdb has a storage version that DuckDB 1.0 reads, and the columns of the dictionary', async () => {
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
    // Croissant 1.1, "Dataset-level information", required; and `distribution`.
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
      conformsTo: 'http://mlcommons.org/croissant/1.1',
      version: expect.stringMatching(/^\d+\.\d{8}\.\d{1,6}$/),
      identifier: released[dataset],
    });
    // The complete context of the specification (Croissant 1.1, appendix 1), and the vocabularies that it recommends.
    const terms = [
      ...[
        '@language',
        '@vocab',
        'sc',
        'cr',
        'rai',
        'dct',
        'annotation',
        'arrayShape',
        'citeAs',
        'column',
        'conformsTo',
      ],
      ...['containedIn', 'data', 'dataType', 'equivalentProperty', 'examples', 'excludes', 'extract', 'field'],
      ...['fileProperty', 'fileObject', 'fileSet', 'format', 'includes', 'isArray', 'isLiveDataset', 'jsonPath', 'key'],
      ...['md5', 'parentField', 'recordSet', 'references', 'regex', 'readLines', 'sdVersion', 'separator', 'source'],
      ...['subField', 'transform', 'unArchive', 'value', 'prov', 'odrl'],
    ];
    expect(Object.keys(croissant['@context'])).toEqual(expect.arrayContaining(terms));
    expect(croissant['@context']).toMatchObject({
      conformsTo: 'dct:conformsTo',
      data: { '@id': 'cr:data', '@type': '@json' },
      jsonPath: 'cr:jsonPath',
      transform: 'cr:transform',
    });
    const origins = pack().sources.map(({ url, title, license }) =>
      expect.objectContaining({ '@id': url, name: title, license }),
    );
    expect(croissant['prov:wasDerivedFrom']).toEqual(origins);
    expect(croissant['prov:wasGeneratedBy']['prov:endedAtTime']['@value']).toBe(croissant.datePublished);
    expect(croissant.usageInfo).toMatchObject({ '@type': ['CreativeWork', 'odrl:Offer'], url: pack().license.url });
    const objects = croissant.distribution as { '@id': string; name: string }[];
    expect(objects.map(({ name }) => name)).toEqual([
      'public.parquet',
      'public.duckdb',
      'history.parquet',
      'public.geojson',
    ]);
    const list = FileList.parse(JSON.parse(readFileSync(file(dataset, 'index.json'), 'utf8')));
    for (const object of objects) {
      const { url, media_type, bytes, sha256 } = list.files.find(({ name }) => name === object.name)!;
      const measured = { contentUrl: url, encodingFormat: media_type, contentSize: `${bytes} B`, sha256 };
      expect(object).toMatchObject({ '@type': 'cr:FileObject', '@id': object.name, ...measured });
    }
    const sets = croissant.recordSet as { name: string; key: object; field: { name: string }[] }[];
    expect(sets.map(({ name, key }) => [name, key])).toEqual([
      ['records', { '@id': 'records/id' }],
      ['history', ['id', 'attribute', 'valid_from'].map((column) => ({ '@id': `history/${column}` }))],
    ]);
    for (const [i, name] of ['public.parquet', 'history.parquet'].entries()) {
      const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(file(dataset, name)));
      const columns = schema.slice(1).map((column) => column.name);
      const set = sets[i]!;
      for (const field of set.field) {
        expect(field).toMatchObject({
          ...{ '@type': 'cr:Field', '@id': `${set.name}/${field.name}`, description: expect.any(String) },
          ...{ dataType: expect.stringMatching(/^sc:(Text|Integer|Float|Boolean|Date|DateTime)$/) },
          source: { fileObject: { '@id': name }, extract: { column: expect.toBeOneOf(columns) } },
        });
        const annotation = {
          equivalentProperty: 'prov:wasDerivedFrom',
          source: { fileObject: { '@id': name }, extract: { column: 'source_url' } },
        };
        if (set.name === 'history' && field.name === 'value') expect(field).toMatchObject({ annotation });
        else expect(field).not.toHaveProperty('annotation');
      }
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
    const rows = Object.fromEntries(list.files.map((each) => [each.name, each.rows]));
    const { length } = records(dataset);
    expect(rows).toMatchObject({ 'public.parquet': length, 'public.duckdb': length, 'public.geojson': length });
    expect(rows['history.parquet']).toBeGreaterThan(length);
    expect(rows['dictionary.json']).toBeUndefined();
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

test('over a release with records that were removed since, the files leave them out', async () => {
  const pack = packs[0]!;
  const [gone, ...others] = records(pack.id);
  const info = { release: released[pack.id]!, created_at: '2026-11-20T00:00:00Z' };
  const source = { pack, folder: paths.release(config.DATA_DIR, pack.id, info.release), info, removed: [gone!.id] };
  const made = await writePublicFiles(source, join(folder, 'over'));
  const ids = others.map(({ id }) => id).sort();
  for (const name of ['public.parquet', 'history.parquet'] as const) {
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(made[name]), compressors });
    expect([...new Set(rows.map((row) => row['id']))].sort(), name).toEqual(ids);
  }
  expect(readFileSync(made['public.duckdb']).includes(gone!.id)).toBe(false);
});
