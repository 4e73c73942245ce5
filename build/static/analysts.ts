// Files for analysts below `files/{ds}/`: public values as Parquet and as a database, their history, a data
// dictionary, Croissant (docs/analysts.md). pages.ts writes the GeoJSON file.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  fileList,
  fileListHtml,
  fileListJson,
  fileListsHtml,
  fileListsJson,
  LIST_FILES,
} from '../../api/pages/file-list.ts';
import { bulkFileDataset, bulkFiles } from '../../api/render/data-files.ts';
import { dictionaryJson, dictionaryMarkdown } from '../../api/render/dictionary.ts';
import { Duck, quotedText } from '../../data/duckdb/duck.ts';
import type { Manifest } from '../../data/model/layout.ts';
import type { Release } from '../../data/releases/release.ts';
import { PUBLIC_FILES, type PublicSource, writePublicFiles } from '../../data/write/analysts-files.ts';
import { type Column, dictionary, HISTORY_FILE_COLUMNS } from '../../data/write/dictionary.ts';
import { datasetAttribution, datasetUrl } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Output } from './output.ts';

export interface AnalystOptions {
  release: Release;
  base: string;
  /** A folder for temporary files. */
  scratch: string;
  /** Fingerprint of the inputs: files with the same key are kept. */
  key: string;
  /** The GeoJSON file, whose hash the metadata contain, is in the output after this; absent: it is there. */
  pages?: Promise<void>;
}

/** The code that writes the files, which the key of the answers does not cover. */
const WRITERS = [
  './analysts.ts',
  ...['analysts.ts', 'analysts-files.ts', 'sql-tables.ts'].map((name) => `../../data/write/${name}`),
];
const code = () => WRITERS.map((path) => readFileSync(new URL(path, import.meta.url), 'utf8')).join();

/** Writes the files of a release, unless the output has them with the same key. */
export async function writeAnalystFiles(
  { release, base, scratch, pages, ...made }: AnalystOptions,
  output: Output,
): Promise<void> {
  const key = `${made.key}.${hash('sha256', code(), 'hex').slice(0, 16)}`;
  if (output.keepAll(key)) return;
  const { pack, manifest } = release;
  const at = (name: string) => `files/${pack.id}/${name}`;
  const files = await writePublicFiles(publicSource(release), scratch);
  for (const name of PUBLIC_FILES) output.take(at(name), files[name], key);
  await pages;
  output.write(at('dictionary.json'), dictionaryJson(pack, manifest, base), key);
  output.write(at('dictionary.md'), dictionaryMarkdown(pack, manifest, base), key);
  writeCroissant(release, base, output, key);
  // CSV has no place for a notice: a copy of the folder contains it as a file.
  if (pack.notice !== undefined) output.write(at('NOTICE.txt'), `${pack.notice}\n`, key);
}

/** A test of whether a file below DIST_DIR has values of all records of one of these datasets. */
export function isOfAllRecords(datasets: readonly string[]): (path: string) => boolean {
  const starts = datasets.flatMap((id) => [`files/${id}/`, `v1/${id}/llms-full`]);
  return (path) => starts.some((start) => path.startsWith(start));
}

/** Writes the description of the bulk files in the output, which contains their hashes. */
export function writeCroissant(
  { pack, manifest }: Pick<Release, 'pack' | 'manifest'>,
  base: string,
  output: Output,
  key: string,
): void {
  const present = bulkFiles(pack).flatMap(([name, about]) => {
    const entry = output.files.get(`files/${pack.id}/${name}`);
    return entry === undefined ? [] : [{ name, ...about, ...entry }];
  });
  output.write(`files/${pack.id}/croissant.jsonld`, croissant(pack, manifest, base, present), key);
}

/** What the public files of a release are made from: the release without the records that its overlay removes. */
export function publicSource({ pack, manifest, folder, overlay }: Omit<Release, 'engine'>): PublicSource {
  const { release, created_at } = manifest;
  return { pack, folder, info: { release, created_at }, removed: [...(overlay?.removed.keys() ?? [])].sort() };
}

