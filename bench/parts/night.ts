// A nightly run of a dataset from cached sources, in a separate data folder: duration and processor time of
// each step, and peak memory.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { loadPack } from '../../packs/define/load.ts';
import { openWorld } from '../../tests/support/overlay-world.ts';

export interface Night {
  dataset: string;
  records: number;
  seconds: number;
  /** Highest resident memory of the night's own process in MB. */
  peak: number;
  /**
   * Seconds by step, in order; a step lasts until the next begins. `processor`: seconds of all processors, child
   * processes included; absent in older results.
   */
  steps: { step: string; seconds: number; processor?: number }[];
  /** Markdown pages a second, while they are rendered and written. */
  pages: number;
  /** Seconds for writing only the same files; absent in older results. */
  bare?: number;
  /** Seconds of the next night, without changes. */
  unchanged: number;
  /**
   * The night after owners' edits of some records, and the static files that it wrote; absent in older
   * results.
   */
  changed?: { records: number; seconds: number; written: number; deleted: number; files: number };
}

/** Records with owners' edits before the third night. */
const CHANGED = 100;

/** Runs three nights with the cached sources of a data folder; null when there are none. */
export async function benchNight(dataDir: string, dataset: string, scratch: string): Promise<Night | null> {
  const sources = join(dataDir, 'sources');
  if (!existsSync(sources)) return null;
  const own = mkdtempSync(join(scratch, 'night-'));
  cpSync(sources, join(own, 'data/sources'), { recursive: true });
  try {
    const first = await night(own, dataset);
    const bare = bareWrite(own);
    const second = await night(own, dataset);
    await ownersChange(join(own, 'data'), dataset, CHANGED);
    const third = await night(own, dataset);
    const made = /([\d,]+) records from/.exec(first.lines.map(({ text }) => text).join('\n'))?.[1] ?? '0';
    const records = Number(made.replaceAll(',', ''));
    const steps = stepsOf(first, dataset);
    const rendering = steps.find(({ step }) => step === 'prerender')?.seconds ?? Number.NaN;
    const { seconds, peak } = first;
    return {
      dataset,
      records,
      seconds,
      peak,
      steps,
      pages: records / rendering,
      bare,
      unchanged: second.seconds,
      changed: filesOf(third),
    };
  } finally {
    rmSync(own, { recursive: true });
  }
}

/** Stores owners' edits of the names of some records, spread over all, as the owners' page does. */
async function ownersChange(dataDir: string, dataset: string, records: number): Promise<void> {
  const world = await openWorld(dataDir, await loadPack(join(import.meta.dirname, '../../packs', dataset)), null);
  try {
    const all = [...(await world.records()).keys()];
    const step = Math.max(1, Math.floor(all.length / records));
    const found = all.filter((_, i) => i % step === 0).slice(0, records);
    for (const id of found) await world.say(id, { name: `Renamed ${id}` }, new Date().toISOString());
  } finally {
    await world.close();
  }
}

function filesOf({ seconds, lines }: Run): NonNullable<Night['changed']> {
  const told = /static files: ([\d,]+); ([\d,]+) written, [\d,]+ unchanged, ([\d,]+) deleted/;
  const [, files, written, deleted] = told.exec(lines.map(({ text }) => text).join('\n')) ?? [];
  const count = (text: string | undefined) => Number((text ?? 'NaN').replaceAll(',', ''));
  return { records: CHANGED, seconds, files: count(files), written: count(written), deleted: count(deleted) };
}

/** Writes the bytes of every static file to another folder without other work; returns the seconds. */
function bareWrite(own: string): number {
  let seconds = 0;
  const made = ['data/facts', 'data/releases', 'dist'].flatMap((name) =>
    readdirSync(join(own, name), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
  );
  for (const { parentPath, name } of made) {
    const bytes = readFileSync(join(parentPath, name));
    const folder = join(own, 'copy', relative(own, parentPath));
    const began = performance.now();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), bytes);
    seconds += (performance.now() - began) / 1000;
  }
  return seconds;
}

interface Run {
  seconds: number;
  /** Processor seconds of the process and its children. */
  processor: number;
  peak: number;
  /** Lines of output, with the time and the processor seconds until then. */
  lines: { at: number; processor: number; text: string }[];
}

async function night(own: string, dataset: string): Promise<Run> {
  const env = { ...process.env, DATA_DIR: join(own, 'data'), DIST_DIR: join(own, 'dist'), PACK_DIRS: './packs' };
  const began = performance.now();
  const child = spawn(process.execPath, ['build/nightly.ts', '--only', dataset], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: Run['lines'] = [];
  let peak = 0;
  let processor = 0;
  const look = () => {
    peak = Math.max(peak, highWater(child.pid));
    processor = Math.max(processor, processorSeconds(child.pid));
  };
  child.stdout.on('data', (chunk: Buffer) => {
    const at = (performance.now() - began) / 1000;
    look();
    for (const text of chunk.toString().split('\n')) if (text !== '') lines.push({ at, processor, text });
  });
  const looking = setInterval(look, 50);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(looking);
  if (code !== 0) throw new Error(`the night ended with ${code}: ${lines.at(-1)?.text}`);
  return { seconds: (performance.now() - began) / 1000, processor, peak, lines };
}

function highWater(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}

/** Processor seconds of a process and its children, ended ones included; 0 when it has ended or without /proc. */
function processorSeconds(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    // User and system time of its own and of ended children, in ticks of 10 ms.
    const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
    );
    return children.reduce((sum, child) => sum + processorSeconds(Number(child)), own);
  } catch {
    return 0;
  }
}

/** Steps are printed as `dataset: step`; other lines are progress. */
function stepsOf({ lines, seconds, processor }: Run, dataset: string): Night['steps'] {
  const begun = lines.flatMap(({ text, ...line }) => {
    const step = new RegExp(`^(?:${dataset}|register): ([a-zA-Z]+(?: [a-zA-Z]+)*)$`).exec(text)?.[1];
    return step === undefined ? [] : [{ ...line, step: text.startsWith('register') ? `register ${step}` : step }];
  });
  return begun.map(({ step, ...from }, i) => {
    const to = begun[i + 1] ?? { at: seconds, processor };
    return { step, seconds: to.at - from.at, processor: to.processor - from.processor };
  });
}
