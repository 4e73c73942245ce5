// Log of the nightly runs of a dataset: one line of JSON per run, newest last, in
// DATA_DIR/runs/<dataset>.jsonl.
import { appendFile, mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { paths } from '../model/layout.ts';

/** `failed`: it threw. The others are the results of a nightly run. */
export const RunOutcome = z.enum(['released', 'unchanged', 'refused', 'failed']);

const Line = z.object({
  /** Start time, ISO 8601. */
  at: z.string(),
  seconds: z.number(),
  outcome: RunOutcome,
  /** The current release after the run. */
  release: z.string().nullable(),
  records: z.number(),
  /** Durations of the steps, in order. */
  steps: z.array(z.object({ step: z.string(), seconds: z.number() })),
  /**
   * Why the run was refused or failed, which sources were not available, and which values did not become
   * facts.
   */
  messages: z.array(z.string()),
  /** Nights in a row, this one included, whose run was refused or failed. */
  bad_nights: z.number(),
});

/** The nightly run of one dataset. */
export type NightlyRun = z.infer<typeof Line>;

/** Runs in a row that were refused or failed. Dates are UTC, YYYY-MM-DD. */
export interface Incident {
  from: string;
  /** Day of the good run after them; null: there was none yet. */
  solved: string | null;
  /** Of the last of them. */
  outcome: 'refused' | 'failed';
  runs: number;
}

/** `since`: day of the first recorded run, null without one. Incidents are newest first. */
export interface RunHistory {
  since: string | null;
  incidents: Incident[];
}

const isBad = ({ outcome }: Pick<NightlyRun, 'outcome'>) => outcome === 'refused' || outcome === 'failed';

/** Bytes read from the end of the file: about a hundred runs. */
const TAIL = 131_072;

/**
 * Stored characters per message and bytes per run: a longer run would fill TAIL and not be readable again.
 */
const LIMITS = { message: 2_000, messages: TAIL / 4 };

/**
 * Appends a run to the log of a dataset in one write; long messages are cut. `retry`: it repeats a failed run of the
 * same night. Returns its `bad_nights`.
 */
export async function recordRun(
  dataDir: string,
  dataset: string,
  run: Omit<NightlyRun, 'bad_nights'>,
  retry = false,
): Promise<number> {
  const [last] = await lastRuns(dataDir, dataset, 1);
  const before = last && isBad(last) ? last.bad_nights : 0;
  const bad_nights = isBad(run) ? before + (retry ? 0 : 1) : 0;
  const path = paths.runs(dataDir, dataset);
  await mkdir(dirname(path), { recursive: true });
  // A killed write leaves half a line: start a new one.
  const whole = (await tail(path)).endsWith('\n');
  await appendFile(
    path,
    `${whole ? '' : '\n'}${JSON.stringify({ ...run, messages: bounded(run.messages), bad_nights })}\n`,
  );
  return bad_nights;
}

function bounded(messages: readonly string[]): string[] {
  const kept: string[] = [];
  let bytes = 0;
  for (const message of messages) {
    const short = message.length > LIMITS.message ? `${message.slice(0, LIMITS.message).toWellFormed()}…` : message;
    bytes += Buffer.byteLength(JSON.stringify(short));
    if (bytes > LIMITS.messages) return [...kept, `… and ${messages.length - kept.length} more`];
    kept.push(short);
  }
  return kept;
}

/** The last runs of a dataset, newest first; invalid lines are skipped. */
export async function lastRuns(dataDir: string, dataset: string, limit: number, bytes = TAIL): Promise<NightlyRun[]> {
  const lines = (await tail(paths.runs(dataDir, dataset), bytes)).split('\n').reverse();
  const runs: NightlyRun[] = [];
  for (const line of lines) {
    if (runs.length === limit) break;
    const run = parsed(line);
    if (run !== null) runs.push(run);
  }
  return runs;
}

/** Bytes read for a history, and runs. */
const HISTORY = { bytes: 4 * TAIL, runs: 1000 };

/** The incidents in the log of a dataset. */
export async function runHistory(dataDir: string, dataset: string): Promise<RunHistory> {
  const runs = await lastRuns(dataDir, dataset, HISTORY.runs, HISTORY.bytes);
  const incidents: Incident[] = [];
  for (const { at, outcome } of runs.toReversed()) {
    const [open] = incidents;
    const day = at.slice(0, 10);
    if (outcome === 'refused' || outcome === 'failed') {
      if (open && open.solved === null) Object.assign(open, { outcome, runs: open.runs + 1 });
      else incidents.unshift({ from: day, solved: null, outcome, runs: 1 });
    } else if (open && open.solved === null) open.solved = day;
  }
  return { since: runs.at(-1)?.at.slice(0, 10) ?? null, incidents };
}

/** DATA_DIR of a release. */
const dataDirOf = ({ folder }: { folder: string }): string => resolve(folder, '../../..');

/** As `runHistory`, for the dataset of a release. */
export const releaseHistory = (release: { folder: string; manifest: { dataset: string } }): Promise<RunHistory> =>
  runHistory(dataDirOf(release), release.manifest.dataset);

/**
 * Time of the last reading of the dataset's sources, by the release or by a later run without changes. ISO
 * 8601.
 */
export async function lastCollected(release: {
  folder: string;
  manifest: { dataset: string; last_collection: string };
}): Promise<string> {
  const { dataset, last_collection } = release.manifest;
  const runs = await lastRuns(dataDirOf(release), dataset, 20);
  const good = runs.find((run) => !isBad(run));
  return good && good.at > last_collection ? good.at : last_collection;
}

function parsed(line: string): NightlyRun | null {
  try {
    return Line.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}

/** The end of a file; a line feed when the file does not exist. */
async function tail(path: string, bytes = TAIL): Promise<string> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return '\n';
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - bytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    return buffer.toString('utf8', 0, bytesRead) || '\n';
  } finally {
    await file.close();
  }
}
