// What a release is made from, as one fingerprint: when it is the same again, there is nothing to do.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Overlay } from '../../data/plan/overlay.ts';
import { listRuns } from '../../data/write/facts.ts';
import type { Pack } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Folders whose code decides what is in a release. */
const CODE = [
  ...['collect', 'effects', 'night', 'release'].map((name) => `build/${name}`),
  ...['consolidate', 'duckdb', 'index', 'model', 'plan', 'releases', 'write'].map((name) => `data/${name}`),
  'packs/define',
];

/** Fingerprint of the facts, the pack, what lies over them and the code. */
export async function fingerprint(
  pack: Pack,
  dataDir: string,
  { removed, said, decided }: Pick<Overlay, 'removed' | 'said' | 'decided'>,
): Promise<string> {
  const hash = createHash('sha256');
  for (const { run } of await listRuns(dataDir, pack.id)) hash.update(`${run}\n`);
  // Which versions brought it does not matter: what came and went again leaves the same release.
  const content = [...said.values(), ...decided.values()].flat().map(({ version: _, ...each }) => each);
  hash.update(JSON.stringify([[...removed.keys()].sort(byCodePoint), content]));
  for (const folder of CODE) await addCode(hash, join(ROOT, folder));
  await addCode(hash, pack.folder);
  return hash.digest('hex').slice(0, 32);
}

/** The program files of a folder, without their tests and without its sub-folders. */
async function addCode(hash: ReturnType<typeof createHash>, folder: string): Promise<void> {
  const files = await readdir(folder, { withFileTypes: true });
  const code = files
    .filter((each) => each.isFile() && /(?<!\.test)\.(ts|json)$/.test(each.name))
    .map(({ name }) => name);
  for (const name of code.sort(byCodePoint)) {
    hash.update(`${name}\n`);
    hash.update(await readFile(join(folder, name)));
  }
}
