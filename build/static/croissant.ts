// Croissant metadata of a dataset (MLCommons Croissant 1.0): the public Parquet file and its columns, for
// loaders and crawlers.

import type { Manifest } from '../../data/model/layout.ts';
import { type Column, dictionary } from '../../data/write/dictionary.ts';
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

const FILE = 'public.parquet';

/**
 * Returns the description as JSON-LD; `parquet` is the published file. Leaves out the nested column with
 * provenance.
 */
export function croissant(
  pack: Pack,
  { release, created_at }: Manifest,
  base: string,
  { bytes, sha256 }: { bytes: number; sha256: string },
): string {
  const field = ({ name, type, description, unit }: Column) => ({
    '@type': 'cr:Field',
    '@id': `records/${name}`,
    name,
    description: unit === null ? description : `${description} (${unit})`,
    dataType: TYPES[type] ?? 'sc:Text',
    ...(type.endsWith('[]') ? { repeated: true } : {}),
    source: { fileObject: { '@id': FILE }, extract: { column: name } },
  });
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
    distribution: [
      {
        '@type': 'cr:FileObject',
        '@id': FILE,
        name: FILE,
        description: 'Public values of every record, each with its provenance',
        contentUrl: `${base}/files/${pack.id}/${FILE}`,
        contentSize: `${bytes} B`,
        encodingFormat: 'application/vnd.apache.parquet',
        sha256,
      },
    ],
    recordSet: [
      {
        '@type': 'cr:RecordSet',
        '@id': 'records',
        name: 'records',
        description: 'One row a record',
        key: { '@id': 'records/id' },
        field: dictionary(pack, 'public', false).map(field),
      },
    ],
  };
  return `${JSON.stringify(metadata, null, 1)}\n`;
}
