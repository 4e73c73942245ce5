// Every tool within every limit, on the fictional packs (the real ones: tests/live/agents.live.test.ts).
import { afterAll, expect, it } from 'vitest';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { toolsOf } from '../../../api/render/tools.ts';
import { ADMIN, appOfAll } from '../../support/app.ts';
import { listenerOfAll } from '../../support/listening.ts';
import { expectWithin, LIMITS, someSlugs } from '../../support/long-answers.ts';

const app = await appOfAll({ records: 300, packs: ['app/static/lanterns/input/lanterns'] });
const at = await listenerOfAll(app);
afterAll(async () => {
  expect(app.faults).toEqual([]);
  expect(app.lent()).toBe(0);
});

it.each(LIMITS)(
  'every tool answers within %i tokens, or is refused uncharged',
  async (tokens) => {
    const packs = [...app.register.packs.values()];
    for (const pack of packs) {
      const slugs = await someSlugs(at.base, ADMIN, pack);
      await expectWithin(at.base, ADMIN, { tokens, tools: await toolsOf(OPERATIONS, packs), pack, slugs });
    }
  },
  120_000,
);
