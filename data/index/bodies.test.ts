// Record bodies: split points, age patterns and checksums.
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { randomRecords } from '../../tests/support/random-records.ts';
import { writeRelease } from '../../tests/support/write-release.ts';
import type { StoredRecord } from '../model/record.ts';
import type { RecordRenderer } from '../plan/plan.ts';
import { openRelease } from '../releases/release.ts';
import { buildIndex } from './build.ts';
import { PackedIndex } from './packed-index.ts';

const dataDir = scratchOfAll();

const columns = () => join(written.folder, 'index/columns.bin');
const lines = () => join(written.folder, 'records.jsonl');

const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));
const records: StoredRecord[] = randomRecords(pack, 80, 3).map((record, i) => ({
  ...record,
  // A text that imitates the markers at which bodies are split.
  name: i % 7 === 0 ? `","updated_at":"x" ,"provenance":{"a":{"source_url":"u","observed_at":"1999"}}` : record.name,
  // A text that is longer than the read buffer.
  ...(i === 5 && { name: 'long '.repeat(8_000) }),
}));
const written = await writeRelease(dataDir, pack, records);
beforeEach(() => buildIndex(written.folder, pack));

test('every body is read unchanged, split before updated_at and quality_score, with its times', () => {
  const index = new PackedIndex(written.folder, pack, { records: records.length });
  for (const [ordinal, record] of records.entries()) {
    let pieces: string[] = [];
    let times: [string, number][] = [];
    const text = index.bodies.text(ordinal, new Date(0), {
      key: 'pieces',
      render: ({ head, middle, tail, ages }) => {
        pieces = [head, middle, tail].map(String);
        ages((pattern) => {
          times = pattern.names.map((name, i) => [name, pattern.times[i]!]);
          return 'ages';
        });
        return { json: Buffer.from('made'), updated_at: record.updated_at };
      },
    });
    expect(text).toMatchObject({ json: Buffer.from('made'), updated_at: record.updated_at });
    const [head, middle, tail] = pieces as [string, string, string];
    expect(JSON.parse(head + middle + tail)).toEqual(record);
    expect(index.bodies.stored(ordinal).toString()).toBe(head + middle + tail);
    expect(JSON.parse(`${head}"url":1}`)).toEqual({
      id: record.id,
      slug: record.slug,
      name: record.name,
      dataset: record.dataset,
      url: 1,
    });
    expect(JSON.parse(`{${tail}`)).toHaveProperty('quality_score', record.quality_score);
    expect(times).toEqual(Object.entries(record.provenance).map(([name, p]) => [name, Date.parse(p.observed_at)]));
  }
  index.close();
});

test('a text is rendered once per minute and renderer', () => {
  const index = new PackedIndex(written.folder, pack, { records: records.length });
  let rendered = 0;
  const renderer = (key: string): RecordRenderer => ({
    key,
    render: () => ({ json: Buffer.from(String(rendered++)), updated_at: '' }),
  });
  const at = (ms: number, key: string) => index.bodies.text(3, new Date(ms), renderer(key)).json.toString();
  expect([at(0, 'one'), at(59_999, 'one'), at(60_000, 'one')]).toEqual(['0', '0', '1']);
  expect([at(60_001, 'other'), at(60_002, 'one')]).toEqual(['2', '1']);
  index.close();
});

test.each([
  ['here', false],
  ['in threads', true],
])('the same release gives the same bytes, built %s', async (_, apart) => {
  const before = readFileSync(columns());
  await buildIndex(written.folder, pack, apart);
  expect(readFileSync(columns()).equals(before)).toBe(true);
  expect(readdirSync(join(written.folder, 'index'))).toEqual(['columns.bin']);
});

describe('a damaged index is logged, and DuckDB answers', () => {
  const damage: [string, () => void][] = [
    ['missing', () => rmSync(join(written.folder, 'index'), { recursive: true })],
    ['half written', () => truncateSync(columns(), 5000)],
    ['with one bit changed', () => flip(columns(), 4321)],
    ['with one bit of a body changed', () => flip(lines(), 40)],
    ['of other data', () => writeFileSync(columns(), 'DSRIDX01 and nothing more')],
  ];
  test.each(damage)('%s', async (_, spoil) => {
    const whole = readFileSync(lines());
    onTestFinished(() => writeFileSync(lines(), whole));
    spoil();
    const log: string[] = [];
    const release = await openRelease(dataDir, pack, written.release, { log: (text) => log.push(text) });
    const ordinals = await release.engine.resolve(records.map(({ slug }) => slug));
    const bodies = await release.engine.bodies(ordinals.map((ordinal) => ordinal!));
    expect(bodies.map(({ body }) => JSON.parse(body))).toEqual(records);
    expect(log).toHaveLength(1);
    expect(log[0]).toMatch(/^tools: the packed index is not used, DuckDB answers instead: /);
    await release.engine.close();
  });
});

test('records.jsonl of another length is damage', () => {
  const whole = readFileSync(lines());
  onTestFinished(() => writeFileSync(lines(), whole));
  const open = () => new PackedIndex(written.folder, pack, { records: records.length }).close();
  expect(open).not.toThrow();
  truncateSync(lines(), whole.length - 1);
  expect(open).toThrow(`${lines()}: ${whole.length - 1} bytes, expected ${whole.length}`);
  rmSync(lines());
  expect(open).toThrow('ENOENT');
});

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 1;
  writeFileSync(path, bytes);
}
