// Two registers built from one checkout at the same moment, as when one program serves several.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSite } from '../../support/site-world.ts';

test('the pages of both are complete, and temporary modules are not written to the checkout', async () => {
  const [one, two] = await Promise.all([openSite(), openSite()]);
  try {
    expect(one.pages.size).toBeGreaterThan(30);
    expect([...two.pages.keys()]).toEqual([...one.pages.keys()]);
    expect(existsSync(join(import.meta.dirname, '../../../.astro/.prerender'))).toBe(false);
  } finally {
    await Promise.all([one.close(), two.close()]);
  }
}, 180_000);
