// Public addresses and citations, the same in every channel (contract section 2).
import type { Pack } from './model.ts';

/** Public page of a record: `{base}/datasets/{dataset}/{slug}`; with `.md` its static Markdown. */
export function recordUrl(base: string, dataset: string, slug: string): string {
  return `${datasetUrl(base, dataset)}/${slug}`;
}

/** Public page of a dataset. */
export function datasetUrl(base: string, dataset: string): string {
  return `${base}/datasets/${dataset}`;
}

/** Citation of one record; ends with the record's public page. */
export function attributionFor(pack: Pack, base: string, slug: string, name?: string): string {
  return `${name === undefined ? '' : `${name}. `}${sourceCitation(pack)} ${recordUrl(base, pack.id, slug)}`;
}

/** Citation of the whole dataset; ends with the dataset's public page. */
export function datasetAttribution(pack: Pack, base: string): string {
  return `${sourceCitation(pack)} ${datasetUrl(base, pack.id)}`;
}

/** The `license` of every answer: name and URL. */
export function licenseText(pack: Pack): string {
  return `${pack.license.name} (${pack.license.url})`;
}

/** Title and sources, without an address. */
export function sourceCitation(pack: Pack): string {
  return `${pack.title}. ${pack.attribution.replace(/[.\s]+$/, '')}.`;
}

/**
 * Paths under the base URL for which access tokens are issued, each with its own metadata; '' is the whole
 * service.
 */
export const TOKEN_RESOURCES = ['', '/v1', '/mcp', '/mcp/account'] as const;
