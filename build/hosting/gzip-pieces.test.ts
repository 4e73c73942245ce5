// gzip copies in pieces: one valid stream, and after an edit almost all pieces of the old copy.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gzipInPieces, piecesOf } from './gzip-pieces.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pieces-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const lines = Array.from(
  { length: 60_000 },
  (_, i) => `## Record ${i}\n- ${(i * 7919) % 104_729}: ${'ü'.repeat(i % 90)}\n`,
);
const edited = lines.with(31_000, '## A much longer name than before\n');

async function copyOf(text: string): Promise<{ copy: Buffer; pieces: string[] }> {
  const [from, to] = [join(folder, 'text'), join(folder, 'text.gz')];
  writeFileSync(from, text);
  await gzipInPieces(from, to);
  return { copy: readFileSync(to), pieces: readFileSync(`${to}.pieces`, 'utf8').trimEnd().split('\n').slice(1) };
}

test('pieces are the text, and an edit changes one or two of many', () => {
  const [before, after] = [lines, edited].map((text) => piecesOf(Buffer.from(text.join('')))) as [Buffer[], Buffer[]];
  expect(Buffer.concat(before).toString()).toBe(lines.join(''));
  expect(before.length).toBeGreaterThan(6);
  const known = new Set(before.map((piece) => piece.toString()));
  expect(after.filter((piece) => !known.has(piece.toString())).length).toBeLessThan(3);
});

test('a copy is one gzip stream, also with pieces of the old copy, and equal to a new one', async () => {
  const first = await copyOf(lines.join(''));
  expect(gunzipSync(first.copy).toString()).toBe(lines.join(''));
  const changed = await copyOf(edited.join(''));
  expect(gunzipSync(changed.copy).toString()).toBe(edited.join(''));
  rmSync(join(folder, 'text.gz'));
  expect(await copyOf(edited.join(''))).toEqual(changed);
});

test('pieces of a copy that is not the noted one are not used', async () => {
  await copyOf(lines.join(''));
  writeFileSync(join(folder, 'text.gz'), 'half of a copy');
  expect(gunzipSync((await copyOf(edited.join(''))).copy).toString()).toBe(edited.join(''));
  expect(gunzipSync((await copyOf('')).copy).toString()).toBe('');
});
