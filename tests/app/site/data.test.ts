// The pages for people when their data cannot be gathered.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Output } from '../../../build/static/output.ts';
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
