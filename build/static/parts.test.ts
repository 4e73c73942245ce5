// Long texts: the complete file, its parts, and no parts for a short one.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../../tests/support/night-pack.ts';
import { Output } from './output.ts';
import { writeParts } from './parts.ts';

let root: string;
beforeEach(() => {
  root = scratch();
});

function write(count: number, bytes: number): string {
  const output = new Output(root);
  const parts = writeParts('v1/x/llms-full.txt', output, 'k');
  for (let i = 0; i < count; i++) parts.write(`## Record ${i}\n${'ü'.repeat(bytes / 2)}\n\n`);
  parts.end();
  output.finish();
  return readFileSync(join(root, 'v1/x/llms-full.txt'), 'utf8');
}

test('a short text is one file', () => {
  const whole = write(10, 60_000);
  expect(whole.match(/^## /gm)).toHaveLength(10);
  expect(existsSync(join(root, 'v1/x/llms-full'))).toBe(false);
});

test('a long text is also written in parts of at most a mebibyte, which an index lists', () => {
  const whole = write(100, 60_000);
  const folder = join(root, 'v1/x/llms-full');
  const names = readdirSync(folder).sort();
  expect(names.at(-1)).toBe('index.txt');
  const parts = names.slice(0, -1).map((name) => readFileSync(join(folder, name)));
  expect(parts.every((part) => part.length <= 2 ** 20)).toBe(true);
  expect(Buffer.concat(parts).toString()).toBe(whole);
  const [head, ...rows] = readFileSync(join(folder, 'index.txt'), 'utf8').trimEnd().split('\n');
  expect(head).toBe('part\tbytes\tbegins with');
  expect(rows.map((row) => row.split('\t').slice(0, 2))).toEqual(
    parts.map((part, i) => [names[i], String(part.length)]),
  );
  expect(rows[1]).toMatch(/\tRecord 17$/);
});

test('the parts of a text that became short are deleted', () => {
  write(100, 60_000);
  write(10, 60_000);
  expect(existsSync(join(root, 'v1/x/llms-full'))).toBe(false);
});
