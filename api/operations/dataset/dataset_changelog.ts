// GET /v1/{ds}/changelog: values that appeared or changed, newest first, of the records that the filters match.
import { z } from 'zod';
import { type ChangelogInput, changelogParameters } from '../../../data/input/history-parameters.ts';
import type { ChangeDay, ChangeGroup, KindCounts } from '../../../data/plan/history.ts';
import { type Change, getChangelog } from '../../../data/queries/changelog.ts';
import { hasFilter } from '../../../data/queries/facets.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { PUBLIC_FREE } from '../../contract/pricing.ts';
import { changeFeed } from '../../pages/change-feed.ts';
import { cell } from '../../render/cells.ts';
import { changeTable } from '../../render/change-table.ts';
import { blocks, escapeText, tableOf, tableRow } from '../../render/markdown.ts';
import { type About, aboutDataset, releaseOf } from '../common/about.ts';
import { inputOf, openNames } from '../common/inputs.ts';
import { ABOUT_OUTPUT, CHANGE_OUTPUT, count, KIND_COUNTS_OUTPUT, VALUE } from '../common/outputs.ts';

export type { Change };

type Changelog = { items?: Change[]; groups?: ChangeGroup[]; days?: ChangeDay[] } & Paging & About;
type Paging = { limit: number; offset: number; total: number };

const KIND_COLUMNS = ['increases', 'decreases', 'ranges', 'withdrawn'];
const kindCells = ({ rises, falls, ranges, withdrawn }: KindCounts) => [rises, falls, ranges, withdrawn];

/** The table of groups: the values, counts, and the median in percent. */
function groupTable(groups: readonly ChangeGroup[]): string {
  const rows = groups.map(({ group, items, median_change_percent: median, ...kinds }) =>
    tableRow([cell(group, true), items, ...kindCells(kinds), median]),
  );
  return tableOf(['group', 'changes', ...KIND_COLUMNS, 'median change (%)'], rows);
}

async function markdown(
  { items = [], groups, offset, total, days, attribution, license }: Changelog,
  ctx: Context,
): Promise<string> {
  const { pack } = releaseOf(ctx);
  if (groups)
    return blocks(
      groups.length > 0 && groupTable(groups),
      `Groups ${groups.length === 0 ? 0 : offset + 1} to ${offset + groups.length} of ${total}, most changes first.`,
      `${escapeText(attribution)} License: ${escapeText(license)}`,
    );
  const open = new Set(pack.attributes.filter((attribute) => attribute.public).map(({ name }) => name));
  const end = offset + items.length;
  const range = items.length === 0 ? `None of ${total} changes` : `Changes ${offset + 1} to ${end} of ${total}`;
  const next = end < total && items.length > 0 ? `; continue with offset=${end}` : '';
  const rows = items.length > 0 && (await changeTable(items, pack, (name) => !open.has(name), ctx));
  const counts = days?.map((day) => tableRow([day.date, day.changes, ...kindCells(day)]));
  return blocks(
    rows,
    counts && counts.length > 0 && tableOf(['day', 'changes', ...KIND_COLUMNS], counts),
    `${range}, newest first${next}. All values with their facts: ${ctx.base_url}/v1/${pack.id}/entities/<slug>/facts.md`,
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

/** Parameters that do not select changes. */
const REPRESENTATION = ['format', 'limit', 'offset', 'by_day'];

function atom({ items = [], limit, offset, total }: Changelog, ctx: Context): string {
  const { pack, manifest } = releaseOf(ctx);
  const pairs = [...ctx.url.searchParams].filter(([name]) => !REPRESENTATION.includes(name));
  const path = `${ctx.base_url}/v1/${pack.id}/changelog`;
  const page = (at: number) => {
    const paging = [...(at > 0 ? [['offset', String(at)]] : []), ['limit', String(limit)]];
    return `${path}?${new URLSearchParams([...pairs, ['format', 'atom'], ...paging] as [string, string][])}`;
  };
  // The page shows the main attributes unless its address names others.
  const query = new URLSearchParams([
    ...Object.entries({ attribute: 'all', type: 'all', days: '30', ...Object.fromEntries(pairs) }),
  ]);
  return changeFeed({
    ...{ pack, items, base_url: ctx.base_url, updated: manifest.created_at },
    selection: pairs.map(([name, value]) => `${name}=${value}`).join(', '),
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
    'New and changed values of the last days, newest first, of the records that the filters match; direction keeps one kind of change, min_change_percent great ones. Values of public attributes only.',
  rest: { method: 'GET', path: '/v1/:ds/changelog', atom },
  charge: {
    access: 'free',
    price: { of: 'search', condition: PUBLIC_FREE },
    names: (input) => (hasFilter(input) ? input.names : []),
  },
  tool: {
    long: {
      ...{ part: 'items', further: ['groups'] },
      shorter: (input, limit) => ({ ...input, limit }),
      more: 'Go on with offset.',
    },
  },
  docs: {
    group: 'dataset',
    tasks: [
      {
        want: 'what changed lately: old and new values of a public field',
        query: 'attribute={field}&days={days}&limit={n}',
      },
      {
        want: 'whose number fell (or rose) lately, and by how much',
        query: 'direction=fall&attribute={field}&days={days}&{filters}',
      },
      {
        want: 'which group has the most changes in a time, with the median change',
        query: 'group_by={group}&attribute={field}&from={date}&to={date}&{filters}',
      },
    ],
    example: (pack) => ({ attribute: openNames(pack)[0] ?? '', days: '365', limit: '2' }),
  },
  repeats: true,
  formats: ['json', 'markdown', 'atom'],
  ...inputOf(changelogParameters),
  output: () =>
    z.object({
      items: z.array(CHANGE_OUTPUT).optional().describe('Without group_by'),
      groups: z
        .array(
          z.object({
            group: VALUE.describe('Value that the records have now'),
            items: count('Changes of its records'),
            ...KIND_COUNTS_OUTPUT,
            median_change_percent: z.number().optional().describe('Median change_percent of the items that have one'),
          }),
        )
        .optional()
        .describe('With group_by: most changes first'),
      limit: count('As requested'),
      offset: count('As requested'),
      total: count('Changes that match, or groups'),
      days: z
        .array(
          z.object({
            date: z.iso.date(),
            changes: count('Changes of this day (UTC)'),
            ...KIND_COUNTS_OUTPUT,
          }),
        )
        .optional()
        .describe('With by_day: the days that have changes, newest first'),
      ...ABOUT_OUTPUT,
    }),
  run: async (input, ctx) => {
    const release = releaseOf(ctx);
    const { items, total, days, groups } = await getChangelog(release, input, ctx.now, ctx);
    const { limit, offset } = input;
    const about = aboutDataset(release.pack, ctx.base_url);
    return {
      body: { ...(groups ? { groups } : { items }), limit, offset, total, ...(days ? { days } : {}), ...about },
      empty: (groups ?? items).length === 0,
    };
  },
  markdown,
});
