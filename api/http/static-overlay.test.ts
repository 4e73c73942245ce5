// BASE_URL of the published files, as read from the list of published releases.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { publishedBaseUrl } from './static-overlay.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A DIST_DIR with this text as its list. */
function dist(text: string | null): string {
  const folder = mkdtempSync(join(tmpdir(), 'fresh-'));
  folders.push(folder);
  mkdirSync(join(folder, '.build'));
  if (text !== null) writeFileSync(join(folder, '.build/published'), text);
  return folder;
}

test('a list that is missing, cut off or of another shape tells nothing, and upsets nothing', async () => {
  const whole = JSON.stringify({ base_url: 'https://h.example', overlays: { tools: 3 } });
  expect(await publishedBaseUrl(dist(whole))).toBe('https://h.example');
  for (const text of [null, '', whole.slice(0, -2), '[]', 'null', '{"base_url":7}'])
    expect(await publishedBaseUrl(dist(text)), String(text)).toBeNull();
});
