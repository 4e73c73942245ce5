// Pages rendered in threads equal pages rendered in this one, and the full text has every record in order.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { datasetNight } from '../../../build/night/dataset.ts';
import { Output } from '../../../build/static/output.ts';
import { writePages } from '../../../build/static/pages.ts';
import { currentRelease } from '../../../data/model/manifest.ts';
import { openRelease } from '../../../data/releases/release.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { scratch, still } from '../../support/night-pack.ts';

const PACKS = join(import.meta.dirname, '../../packs');

/** Every file below a folder with its text, without the build's notes. */
function filesOf(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name)).filter((path) => !path.includes('.build'));
  return Object.fromEntries(paths.sort().map((path) => [path.slice(root.length), readFileSync(path, 'utf8')]));
}

test('threads write the same files as a single one', { timeout: 60_000 }, async () => {
  const data = scratch();
  const pack = await loadPack(join(PACKS, 'harbours'));
  const dataDir = join(data, 'var');
  expect((await datasetNight(pack, dataDir, still(), { accept: false })).outcome).toBe('released');
  const id = await currentRelease(dataDir, pack.id);
  const release = await openRelease(dataDir, pack, id ?? '');
  const write = async (threads: number, piece: number, root = scratch()) => {
    const output = new Output(root);
    const reported: number[] = [];
    const progress = (done: number) => void reported.push(done);
    await writePages({ release, base: 'https://x.example', scratch: data, key: 'k', progress, threads, piece }, output);
    const counts = output.finish();
    expect(reported).toEqual(reported.toSorted((a, b) => a - b));
    return { files: filesOf(output.root), done: reported.at(-1), counts };
  };
  const { records } = release.manifest;
  const here = await write(0, 2_048);
  expect(here.done).toBe(records);
  expect(Object.keys(here.files).filter((path) => path.startsWith('/datasets/'))).toHaveLength(records);
  expect(await write(2, 1)).toEqual(here);
  expect(await write(3, 2)).toEqual(here);

  // A folder that existed before has readers, so its files are put in place one by one.
  const root = scratch();
  mkdirSync(join(root, `datasets/${pack.id}`), { recursive: true });
  expect(await write(2, 1, root)).toEqual(here);
  // Pages of an unchanged release are kept without being rendered; a missing one is written again.
  const { files, counts, done } = await write(2, 1, root);
  expect([files, done, counts.written]).toEqual([here.files, undefined, 0]);
  rmSync(join(root, Object.keys(files).find((path) => path.startsWith('/datasets/'))!));
  const again = await write(2, 1, root);
  expect([again.files, again.counts.written]).toEqual([here.files, 1]);
  await release.engine.close();
});
