// The command of the signing keys: lists them, replaces them, and refuses unknown commands.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHILD_ENV } from '../support/child-env.ts';
import { scratchOfAll } from '../support/night-pack.ts';

const dataDir = scratchOfAll();

function run(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const env = { ...CHILD_ENV, DATA_DIR: dataDir };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(import.meta.dirname, '../../build/cli/keys.ts'), ...words],
      { env },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
}

/** Thumbprints in a list, by ring. */
const listed = (out: string) => {
  const [tokens = '', crawler = ''] = out.split(/^crawler:/m);
  return { tokens: tokens.match(/^ {2}[\w-]{43}/gm) ?? [], crawler: crawler.match(/^ {2}[\w-]{43}/gm) ?? [] };
};

test.each(['crawler', 'tokens'] as const)(
  'rotate %s puts a new key in front and keeps the one before',
  async (ring) => {
    const before = listed((await run()).out);
    const rotated = await run('rotate', ring);
    expect(rotated).toMatchObject({ code: 0, err: '' });
    const [made = ''] = rotated.out.match(/[\w-]{43}/) ?? [];
    const after = listed((await run()).out);
    expect(after[ring]).toEqual([`  ${made}`, ...before[ring]]);
    const other = ring === 'crawler' ? 'tokens' : 'crawler';
    expect(after[other]).toEqual(before[other]);
  },
);

test('nothing private is printed, and an unknown command prints the usage', async () => {
  expect((await run()).out).not.toMatch(/"d"|PRIVATE/);
  for (const words of [['mend'], ['rotate'], ['rotate', 'all'], ['rotate', 'crawler', 'now'], ['forget']])
    expect(await run(...words)).toMatchObject({ code: 2, err: expect.stringMatching(/^usage: npm run keys /) });
});
