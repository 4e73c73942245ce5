// GET /v1/{ds}/entities/batch: up to 100 records at once, priced as that many gets.
import { z } from 'zod';
import type { PublicRecord } from '../../data/model.ts';
import { type BatchInput, parseBatch } from '../../data/parse.ts';
import { getBatch } from '../../data/records.ts';
import { blocks, escapeText } from '../formats/markdown.ts';
import { recordMarkdown } from '../formats/record-template.ts';
import { operation } from '../operation.ts';
import { type About, aboutDataset, releaseOf } from './about.ts';
import { FIELDS_INPUT } from './inputs.ts';

type Batch = { items: PublicRecord[]; missing: string[] } & About;

export const entity_batch = operation<BatchInput, Batch>({
  name: 'entity_batch',
  title: 'Get several records',
  description: 'Up to 100 records by id or slug, in the order asked; unknown ones are listed in missing.',
  route: { method: 'GET', path: '/v1/:ds/entities/batch' },
  group: 'records',
  access: 'paid',
  price: { of: 'get', times: ({ ids }) => ids.length },
  formats: ['json', 'markdown'],
  input: () =>
    z.object({
      ids: z.union([z.array(z.string()).max(100), z.string()]).describe('Ids or slugs (list or commas)'),
      ...FIELDS_INPUT,
    }),
  parse: (raw, ctx) => parseBatch(raw, releaseOf(ctx).pack, { path: ['ds'] }),
  names: ({ names }) => names,
  run: async (input, ctx) => {
    const release = releaseOf(ctx);
    const found = await getBatch(release, input, ctx);
    return { body: { ...found, ...aboutDataset(release.pack, ctx.base_url) }, records: found.items.length };
  },
  markdown: ({ items, missing, attribution, license }, ctx) => {
    const { pack } = releaseOf(ctx);
    return blocks(
      ...items.map((record) => recordMarkdown(record, pack).trim()),
      missing.length > 0 && `Missing: ${missing.map(escapeText).join(', ')}`,
      `${escapeText(attribution)} License: ${escapeText(license)}`,
    );
  },
});
