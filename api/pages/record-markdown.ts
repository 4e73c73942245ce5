// The free Markdown page of a record: its public values in the template of the dataset, their sources, and
// further links.
import type { PublicRecord, StoredRecord } from '../../data/model/record.ts';
import { goneNote } from '../../data/queries/gone.ts';
import { attributionFor, datasetUrl, licenseText, recordUrl } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';
import { packPrice } from '../contract/pricing.ts';
import { escapeText, link, noticeBlocks, table } from '../render/markdown.ts';
import { recordMarkdown } from '../render/record-template.ts';

/**
 * The public view of a record for a page that is written once: public attributes only, and no ages, because a
 * file would show outdated ones; `observed_at` is shown with each value instead.
 */
export function publicPageRecord(stored: StoredRecord, pack: Pack, base: string): PublicRecord {
  const attributes: PublicRecord['attributes'] = {};
  const provenance: PublicRecord['provenance'] = {};
  for (const { name, public: open } of pack.attributes) {
    const [value, source] = [stored.attributes[name], stored.provenance[name]];
    if (!open || value === undefined || source === undefined) continue;
    attributes[name] = value;
    provenance[name] = source;
  }
  return {
    ...stored,
    attributes,
    provenance,
    freshness: {},
    url: recordUrl(base, pack.id, stored.slug),
    license: licenseText(pack),
    attribution: attributionFor(pack, base, stored.slug, stored.name),
  };
}

/**
 * Markdown of the page at `{base}/datasets/{ds}/{slug}.md`. `stored` may contain paid values; only public
 * ones are printed.
 */
export function recordPage(stored: StoredRecord, pack: Pack, base: string): string {
  const record = publicPageRecord(stored, pack, base);
  const parts = [recordMarkdown(record, pack).trimEnd()];
  const gone = goneNote(pack, record);
  if (gone !== null) parts.push(escapeText(gone));
  if (!shows(pack).provenance) parts.push(sources(record));
  parts.push(links(record, pack, base), ...noticeBlocks(pack));
  return `${parts.join('\n\n')}\n`;
}

/**
 * Whether the template of the dataset prints provenance row by row; otherwise the page adds the table itself.
 */
function shows(pack: Pack): { provenance: boolean } {
  return { provenance: /\brows\b/.test(pack.template) };
}

function sources(record: PublicRecord): string {
  return table(
    ['attribute', 'source', 'observed', 'confidence'],
    Object.entries(record.provenance).map(([name, { source_url, observed_at, confidence }]) => [
      name,
      link('source', source_url),
      observed_at,
      confidence,
    ]),
  );
}

/** Further links: the dataset, its guide, the same record with every value. */
function links(record: PublicRecord, pack: Pack, base: string): string {
  const api = `${base}/v1/${pack.id}`;
  const paid = pack.attributes.filter((attribute) => !attribute.public).length;
  const more = paid === 0 ? '' : `, ${paid} more attributes where known`;
  const lines = [
    `- Dataset: [${escapeText(pack.title)}](${datasetUrl(base, pack.id)}/), [guide for agents](${api}/llms.txt)`,
    `- With evidence and ages${more}: ${api}/entities/${record.id} (${packPrice(pack, 'get')} EUR)`,
    `- Record ${record.id}, changed ${record.updated_at}`,
  ];
  return lines.join('\n');
}
