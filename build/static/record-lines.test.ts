// Lines of a file: their first bytes, and ranges of them.
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { lineStarts, recordLines } from './record-lines.ts';

const folder = scratchOfAll();

test('ranges of lines, also of lines over the end of a piece', () => {
  const path = join(folder, 'records.jsonl');
  const lines = Array.from({ length: 3000 }, (_, i) => `{"é":${i},"text":"${'x'.repeat((i * 37) % 1500)}"}`);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  const starts = lineStarts(path, lines.length);
  const file = openSync(path, 'r');
  try {
    expect([...recordLines(file, starts, 0, lines.length)]).toEqual(lines);
    expect([...recordLines(file, starts, 1234, 1236)]).toEqual(lines.slice(1234, 1236));
    // A part of the offsets, as a task has it.
    expect([...recordLines(file, starts.slice(100, 104), 1, 3)]).toEqual(lines.slice(101, 103));
    expect([...recordLines(file, starts, 5, 5)]).toEqual([]);
  } finally {
    closeSync(file);
  }
});

test('another number of lines is an error', () => {
  const path = join(folder, 'short.jsonl');
  writeFileSync(path, 'a\nb\n');
  expect([...lineStarts(path, 2)]).toEqual([0, 2, 4]);
  expect(() => lineStarts(path, 3)).toThrow('has 2 lines (expected 3)');
  expect(() => lineStarts(path, 1)).toThrow('has 2 lines (expected 1)');
});
