// Public addresses and the text to cite with, the same in every channel (contract section 2).
import type { Pack } from './model.ts';

/** Public page of a record: `{base}/datasets/{dataset}/{slug}`. Its static Markdown is the same with `.md`. */
export function recordUrl(base: string, dataset: string, slug: string): string {
  return `${datasetUrl(base, dataset)}/${slug}`;
}

/** Public page of a dataset. */
export function datasetUrl(base: string, dataset: string): string {
  return `${base}/datasets/${dataset}`;
}

/** Ready-to-paste citation of one record; ends with the record's public page. */
export function attributionFor(pack: Pack, base: string, slug: string, name?: string): string {
  return `${name === undefined ? '' : `${name}. `}${cited(pack)} ${recordUrl(base, pack.id, slug)}`;
}

/** Ready-to-paste citation of answers about the whole dataset; ends with the dataset's public page. */
export function datasetAttribution(pack: Pack, base: string): string {
  return `${cited(pack)} ${datasetUrl(base, pack.id)}`;
}

/** The `license` of every answer: name and link. */
export function licenseText(pack: Pack): string {
  return `${pack.license.name} (${pack.license.url})`;
}

/** Title and sources, without an address. */
export function cited(pack: Pack): string {
  return `${pack.title}. ${pack.attribution.replace(/[.\s]+$/, '')}.`;
}

/** Paths under the base URL that access tokens may be issued for, each with metadata of its own; '' is the whole service. */
export const TOKEN_RESOURCES = ['', '/v1', '/mcp', '/mcp/account'] as const;
