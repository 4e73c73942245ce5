// Two registers built from one checkout at the same moment, as where one program serves several.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSite } from './world.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What a build of pages might leave in the checkout, and when each of it was changed. */
function checkout(): Record<string, number> {
  const names = readdirSync(ROOT).filter((name) => /^(?:\.(?!git$)|site$|dist$)/.test(name));
  return Object.fromEntries(names.map((name) => [name, statSync(join(ROOT, name)).mtimeMs]));
}

test('the pages of both are whole, and nothing is written into the checkout', async () => {
  const before = checkout();
  const [one, two] = await Promise.all([openSite(), openSite()]);
  try {
    expect(one.pages.size).toBeGreaterThan(30);
    expect([...two.pages.keys()]).toEqual([...one.pages.keys()]);
    expect(checkout()).toEqual(before);
  } finally {
    await Promise.all([one.close(), two.close()]);
  }
}, 180_000);
