// The free public page of a record in Markdown, for addresses that no file answers yet; samples have one too.
import { z } from 'zod';
import { DataError } from '../../data/errors.ts';
import type { StoredRecord } from '../../data/model.ts';
import { onlyParameters } from '../../data/parse.ts';
import { shown } from '../../data/parse-values.ts';
import type { RawInput } from '../../data/plan.ts';
import { recordPage } from '../formats/page.ts';
import { recordMarkdown } from '../formats/record-template.ts';
import { type Context, operation } from '../operation.ts';
import { releaseOf } from './about.ts';
import { sampleRecords } from './dataset_samples.ts';
import { ENTITY_INPUT } from './inputs.ts';

/** The page of a slug or id: the record's, else a sample's, whose links lead here too. */
async function page(ref: string, ctx: Context): Promise<{ text: string; last_modified?: string }> {
  const release = releaseOf(ctx);
  const { engine, pack } = release;
  const [ordinal] = await engine.resolve([ref.toLowerCase()], { signal: ctx.signal });
  if (ordinal !== null && ordinal !== undefined) {
    const [stored] = await engine.bodies([ordinal], { signal: ctx.signal });
    const record = JSON.parse(stored?.body ?? '') as StoredRecord;
    return { text: recordPage(record, pack, ctx.base_url), last_modified: record.updated_at };
  }
  const sample = sampleRecords(release, ctx).find(({ slug }) => slug === ref);
  if (sample) return { text: recordMarkdown(sample, pack) };
  throw new DataError('unknown_entity', `${pack.id} has no record "${shown(ref)}".`);
}

export const entity_page = operation<RawInput, { text: string }>({
  name: 'entity_page',
  title: 'Public page of a record',
  description: 'The public values of one record in Markdown, with their sources. Free.',
  route: { method: 'GET', path: '/datasets/:ds/:entity_id' },
  group: 'records',
  access: 'free',
  tool: false,
  formats: ['text', 'markdown'],
  resource: 'service://{dataset}/entity/{entity_id}',
  input: () => z.object(ENTITY_INPUT),
  parse: (raw) => {
    onlyParameters(raw, [], ['ds', 'entity_id']);
    return raw;
  },
  run: async (raw, ctx) => {
    const { text, last_modified } = await page(String(raw['entity_id']), ctx);
    return { body: { text }, ...(last_modified === undefined ? {} : { last_modified }) };
  },
  markdown: ({ text }) => text,
});
