// GET /v1/{ds}/changes: the full change feed after a moment, for clients that keep a copy; part of the plans.

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type ChangesInput, changesParameters } from '../../../data/input/history-parameters.ts';
import { CHANGES_A_SLICE } from '../../../data/plan/slices.ts';
import { type FeedChange, getChanges } from '../../../data/queries/changes.ts';
import { releaseTag } from '../../../data/releases/release.ts';
import { operation } from '../../contract/operation.ts';
import { changeTable } from '../../render/change-table.ts';
import { blocks, escapeText } from '../../render/markdown.ts';
import { plural } from '../../render/print.ts';
import { type About, aboutDataset, releaseOf } from '../common/about.ts';
import { inputOf } from '../common/inputs.ts';
import { longListResult } from '../common/list-result.ts';
import { ABOUT_OUTPUT, FED_CHANGE_OUTPUT, time } from '../common/outputs.ts';

/** Milliseconds between two looks for a change, of which a call holds a lease each. */
const POLL = 500;

type Changes = { items: FeedChange[]; next_since: string } & About;

export const dataset_changes = operation<ChangesInput, Changes>({
  name: 'dataset_changes',
  title: 'Follow every change',
  description:
    'Every change of every value after a moment, oldest first, values included. Continue with since=next_since: no change is missed or repeated.',
  rest: { method: 'GET', path: '/v1/:ds/changes' },
  charge: { access: 'plan' },
  tool: {
    long: { part: 'items', shorter: (input, limit) => ({ ...input, limit }), more: 'Continue with since=next_since.' },
  },
  docs: { group: 'dataset', tasks: [{ want: 'every change since a time, to update a copy', query: 'since={time}' }] },
  formats: ['json', 'markdown'],
  ...inputOf(changesParameters),
  output: () =>
    z.object({
      items: z.array(FED_CHANGE_OUTPUT),
      next_since: time('Pass it as `since` in the next request'),
      ...ABOUT_OUTPUT,
    }),
  run: async (input, ctx) => {
    const release = releaseOf(ctx);
    const options = { signal: ctx.signal };
    let page = await getChanges(release, input, options);
    const end = performance.now() + input.wait * 1000;
    for (let tag = releaseTag(release); page.items.length === 0 && performance.now() < end; ) {
      await sleep(POLL, undefined, { ...options, ref: false }).catch(() => {});
      const newer = ctx.signal.aborted ? null : ctx.leaseOther?.(release.pack.id);
      if (!newer) break;
      if (releaseTag(newer) !== tag) page = await getChanges(newer, input, options);
      tag = releaseTag(newer);
    }
    return longListResult<Changes>({ ...page, ...aboutDataset(release.pack, ctx.base_url) }, CHANGES_A_SLICE, ctx);
  },
  markdown: async ({ items, next_since, attribution, license }, ctx) =>
    blocks(
      items.length > 0 && (await changeTable(items, releaseOf(ctx).pack, () => false, ctx)),
      `${plural(items.length, 'change')}, oldest first. Continue with since=${next_since}`,
      `${escapeText(attribution)} License: ${escapeText(license)}`,
    ),
});
