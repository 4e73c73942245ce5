// The data dictionary of a dataset: every column of its files, as JSON and as Markdown.

import type { Manifest } from '../../data/model/layout.ts';
import { dictionary } from '../../data/write/dictionary.ts';
import { datasetAttribution, licenseText } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';
import { bareUrl, blocks, escapeText, noticeBlocks, table } from './markdown.ts';

/** The files whose columns it describes, by name. */
export const DATA_FILES = {
  'public.parquet': 'public values of every record, with provenance; open',
  'public.duckdb': 'public values of every record without provenance, in the table records; open',
  'records.parquet': 'all values; GET /v1/{ds}/export?format=parquet answers a link, with a plan',
};

/**
 * `{dataset, title, release, created_at, license, attribution, notice?, files, columns: [{name, type, attribute, unit,
 * description, public}]}`.
 */
export function dictionaryJson(pack: Pack, { release, created_at, records }: Manifest, base: string): string {
  const { id: dataset, title, description, license } = pack;
  const attribution = datasetAttribution(pack, base);
  const columns = dictionary(pack, 'all');
  const document = {
    dataset,
    title,
    description,
    release,
    created_at,
    records,
    license,
    attribution,
    ...(pack.notice === undefined ? {} : { notice: pack.notice }),
    files: DATA_FILES,
    columns,
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

export function dictionaryMarkdown(pack: Pack, { release, created_at, records }: Manifest, base: string): string {
  const at = `${base}/files/${pack.id}`;
  const rows = dictionary(pack, 'all').map(({ name, type, unit, public: open, description }) => {
    return [name, type, unit, open ? 'public' : 'paid', description];
  });
  return blocks(
    `# Data dictionary of ${escapeText(pack.title)}`,
    `Release ${release} of ${created_at}: ${records} records.`,
    `Public columns: ${bareUrl(`${at}/public.parquet`).text} (with provenance) and ${bareUrl(`${at}/public.duckdb`).text} (table records). All columns: ${bareUrl(`${base}/v1/${pack.id}/export?format=parquet`).text} answers a link, with a plan.`,
    table(['column', 'type', 'unit', 'access', 'meaning'], rows),
    `License: ${escapeText(licenseText(pack))}. ${escapeText(datasetAttribution(pack, base))}`,
    ...noticeBlocks(pack),
  );
}
