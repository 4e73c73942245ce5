// GET /v1/{ds}/changelog: values that appeared or changed, newest first, of the records that the filters match.
import { z } from 'zod';
import { type ChangelogInput, changelogParameters } from '../../../data/input/history-parameters.ts';
import { type Change, getChangelog } from '../../../data/queries/changelog.ts';
import { hasFilter } from '../../../data/queries/facets.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { PUBLIC_FREE } from '../../contract/pricing.ts';
import { changeTable } from '../../render/change-table.ts';
import { blocks, escapeText } from '../../render/markdown.ts';
import { type About, aboutDataset, releaseOf } from '../common/about.ts';
import { inputOf, openNames } from '../common/inputs.ts';
import { ABOUT_OUTPUT, CHANGE_OUTPUT, count } from '../common/outputs.ts';

export type { Change };

type Changelog = { items: Change[]; limit: number; offset: number; total: number } & About;

async function markdown({ items, offset, total, attribution, license }: Changelog, ctx: Context): Promise<string> {
  const { pack } = releaseOf(ctx);
  const open = new Set(pack.attributes.filter((each) => each.public).map(({ name }) => name));
  const end = offset + items.length;
  const range = items.length === 0 ? `None of ${total} changes` : `Changes ${offset + 1} to ${end} of ${total}`;
  const next = end < total && items.length > 0 ? `; continue with offset=${end}` : '';
  const rows = items.length > 0 && (await changeTable(items, pack, (name) => !open.has(name), ctx));
  return blocks(
    rows,
    `${range}, newest first${next}. All values with their facts: ${ctx.base_url}/v1/${pack.id}/entities/<slug>/facts.md`,
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

export const dataset_changelog = operation<ChangelogInput, Changelog>({
  name: 'dataset_changelog',
  title: 'What changed lately',
  description:
    'New and changed values of the last days, newest first, of the records that the filters match; direction keeps numbers that rose or fell. Values of public attributes only.',
  route: { method: 'GET', path: '/v1/:ds/changelog' },
  group: 'dataset',
  access: 'free',
  price: { of: 'search', condition: PUBLIC_FREE },
  formats: ['json', 'markdown'],
  long: { part: 'items', shorter: (input, limit) => ({ ...input, limit }), more: 'Go on with offset.' },
  answers: [
    {
      want: 'what changed lately: old and new values of a public field',
      query: 'attribute={field}&days={days}&limit={n}',
    },
    {
      want: 'whose number fell (or rose) lately, and by how much',
      query: 'direction=fall&attribute={field}&days={days}&{filters}',
    },
  ],
  ...inputOf(changelogParameters),
  output: () =>
    z.object({
      items: z.array(CHANGE_OUTPUT),
      limit: count('As requested'),
      offset: count('As requested'),
      total: count('Changes that match'),
      ...ABOUT_OUTPUT,
    }),
  example: (pack) => ({ attribute: openNames(pack)[0] ?? '', days: '365', limit: '2' }),
  names: (input) => (hasFilter(input) ? input.names : []),
  run: async (input, ctx) => {
    const release = releaseOf(ctx);
    const { items, total } = await getChangelog(release, input, ctx.now, ctx);
    const { limit, offset } = input;
    return { body: { items, limit, offset, total, ...aboutDataset(release.pack, ctx.base_url) } };
  },
  markdown,
});
