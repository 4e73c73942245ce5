// The free public page of a record as HTML and Markdown, for paths without a file; samples have one too.

import { parameters } from '../../../data/input/parameters.ts';
import { ENTITY_ID, optionalText } from '../../../data/input/rows.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { unknownEntity } from '../../../data/queries/nearest.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { embedHtml, recordHtml } from '../../pages/record-html.ts';
import { publicPageRecord, recordPage } from '../../pages/record-markdown.ts';
import { recordMarkdown } from '../../render/record-template.ts';
import { releaseOf } from '../common/about.ts';
import { inputOf } from '../common/inputs.ts';
import { loadRelated, NO_RELATED } from '../common/related.ts';
import { sampleRecords } from '../dataset/dataset_samples.ts';

const EMBED = optionalText('Attribute whose chart alone is shown, for a frame of another site');

interface PageInput {
  entity_id: string;
  /** Attribute whose chart alone is shown, for frames of other sites. */
  embed: string | null;
}

/** The page of a slug or id: of the record, else of a sample, whose links lead here too. */
async function page(
  { entity_id: ref, embed }: PageInput,
  ctx: Context,
): Promise<{ text: string; last_modified?: string; framed?: true }> {
  const release = releaseOf(ctx);
  const { engine, pack } = release;
  const { base_url, signal, now } = ctx;
  const html = ctx.format === 'html';
  const [ordinal] = await engine.resolve([ref.toLowerCase()], { signal });
  if (ordinal !== null && ordinal !== undefined) {
    const [stored] = await engine.bodies([ordinal], { signal });
    const record = JSON.parse(stored?.body ?? '') as StoredRecord;
    const last_modified = record.updated_at;
    if (!html) return { text: recordPage(record, pack, base_url), last_modified };
    // The related data changes with every release, so the time of the record is not the time of the page.
    const related = await loadRelated(release, record, ordinal, now, { signal });
    const open = publicPageRecord(record, pack, base_url);
    const locked = pack.attributes.filter(
      (attribute) => !attribute.public && record.attributes[attribute.name] !== undefined,
    ).length;
    const shown = { record: open, pack, base_url, related, paid: false, locked };
    const chart = embed === null ? null : embedHtml(shown, embed);
    return chart === null ? { text: recordHtml(shown) } : { text: chart, framed: true };
  }
  const sample = sampleRecords(release, ctx).find(({ slug }) => slug === ref);
  if (!sample) throw await unknownEntity(release, ref, { signal });
  if (!html) return { text: recordMarkdown(sample, pack) };
  return { text: recordHtml({ record: sample, pack, base_url, related: NO_RELATED, paid: true, locked: 0 }) };
}

export const entity_page = operation<PageInput, { text: string }>({
  name: 'entity_page',
  title: 'Public page of a record',
  description: 'The public values of one record with their sources, as a page or in Markdown. Free.',
  rest: { method: 'GET', path: '/datasets/:ds/:entity_id', html: { print: ({ text }) => text, first: true } },
  charge: { access: 'free' },
  tool: {
    resource_only: true,
    long: { part: 'text', more: 'entity_get with fields answers single values.' },
    resource: 'service://{dataset}/entity/{entity_id}',
  },
  docs: { group: 'records' },
  formats: ['text', 'markdown'],
  ...inputOf(parameters({ entity_id: ENTITY_ID, embed: EMBED })),
  run: async (input, ctx) => {
    const { text, ...about } = await page(input, ctx);
    return { body: { text }, ...about };
  },
  markdown: ({ text }) => text,
});
