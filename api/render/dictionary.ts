// The data dictionary of a dataset: every column of its files, as JSON and as Markdown.

import type { Manifest } from '../../data/model/layout.ts';
import { dictionary, HISTORY_FILE_COLUMNS, HISTORY_ORDER } from '../../data/write/dictionary.ts';
import { datasetAttribution, licenseText } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';
import { bulkFiles, publicPoint } from './data-files.ts';
import { bareUrl, blocks, escapeText, noticeBlocks, table } from './markdown.ts';

/** The files whose columns it describes, by name. */
const describedFiles = (pack: Pack): Record<string, string> => ({
  ...Object.fromEntries(bulkFiles(pack).map(([name, { description }]) => [name, description])),
  'records.parquet': 'all values; GET /v1/{ds}/export?format=parquet answers a link, with a plan',
});

/**
 * `{dataset, title, release, created_at, license, attribution, notice?, files, columns: [{name, type, attribute, unit,
 * description, public}], history: [{name, type, description}]}`: columns of `records.parquet`, and of
 * `history.parquet`.
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
    files: describedFiles(pack),
    columns,
    history: HISTORY_FILE_COLUMNS.map(({ name, type, description }) => ({ name, type, description })),
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
    `Columns of ${bareUrl(`${at}/history.parquet`).text}, which has every public value ever published, sorted by ${HISTORY_ORDER.join(', ')}:`,
    table(
      ['column', 'type', 'meaning'],
      HISTORY_FILE_COLUMNS.map(({ name, type, description }) => [name, type, description]),
    ),
    ...(publicPoint(pack) === undefined
      ? []
      : [
          `${bareUrl(`${at}/public.geojson`).text} has the public values as features: \`id\`, the point as \`geometry\`, and as \`properties\` slug, name, url, updated_at, quality_score and the attributes by name. GIS programs read the same features from ${bareUrl(`${base}/ogc`).text} (OGC API Features, collection ${pack.id}).`,
        ]),
    `License: ${escapeText(licenseText(pack))}. ${escapeText(datasetAttribution(pack, base))}`,
    ...noticeBlocks(pack),
  );
}