/** Writes the lists `files/{ds}/` and `files/` of the files in the output. DuckDB may spill to `scratch`. */
export async function writeFileLists(
  releases: readonly Pick<Release, 'pack' | 'manifest'>[],
  base: string,
  scratch: string,
  output: Output,
): Promise<void> {
  const names: readonly string[] = Object.values(LIST_FILES);
  const counts = await rowCounts(scratch, output);
  const lists = releases.map(({ pack, manifest }) => {
    const folder = `files/${pack.id}/`;
    const files = [...output.files].flatMap(([path, { bytes, sha256 }]) => {
      const name = path.slice(folder.length);
      if (!path.startsWith(folder) || names.includes(name)) return [];
      const rows = bulkFileDataset(path) === null ? {} : { rows: counts.get(path) ?? manifest.records };
      return [{ name, bytes, ...rows, sha256 }];
    });
    const last_modified = new Date(manifest.created_at).toISOString();
    return fileList(pack, { release: manifest.release, last_modified, base_url: base }, files);
  });
  const listed = lists.filter(({ files }) => files.length > 0);
  for (const list of listed) {
    output.write(`files/${list.dataset}/${LIST_FILES.json}`, fileListJson(list));
    output.write(`files/${list.dataset}/${LIST_FILES.html}`, fileListHtml(list, base));
  }
  output.write(`files/${LIST_FILES.json}`, fileListsJson(listed, base));
  output.write(`files/${LIST_FILES.html}`, fileListsHtml(listed, base));
}

/** The note of the numbers of rows by the SHA-256 of their files. */
const ROWS_NOTE = 'rows.json';

/**
 * Numbers of rows of the files in the output that may have another number than the release has records, by
 * path. Files that the last run counted are not opened.
 */
async function rowCounts(scratch: string, output: Output): Promise<Map<string, number>> {
  const earlier = JSON.parse(output.readNote(ROWS_NOTE) ?? '{}') as Record<string, number>;
  const files = [...output.files].filter(([path]) => bulkFileDataset(path) !== null && path.endsWith('.parquet'));
  const noted: Record<string, number> = {};
  const counts = new Map<string, number>();
  let duck: Duck | null = null;
  try {
    for (const [path, { sha256 }] of files) {
      if (earlier[sha256] === undefined) duck ??= await Duck.open(scratch);
      const rows = earlier[sha256] ?? (await countRows(duck!, join(output.root, path)));
      noted[sha256] = rows;
      counts.set(path, rows);
    }
  } finally {
    duck?.close();
  }
  // In order of the hashes: files come in the order in which they were made.
  const sorted = Object.entries(noted).sort(([one], [other]) => (one < other ? -1 : 1));
  output.note(ROWS_NOTE, JSON.stringify(Object.fromEntries(sorted)));
  return counts;
}

async function countRows(duck: Duck, path: string): Promise<number> {
  return duck.count(`SELECT num_rows FROM parquet_file_metadata(${quotedText(path)})`);
}

// Croissant metadata of a dataset (MLCommons Croissant 1.1): its public files, the columns of the records and of their
// history, where they come from (PROV-O) and their terms of use (ODRL), for loaders and crawlers.

/** Terms of Croissant's own vocabulary in the context of the specification, and those that loaders expect besides. */
const TERMS = (
  'annotation arrayShape citeAs column containedIn equivalentProperty excludes extract field fileProperty fileObject ' +
  'fileSet format includes isArray isLiveDataset jsonPath key md5 parentField recordSet references regex readLines ' +
  'sdVersion separator source subField transform unArchive value path repeated replace samplingRate'
).split(' ');

/** The context of Croissant 1.1, appendix 1, with the vocabularies of provenance and of usage terms. */
const CONTEXT = {
  '@language': 'en',
  '@vocab': 'https://schema.org/',
  cr: 'http://mlcommons.org/croissant/',
  rai: 'http://mlcommons.org/croissant/RAI/',
  dct: 'http://purl.org/dc/terms/',
  sc: 'https://schema.org/',
  prov: 'http://www.w3.org/ns/prov#',
  odrl: 'http://www.w3.org/ns/odrl/2/',
  conformsTo: 'dct:conformsTo',
  data: { '@id': 'cr:data', '@type': '@json' },
  dataType: { '@id': 'cr:dataType', '@type': '@vocab' },
  examples: { '@id': 'cr:examples', '@type': '@json' },
  ...Object.fromEntries(TERMS.map((term) => [term, `cr:${term}`])),
};

/**
 * The version of a release as three numbers, which loaders expect: the pack's revision, the day and the time
 * of the release (UTC), `3.20261120.120000`. Later releases of a pack have higher versions. The release id is
 * the identifier.
 */
function versionOf({ revision }: Pick<Pack, 'revision'>, created_at: string): string {
  const [day = '', time = ''] = new Date(created_at).toISOString().split('T');
  return [revision, day.replaceAll('-', ''), Number(time.slice(0, 8).replaceAll(':', ''))].join('.');
}

const TYPES: Record<string, string> = {
  BOOLEAN: 'sc:Boolean',
  BIGINT: 'sc:Integer',
  DOUBLE: 'sc:Float',
  DATE: 'sc:Date',
  TIMESTAMP: 'sc:DateTime',
};

/** A published file. */
interface DescribedFile {
  name: string;
  description: string;
  media_type: string;
  bytes: number;
  sha256: string;
}

