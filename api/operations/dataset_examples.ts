// GET /v1/{ds}/examples: real records, complete and free: the best of each group (pack: group_by, showcase.per_group).
import { z } from 'zod';
import { once } from '../../data/filters.ts';
import type { PublicRecord } from '../../data/model.ts';
import { onlyParameters } from '../../data/parse.ts';
import { text } from '../../data/parse-values.ts';
import { present } from '../../data/present.ts';
import type { Release } from '../../data/release.ts';
import type { Value } from '../../packs/model.ts';
import { fold } from '../../packs/text.ts';
import { blocks, escapeText } from '../formats/markdown.ts';
import { recordMarkdown } from '../formats/record-template.ts';
import { operation } from '../operation.ts';
import { type About, aboutDataset, releaseOf, releaseVersion } from './about.ts';
import { ABOUT_OUTPUT, RECORD_OUTPUT } from './outputs.ts';

type Examples = { group_by: string; items: PublicRecord[] } & About;

/** Groups shown at most, the largest first: enough for every country of the world. */
const GROUPS = 500;

/** Ordinals of the best records of one group. */
async function best({ engine, pack }: Release, value: Value): Promise<number[]> {
  const wanted = typeof value === 'string' ? fold(value) : (value as number | boolean);
  const { ordinals } = await engine.search({
    where: [{ kind: 'any', attribute: pack.group_by, values: [wanted] }],
    sort: { key: 'quality', descending: true },
    after: null,
    limit: pack.serving.showcase.per_group,
    total: false,
  });
  return ordinals;
}

/** The showcase of a release: found once, since it is the same for everybody until the next release. */
const showcases = new WeakMap<Release, Promise<Map<string, number[]>>>();

async function showcase(release: Release): Promise<Map<string, number[]>> {
  const { engine, pack } = release;
  const { values } = await engine.facets({ where: [], by: pack.group_by, limit: GROUPS, floor: 0 });
  const groups = new Map<string, number[]>();
  // One after the other: a showcase is in no hurry, and the engine's queue belongs to callers.
  for (const { value } of values) groups.set(fold(String(value)), await best(release, value));
  return groups;
}

function showcaseOf(release: Release): Promise<Map<string, number[]>> {
  let found = showcases.get(release);
  if (found === undefined) {
    found = showcase(release);
    showcases.set(release, found);
    found.catch(() => showcases.delete(release));
  }
  return found;
}

/** Ordinals to show, best first within the order of the groups; of one group where it is named. */
async function chosen(release: Release, group: string | null): Promise<number[]> {
  if (group !== null && !showcases.has(release)) return best(release, group);
  const groups = await showcaseOf(release);
  return group === null ? [...new Set([...groups.values()].flat())] : (groups.get(fold(group)) ?? []);
}

export const dataset_examples = operation<{ group: string | null }, Examples>({
  name: 'dataset_examples',
  title: 'Real example records',
  description: 'Real records with every value and its provenance, free: the best of each group. group keeps one group.',
  route: { method: 'GET', path: '/v1/:ds/examples' },
  group: 'dataset',
  access: 'free',
  formats: ['json', 'markdown'],
  long: { part: 'items', more: 'group keeps one group.' },
  answers: [{ want: 'a few complete records, to see what there is', query: 'group={value}' }],
  input: () => z.object({ group: z.string().optional().describe('Keeps one group, such as one provider or country') }),
  output: () => z.object({ group_by: z.string(), items: z.array(RECORD_OUTPUT), ...ABOUT_OUTPUT }),
  parse: (raw) => {
    onlyParameters(raw, ['group'], ['ds']);
    const group = raw['group'];
    return { group: group === undefined ? null : text('group', once('group', [group].flat())) };
  },
  version: releaseVersion,
  run: async ({ group }, ctx) => {
    const release = releaseOf(ctx);
    const { pack, engine } = release;
    const ordinals = await chosen(release, group);
    const bodies = await engine.bodies(ordinals, { signal: ctx.signal });
    const all = { now: ctx.now, base_url: ctx.base_url, visibility: 'full' } as const;
    const items = bodies.map(({ body }) => present(body, pack, all));
    return { body: { group_by: pack.group_by, items, ...aboutDataset(pack, ctx.base_url) } };
  },
  markdown: ({ items, group_by, attribution, license }, ctx) => {
    const { pack } = releaseOf(ctx);
    return blocks(
      `# Examples of ${escapeText(pack.title)}: the best records by ${escapeText(group_by)}`,
      ...items.map((record) => recordMarkdown(record, pack).trim()),
      `${escapeText(attribution)} License: ${escapeText(license)}`,
    );
  },
  prerender: (pack) =>
    pack === null
      ? []
      : [
          { file: `v1/${pack.id}/examples`, input: { ds: pack.id }, format: 'json' },
          { file: `v1/${pack.id}/examples.md`, input: { ds: pack.id }, format: 'markdown' },
        ],
});
