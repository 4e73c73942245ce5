// What became of each nightly run of a dataset: one line of JSON a run, newest last, in DATA_DIR/runs/<dataset>.jsonl.
import { appendFile, mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { paths } from '../model/layout.ts';

/** One run of a dataset's night. */
export interface Run {
  /** When it began, ISO 8601. */
  at: string;
  seconds: number;
  /** `failed`: it threw; the others are those of the night. */
  outcome: 'released' | 'unchanged' | 'refused' | 'failed';
  /** The release that is current after it. */
  release: string | null;
  records: number;
  /** What took how long, in the order done. */
  steps: { step: string; seconds: number }[];
  /** Why it was refused or failed, which sources could not be had, and what of the others did not become facts. */
  told: string[];
}

/** Bytes of the end of the file that are looked at: some hundred runs. */
const TAIL = 131_072;

/** Characters of a sentence that are kept, and bytes of all of a run together: a run that fills the end of the file by itself would not be found again. */
const KEPT = { sentence: 2_000, told: TAIL / 4 };

/** Adds a run to the log of a dataset, in one write. What it tells without end is cut. */
export async function recordRun(dataDir: string, dataset: string, run: Run): Promise<void> {
  const path = paths.runs(dataDir, dataset);
  await mkdir(dirname(path), { recursive: true });
  // A killed write left half a line: the next one begins anew.
  const whole = (await tail(path)).endsWith('\n');
  await appendFile(path, `${whole ? '' : '\n'}${JSON.stringify({ ...run, told: bounded(run.told) })}\n`);
}

function bounded(told: readonly string[]): string[] {
  const kept: string[] = [];
  let bytes = 0;
  for (const each of told) {
    const short = each.length > KEPT.sentence ? `${each.slice(0, KEPT.sentence).toWellFormed()}…` : each;
    bytes += Buffer.byteLength(JSON.stringify(short));
    if (bytes > KEPT.told) return [...kept, `… and ${told.length - kept.length} more`];
    kept.push(short);
  }
  return kept;
}

/** The last runs of a dataset, newest first; a line that is none is passed over. */
export async function lastRuns(dataDir: string, dataset: string, limit: number): Promise<Run[]> {
  const lines = (await tail(paths.runs(dataDir, dataset))).split('\n').reverse();
  const runs: Run[] = [];
  for (const line of lines) {
    if (runs.length === limit) break;
    const run = parsed(line);
    if (run !== null) runs.push(run);
  }
  return runs;
}

/** When the sources of a release's dataset were last read: with it, or since without news. ISO 8601. */
export async function lastCollected(release: {
  folder: string;
  manifest: { dataset: string; last_collection: string };
}): Promise<string> {
  const { dataset, last_collection } = release.manifest;
  const runs = await lastRuns(resolve(release.folder, '../../..'), dataset, 20);
  const good = runs.find(({ outcome }) => outcome !== 'failed');
  return good && good.at > last_collection ? good.at : last_collection;
}

function parsed(line: string): Run | null {
  try {
    const run = JSON.parse(line) as Run;
    return typeof run?.at === 'string' && typeof run.outcome === 'string' ? run : null;
  } catch {
    return null;
  }
}

/** The end of a file; a lone line feed where there is none. */
async function tail(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return '\n';
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    return buffer.toString('utf8', 0, bytesRead) || '\n';
  } finally {
    await file.close();
  }
}