/** A table of a file: columns that identify a row, and columns with the source of another one. */
interface RecordSet {
  name: string;
  file: string;
  description: string;
  key: readonly string[];
  columns: readonly Column[];
  sources?: Readonly<Record<string, string>>;
}

const RECORDS = { name: 'records', file: 'public.parquet', description: 'One row a record', key: ['id'] };
const HISTORY = {
  name: 'history',
  file: 'history.parquet',
  description: 'One row for each public value ever published, with the time during which it was valid',
  key: ['id', 'attribute', 'valid_from'],
  sources: { value: 'source_url' },
};

function recordSet({ name: set, file, description, key, columns, sources }: RecordSet): object {
  const keys = key.map((column) => ({ '@id': `${set}/${column}` }));
  const from = (column: string) => ({ fileObject: { '@id': file }, extract: { column } });
  const field = ({ name, type, description, unit }: Column): object => ({
    '@type': 'cr:Field',
    '@id': `${set}/${name}`,
    name,
    description: unit === null ? description : `${description} (${unit})`,
    dataType: TYPES[type] ?? 'sc:Text',
    ...(type.endsWith('[]') ? { isArray: true, arrayShape: '-1' } : {}),
    source: from(name),
    ...(sources?.[name] === undefined ? {} : { annotation: origin(name, sources[name]) }),
  });
  /** The source of each value, which another column has. */
  const origin = (name: string, column: string) => ({
    '@type': 'cr:Field',
    '@id': `${set}/${name}/source`,
    name: `source of ${name}`,
    dataType: 'sc:URL',
    equivalentProperty: 'prov:wasDerivedFrom',
    source: from(column),
  });
  const [only, ...more] = keys;
  const about = { name: set, description, key: more.length === 0 ? only : keys };
  return { '@type': 'cr:RecordSet', '@id': set, ...about, field: columns.map(field) };
}

/** The terms of use as an ODRL offer: use under the licence; a notice must accompany copies. */
const usageTerms = ({ license, notice }: Pack): object => ({
  '@type': ['CreativeWork', 'odrl:Offer'],
  name: license.name,
  url: license.url,
  'odrl:permission': {
    '@type': 'odrl:Permission',
    'odrl:action': { '@id': 'odrl:use' },
    ...(notice === undefined
      ? {}
      : { 'odrl:duty': { '@type': 'odrl:Duty', 'odrl:action': { '@id': 'odrl:attachPolicy' } } }),
  },
});

/** Returns the description of the published files as JSON-LD. Leaves out the nested column with provenance. */
export function croissant(
  pack: Pack,
  { release, created_at }: Manifest,
  base: string,
  files: readonly DescribedFile[],
): string {
  const sets = [
    { ...RECORDS, columns: dictionary(pack, 'public', false) },
    { ...HISTORY, columns: HISTORY_FILE_COLUMNS },
  ].filter(({ file }) => files.some(({ name }) => name === file));
  const metadata = {
    '@context': CONTEXT,
    '@type': 'sc:Dataset',
    conformsTo: 'http://mlcommons.org/croissant/1.1',
    name: pack.id,
    alternateName: pack.title,
    description: pack.description,
    license: pack.license.url,
    ...(pack.notice === undefined ? {} : { copyrightNotice: pack.notice }),
    url: datasetUrl(base, pack.id),
    creator: { '@type': 'sc:Organization', name: pack.attribution, url: pack.sources[0]?.url ?? base },
    publisher: { '@type': 'sc:Organization', name: 'Dataset Register', url: `${base}/` },
    datePublished: created_at,
    dateModified: created_at,
    version: versionOf(pack, created_at),
    identifier: release,
    keywords: pack.keywords,
    citeAs: datasetAttribution(pack, base),
    isLiveDataset: true,
    usageInfo: usageTerms(pack),
    'prov:wasDerivedFrom': pack.sources.map(({ url, title, license }) => ({
      ...{ '@id': url, '@type': ['CreativeWork', 'prov:Entity'] },
      ...{ name: title, url, license },
    })),
    'prov:wasGeneratedBy': {
      '@type': ['CreateAction', 'prov:Activity'],
      name: 'Collection and consolidation of the sources',
      'prov:endedAtTime': { '@value': created_at, '@type': 'http://www.w3.org/2001/XMLSchema#dateTime' },
    },
    distribution: files.map(({ name, description, media_type, bytes, sha256 }) => ({
      '@type': 'cr:FileObject',
      '@id': name,
      name,
      description,
      contentUrl: `${base}/files/${pack.id}/${name}`,
      contentSize: `${bytes} B`,
      encodingFormat: media_type,
      sha256,
    })),
    recordSet: sets.map(recordSet),
  };
  return `${JSON.stringify(metadata, null, 1)}\n`;
}
