// A record in the words of schema.org, for search engines: what is shown on its page, and no more.
import type { PublicRecord } from '../../data/model/record.ts';
import { datasetUrl, recordUrl } from '../../packs/links.ts';
import type { Pack } from '../../packs/model.ts';
import { printValue } from '../render/print.ts';

/** JSON text that may stand in a script element of HTML. */
export function recordJsonld(record: PublicRecord, pack: Pack, base_url: string): string {
  const url = recordUrl(base_url, pack.id, record.slug);
  const properties = pack.attributes.flatMap(({ name, unit }) => {
    const value = record.attributes[name];
    if (value === undefined) return [];
    const plain = typeof value === 'number' || typeof value === 'string' ? value : printValue(value);
    return [{ '@type': 'PropertyValue', name, value: plain, ...(unit === null ? {} : { unitText: unit }) }];
  });
  const text = JSON.stringify({
    '@context': 'https://schema.org',
    '@type': 'ItemPage',
    '@id': url,
    url,
    name: record.name,
    dateModified: record.updated_at,
    license: pack.license.url,
    creditText: record.attribution,
    isPartOf: { '@type': 'Dataset', '@id': datasetUrl(base_url, pack.id), name: pack.title },
    mainEntity: { '@type': 'Thing', name: record.name, identifier: record.id, additionalProperty: properties },
  });
  // Nothing of a value may end the script element or begin a comment in it.
  return text.replaceAll('<', '\\u003c');
}
