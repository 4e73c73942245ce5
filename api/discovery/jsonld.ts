// /.well-known/datasets.jsonld: the datasets in schema.org terms, for dataset search engines.

import { datasetUrl, sourceCitation } from '../../packs/define/links.ts';
import type { Context } from '../contract/operation.ts';
import { bulkFiles } from '../render/data-files.ts';
import type { Document, View } from './document.ts';
import { IDENTITY } from './identity.ts';

type Release = NonNullable<Context['release']>;

/** One dataset with its own @context, for its page. */
export function datasetJsonld(release: Release, base_url: string): object {
  return { '@context': 'https://schema.org/', ...dataset(release, { base_url }) };
}

function dataset({ pack, manifest }: Release, { base_url }: Pick<View, 'base_url'>): object {
  const url = datasetUrl(base_url, pack.id);
  const at = `${base_url}/v1/${pack.id}`;
  const file = (name: string, contentUrl: string, encodingFormat: string) => ({
    '@type': 'DataDownload',
    name,
    contentUrl,
    encodingFormat,
  });
  return {
    '@type': 'Dataset',
    '@id': url,
    name: pack.title,
    description: `${pack.description} ${manifest.records} records, each value with its source, time and confidence.`,
    url,
    identifier: pack.id,
    license: pack.license.url,
    creditText: sourceCitation(pack),
    usageInfo: pack.license.url,
    conditionsOfAccess: 'Public values are free, also as files; complete records need a key.',
    creator: { '@type': 'Organization', name: IDENTITY.title, url: `${base_url}/` },
    publisher: { '@type': 'Organization', name: IDENTITY.title, url: `${base_url}/` },
    isBasedOn: pack.sources.map((source) => source.url),
    keywords: pack.keywords,
    version: manifest.release,
    dateModified: manifest.created_at,
    datePublished: manifest.created_at,
    isAccessibleForFree: false,
    // Croissant, for machine-learning data loaders.
    subjectOf: {
      '@type': 'MediaObject',
      contentUrl: `${base_url}/files/${pack.id}/croissant.jsonld`,
      encodingFormat: 'application/ld+json',
    },
    includedInDataCatalog: { '@id': `${base_url}/#catalog` },
    variableMeasured: pack.attributes.map(({ name, description, unit }) => ({
      '@type': 'PropertyValue',
      name,
      description,
      ...(unit === null ? {} : { unitText: unit }),
    })),
    distribution: [
      ...bulkFiles(pack).map(([name, { description, media_type }]) =>
        file(description, `${base_url}/files/${pack.id}/${name}`, media_type),
      ),
      file('Public values of every record', `${at}/llms-full.txt`, 'text/plain'),
      file('Real example records', `${at}/examples`, 'application/json'),
      file('Records', `${at}/entities`, 'application/json'),
    ],
  };
}

export const datasetsJsonld: Document = {
  path: '/.well-known/datasets.jsonld',
  title: 'Datasets in schema.org terms',
  rel: 'describedby',
  content_type: 'application/ld+json',
  text: (view) =>
    JSON.stringify({
      '@context': 'https://schema.org/',
      '@type': 'DataCatalog',
      '@id': `${view.base_url}/#catalog`,
      name: IDENTITY.title,
      description: IDENTITY.description,
      url: `${view.base_url}/`,
      dataset: view.releases.map((release) => dataset(release, view)),
    }),
};
