// Writes the files of a pack, and the data next to them.
import { chmod, copyFile, mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { PUBLIC_MODES } from '../../../data/model/permissions.ts';
import { guideText, recordText } from './guide-text.ts';
import { type PackFacts, packText } from './pack-text.ts';
import type { Proposal } from './proposal.ts';
import { fictionalRecords } from './records.ts';

/** Files of a pack; a folder that has one of them is not changed. */
const PACK_FILES = ['pack.ts', 'collect.ts', 'samples.json', 'record.md', 'guide.md'];

/** A file above this size is read where it is, unless the publisher wants a copy. */
const LARGEST_COPY = 100_000_000;

/** Where the pack reads a file, and whether it is copied there. */
export interface DataFile {
  /** Path from the folder of the pack, with `/`. */
  path: string;
  /** Absolute path of the file to copy; null: the file stays where it is. */
  copied: string | null;
}

/** Names in a folder that prevent a new pack there; [] when it can be written. */
export async function obstacles(folder: string, dataFile: string | null): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const holdsData = dataFile !== null && !relative(folder, dataFile).startsWith('..');
  return holdsData ? names.filter((name) => PACK_FILES.includes(name)) : names;
}

/** Where a file is read from: in the folder of the pack as it is, else as a copy in `data/`. */
export async function dataFileOf(folder: string, file: string, copy: boolean): Promise<DataFile> {
  const path = relative(folder, file).split(sep).join('/');
  if (!path.startsWith('../')) return { path, copied: null };
  const { size } = await stat(file);
  if (size > LARGEST_COPY && !copy) return { path, copied: null };
  return { path: `data/${basename(file)}`, copied: file };
}

/** Writes pack.ts, samples.json, record.md and guide.md, readable by the user of the service. */
export async function writePack(
  folder: string,
  proposal: Proposal,
  facts: PackFacts,
  data: DataFile | null,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, PUBLIC_MODES.folder);
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    await chmod(join(folder, name), PUBLIC_MODES.file);
  };
  await write('pack.ts', packText(proposal, facts));
  await write('samples.json', `${JSON.stringify(fictionalRecords(proposal), null, 2)}\n`);
  await write('record.md', recordText(proposal));
  const origin = data === null ? (facts.source.target ?? 'a query') : basename(data.path);
  await write('guide.md', guideText(proposal, facts.title, origin, facts.total));
  if (data === null || data.copied === null) return;
  const target = join(folder, data.path);
  await mkdir(join(folder, 'data'), { recursive: true });
  await chmod(join(folder, 'data'), PUBLIC_MODES.folder);
  await copyFile(data.copied, target);
  await chmod(target, PUBLIC_MODES.file);
  // The time of the file is the time that its values describe.
  const { atime, mtime } = await stat(data.copied);
  await utimes(target, atime, mtime);
}
