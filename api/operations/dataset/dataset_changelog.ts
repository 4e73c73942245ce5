// GET /v1/{ds}/changelog: values that appeared or changed, newest first, of the records that the filters match.
import { z } from 'zod';
import { type ChangelogInput, changelogParameters } from '../../../data/input/history-parameters.ts';
import type { ChangeDay } from '../../../data/plan/history.ts';
import { type Change, getChangelog } from '../../../data/queries/changelog.ts';
import { hasFilter } from '../../../data/queries/facets.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { PUBLIC_FREE } from '../../contract/pricing.ts';
import { changeFeed } from '../../pages/change-feed.ts';
import { changeTable } from '../../render/change-table.ts';
import { blocks, escapeText, tableOf, tableRow } from '../../render/markdown.ts';
import { type About, aboutDataset, releaseOf } from '../common/about.ts';
import { inputOf, openNames } from '../common/inputs.ts';
import { ABOUT_OUTPUT, CHANGE_OUTPUT, count } from '../common/outputs.ts';

export type { Change };

type Changelog = { items: Change[]; limit: number; offset: number; total: number; days?: ChangeDay[] } & About;

async function markdown(
  { items, offset, total, days, attribution, license }: Changelog,
  ctx: Context,
): Promise<string> {
  const { pack } = releaseOf(ctx);
  const open = new Set(pack.attributes.filter((each) => each.public).map(({ name }) => name));
  const end = offset + items.length;
  const range = items.length === 0 ? `None of ${total} changes` : `Changes ${offset + 1} to ${end} of ${total}`;
  const next = end < total && items.length > 0 ? `; continue with offset=${end}` : '';
  const rows = items.length > 0 && (await changeTable(items, pack, (name) => !open.has(name), ctx));
  const counts = days?.map((day) => tableRow([day.date, day.changes, day.rises, day.falls]));
  return blocks(
    rows,
    counts && counts.length > 0 && tableOf(['day', 'changes', 'rises', 'falls'], counts),
    `${range}, newest first${next}. All values with their facts: ${ctx.base_url}/v1/${pack.id}/entities/<slug>/facts.md`,
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

/** Parameters that do not select changes. */
const REPRESENTATION = ['format', 'limit', 'offset', 'by_day'];

function atom({ items, limit, offset, total }: Changelog, ctx: Context): string {
  const { pack, manifest } = releaseOf(ctx);
  const given = [...ctx.url.searchParams].filter(([name]) => !REPRESENTATION.includes(name));
  const path = `${ctx.base_url}/v1/${pack.id}/changelog`;
  const page = (at: number) => {
    const paging = [...(at > 0 ? [['offset', String(at)]] : []), ['limit', String(limit)]];
    return `${path}?${new URLSearchParams([...given, ['format', 'atom'], ...paging] as [string, string][])}`;
  };
  // The page shows the main attributes unless its address names others.
  const query = new URLSearchParams([
    ...Object.entries({ attribute: 'all', type: 'all', days: '30', ...Object.fromEntries(given) }),
  ]);
  return changeFeed({
    ...{ pack, items, base_url: ctx.base_url, updated: manifest.created_at },
    selection: given.map(([name, value]) => `${name}=${value}`).join(', '),
    links: {
      self: page(offset),
      alternate: `${ctx.base_url}/changes/${pack.id}/?${query}`,
      first: page(0),
      ...(offset > 0 ? { previous: page(Math.max(0, offset - limit)) } : {}),
      ...(offset + items.length < total && items.length > 0 ? { next: page(offset + items.length) } : {}),
    },
  });
}

export const dataset_changelog = operation<ChangelogInput, Changelog>({
  name: 'dataset_changelog',
  title: 'What changed lately',
  description:
    'New and changed values of the last days, newest first, of the records that the filters match; direction and min_change_percent keep numbers that rose or fell. Values of public attributes only.',
  route: { method: 'GET', path: '/v1/:ds/changelog' },
  group: 'dataset',
  repeats: true,
  access: 'free',
  price: { of: 'search', condition: PUBLIC_FREE },
  formats: ['json', 'markdown', 'atom'],
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
      days: z
        .array(
          z.object({
            date: z.iso.date(),
            changes: count('Changes of this day (UTC)'),
            rises: count('Public numbers among them that rose'),
            falls: count('Public numbers among them that fell'),
          }),
        )
        .optional()
        .describe('With by_day: the days that have changes, newest first'),
      ...ABOUT_OUTPUT,
    }),
  example: (pack) => ({ attribute: openNames(pack)[0] ?? '', days: '365', limit: '2' }),
  names: (input) => (hasFilter(input) ? input.names : []),
  run: async (input, ctx) => {
    const release = releaseOf(ctx);
    const { items, total, days } = await getChangelog(release, input, ctx.now, ctx);
    const { limit, offset } = input;
    const about = aboutDataset(release.pack, ctx.base_url);
    return { body: { items, limit, offset, total, ...(days ? { days } : {}), ...about } };
  },
  markdown,
  atom,
});
