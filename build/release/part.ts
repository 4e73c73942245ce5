// Settles a range of a dataset's records, in this thread or, when there are many, in a new one.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { OperatorDecision } from '../../data/plan/overlay.ts';
import type { ReadingRow } from '../../data/write/facts.ts';
import { Part, type PartFiles } from '../../data/write/part.ts';
import type { Names } from '../../data/write/tables.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { type LineRange, readRecords } from './facts.ts';
import type { GroupMedians } from './group-medians.ts';
import { Settler } from './settle.ts';
import type { ValueTally } from './tally.ts';

/** Input for settling a range. */
export interface PartTask {
  range: LineRange;
  names: Names;
  medians: GroupMedians;
  made: readonly ReadingRow[];
  decided: readonly OperatorDecision[];
  /** Records that are opted out. */
  removed: ReadonlySet<string>;
  /** Folder for the lines of the part, and its number from 0. */
  folder: string;
  number: number;
}

export interface SettledPart {
  files: PartFiles;
  counts: ValueTally['counts'];
}

/** Facts between two progress updates. */
const OFTEN = 10_000;

/** Settles a range in this thread; `onProgress` receives the number of newly settled facts. */
export function settlePart(pack: Pack, task: PartTask, onProgress: (facts: number) => void): SettledPart {
  const part = new Part(pack, task.folder, task.number);
  const settler = new Settler(pack, task, part);
  let facts = 0;
  for (const record of readRecords(task.range, pack, task.names, task.medians)) {
    settler.settle(record);
    for (const group of record.groups) facts += group.facts.length;
    if (facts < OFTEN) continue;
    onProgress(facts);
    facts = 0;
  }
  return { files: part.close(), counts: settler.tally.counts };
}

interface Sent {
  folder: string;
  task: PartTask;
}

type Answer = { facts: number } | { settled: SettledPart };

/** Settles a range in a new thread, which loads the pack from its folder. */
export function settleApart(pack: Pack, task: PartTask, onProgress: (facts: number) => void): Promise<SettledPart> {
  const sent: Sent = { folder: pack.folder, task };
  const worker = new Worker(new URL(import.meta.url), { workerData: sent });
  return new Promise((resolve, reject) => {
    worker.on('message', (answer: Answer) => {
      if ('settled' in answer) resolve(answer.settled);
      else onProgress(answer.facts);
    });
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`a thread exited with ${code} before it finished`)));
  });
}

if (!isMainThread && parentPort !== null && (workerData as Partial<Sent> | null)?.task !== undefined) {
  const { folder, task } = workerData as Sent;
  const answer = (message: Answer) => parentPort?.postMessage(message);
  answer({ settled: settlePart(await loadPack(folder), task, (facts) => answer({ facts })) });
}
