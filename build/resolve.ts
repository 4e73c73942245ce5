// From facts to records: has every record settled, now and over time, and the files of a release written.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReadingRow } from '../data/facts.ts';
import type { Manifest } from '../data/layout.ts';
import { Draft } from '../data/write/draft.ts';
import { Duck } from '../data/write/duck.ts';
import type { Pack } from '../packs/model.ts';
import type { Effects } from './effects.ts';
import { readRecords, sortFacts } from './resolve-facts.ts';
import { type Decided, Settler } from './resolve-settle.ts';

/** What a release is made from. */
export interface Making {
  pack: Pack;
  dataDir: string;
  /** Every reading ever made. */
  made: readonly ReadingRow[];
  /** Folder of the release before, or null. */
  before: string | null;
  decided: readonly Decided[];
  effects: Effects;
}

/** A release that lies in a workspace, complete but for its change feed and manifest. */
export interface Resolved extends Pick<Manifest, 'records' | 'facts' | 'enums' | 'ages' | 'confirmed'> {
  /** Folder of the release's files. */
  folder: string;
  /** Rows by file name. */
  rows: Record<string, number>;
  /** Open questions. */
  review: number;
}

/** Settles all facts of a dataset and writes the release's files into a workspace folder, which it clears first. */
export async function resolve(making: Making, workspace: string): Promise<Resolved> {
  const { pack, dataDir, made, before, effects } = making;
  const { progress } = effects;
  const draft = new Draft(pack, workspace);
  progress.step(pack.id, 'sort facts');
  const spill = join(workspace, 'spill-facts');
  await mkdir(spill, { recursive: true });
  const duck = await Duck.open(spill);
  const { total, names } = await sortFacts(duck, dataDir, pack, made, draft.stored).finally(() => duck.close());

  progress.step(pack.id, 'consolidate');
  const settler = new Settler(pack, made, making.decided, draft);
  let read = 0;
  for (const record of readRecords(draft.stored, pack, names)) {
    settler.settle(record);
    for (const { facts } of record.groups) read += facts.length;
    progress.at(read, total, 'facts');
  }
  settler.readings();

  const rows = await draft.finish(names, before, effects.now().getTime(), (step) => progress.step(pack.id, step));
  const { records, facts, review, out: folder } = draft;
  return { ...settler.tally.told(pack), records, facts, review, folder, rows, confirmed: settler.confirmed };
}
