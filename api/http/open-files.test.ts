// Open files as response bodies: read completely or in parts, cancelled, dropped unread, and truncated while
// open.
import { readdirSync, readlinkSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { OpenFile } from './open-files.ts';

const LONG = 1_000_003;
const folder = scratchOfAll();

function written(name: string, bytes: number): { path: string; content: Buffer } {
  const path = join(folder, name);
  const content = Buffer.alloc(bytes, 'some bytes, and more ');
  writeFileSync(path, content);
  return { path, content };
}

/** How many handles of a file this process has open. */
function times(path: string): number {
  const target = (descriptor: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return '';
    }
  };
  return readdirSync('/proc/self/fd').filter((descriptor) => target(descriptor) === path).length;
}

async function body(path: string, start: number, end: number): Promise<Response> {
  return new Response(await (await OpenFile.at(path)).body(start, end));
}

test('sends any part of a file, short or long, and closes it', async () => {
  const { path, content } = written('parts', LONG);
  for (const [start, end] of [
    [0, LONG - 1],
    [0, 0],
    [LONG - 1, LONG - 1],
    [7, 300_000],
    [262_143, 262_144 * 2 + 5],
    [99, 98],
  ] as const)
    expect(
      Buffer.from(await (await body(path, start, end)).arrayBuffer()).equals(content.subarray(start, end + 1)),
    ).toBe(true);
  expect(times(path)).toBe(0);
});

test('sends the file that it opened, whatever is put in its place', async () => {
  const { path, content } = written('replaced', LONG);
  const answer = await body(path, 0, LONG - 1);
  renameSync(written('other', 5).path, path);
  expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true);
});

test('closes the file of a reader that goes, or of one whose file ends before its length', async () => {
  const { path } = written('gone', LONG);
  const left = (await body(path, 0, LONG - 1)).body?.getReader();
  await left?.read();
  expect(times(path)).toBe(1);
  await left?.cancel();
  expect(times(path)).toBe(0);
  const cut = await body(path, 0, LONG - 1);
  truncateSync(path, 400_000);
  await expect(cut.arrayBuffer()).rejects.toThrow('a file ended');
  await expect(body(path, 399_990, 400_010)).rejects.toThrow('a file ended 11 bytes before its length');
  expect(times(path)).toBe(0);
  await expect(OpenFile.at(join(folder, 'none'))).rejects.toThrow('ENOENT');
});

test('closes the files of answers that nobody reads', async () => {
  const { path } = written('dropped', LONG);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let i = 0; i < 20; i += 1) await body(path, 0, LONG - 1);
  expect(times(path)).toBeGreaterThan(0);
  const after = () => {
    collect();
    return times(path);
  };
  await expect.poll(after, { timeout: 10_000 }).toBe(0);
});
