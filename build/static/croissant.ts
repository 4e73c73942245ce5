// Croissant metadata of a dataset (MLCommons Croissant 1.0): its public files, and the columns of the records
// and of their history, for loaders and crawlers.

import type { Manifest } from '../../data/model/layout.ts';
import { type Column, dictionary, HISTORY_FILE_COLUMNS } from '../../data/write/dictionary.ts';
import { datasetAttribution, datasetUrl } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';

/** Terms of Croissant's own vocabulary. */
const TERMS = [
  'citeAs',
  'column',
  'extract',
  'field',
  'fileObject',
  'fileProperty',
  'fileSet',
  'format',
  'includes',
  'isLiveDataset',
  'jsonPath',
  'key',
  'md5',
  'parentField',
  'path',
  'recordSet',
  'references',
  'regex',
  'repeated',
  'replace',
  'separator',
  'source',
  'subField',
  'transform',
] as const;

/** The complete context of Croissant 1.0, appendix 1: loaders compare it and warn about a shorter one. */
const CONTEXT = {
  '@language': 'en',
  '@vocab': 'https://schema.org/',
  cr: 'http://mlcommons.org/croissant/',
  rai: 'http://mlcommons.org/croissant/RAI/',
  dct: 'http://purl.org/dc/terms/',
  sc: 'https://schema.org/',
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
export interface DescribedFile {
  name: string;
  description: string;
  media_type: string;
  bytes: number;
  sha256: string;
}

/** A table of a file; `key` names the columns that identify a row. */
interface RecordSet {
  name: string;
  file: string;
  description: string;
  key: readonly string[];
  columns: readonly Column[];
}

const RECORDS = { name: 'records', file: 'public.parquet', description: 'One row a record', key: ['id'] };
const HISTORY = {
  name: 'history',
  file: 'history.parquet',
  description: 'One row for each public value ever published, with the time during which it was valid',
  key: ['id', 'attribute', 'valid_from'],
};

function recordSet({ name: set, file, description, key, columns }: RecordSet): object {
  const keys = key.map((column) => ({ '@id': `${set}/${column}` }));
  const field = ({ name, type, description, unit }: Column) => ({
    '@type': 'cr:Field',
    '@id': `${set}/${name}`,
    name,
    description: unit === null ? description : `${description} (${unit})`,
    dataType: TYPES[type] ?? 'sc:Text',
    ...(type.endsWith('[]') ? { repeated: true } : {}),
    source: { fileObject: { '@id': file }, extract: { column: name } },
  });
  const [only, ...more] = keys;
  const about = { name: set, description, key: more.length === 0 ? only : keys };
  return { '@type': 'cr:RecordSet', '@id': set, ...about, field: columns.map(field) };
}

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
    conformsTo: 'http://mlcommons.org/croissant/1.0',
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
