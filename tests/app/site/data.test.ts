// The pages for people when their data cannot be gathered, and the program that renders them.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { Output } from '../../../build/static/output.ts';
import { pagesProgram } from '../../../build/static/pages-program.ts';
import { writeSite } from '../../../build/static/pages-site.ts';

test('the error is thrown, and no page is written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'site-data-'));
  try {
    const output = new Output(join(folder, 'dist'));
    const data = () => Promise.reject(new Error('no examples'));
    const scratch = join(folder, 'scratch');
    const made = writeSite({ inputs: '', data, base: 'http://localhost:8787', scratch }, output);
    await expect(made).rejects.toThrow('no examples');
    expect([...output.files.keys()]).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);

test('pages are compiled once for a path', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'site-program-'));
  const compile = (path: string, scratch: string) => pagesProgram('test', path, join(folder, scratch));
  const programs = [await compile('/', 'first'), await compile('/', 'second'), await compile('/data', 'third')];
  try {
    const [first, second, third] = programs;
    expect(second).toEqual(first);
    expect(third!.entry).not.toBe(first!.entry);
    for (const { entry, assets } of programs) expect([entry, assets].every(existsSync)).toBe(true);
    // Astro works in the folder for temporary files.
    expect(['first', 'second', 'third'].filter((name) => existsSync(join(folder, name)))).toEqual(['first', 'third']);
  } finally {
    for (const { assets } of programs) rmSync(dirname(assets), { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
