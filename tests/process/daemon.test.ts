// The daemon: runs on schedule, catches up on missed runs, one at a time, and retries failures.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runDaemon } from '../../build/night/daemon.ts';
import { type Config, readConfig } from '../../config.ts';
import { paths } from '../../data/model/layout.ts';
import { lockNight } from '../../data/model/lock.ts';
import { currentRelease, readManifest } from '../../data/model/manifest.ts';
import { lastRuns, recordRun } from '../../data/releases/runs.ts';
import { changeOverlay } from '../../data/state/overlay.ts';
import { openStore } from '../../data/state/store.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { LONG } from '../support/draws.ts';
import { scratch, scratchOfAll, still } from '../support/night-pack.ts';
import { withCopies } from '../support/whole-night.ts';

const HOUR = 3_600_000;
const ROOT = join(import.meta.dirname, '../..');

/** A register with the pack of harbours, which runs at 04:00. */
function place(): Config {
  const data = scratch();
  cpSync(join(ROOT, 'tests/packs/harbours'), join(data, 'packs/harbours'), { recursive: true });
  const folders = { DATA_DIR: join(data, 'var'), DIST_DIR: join(data, 'dist'), PACK_DIRS: join(data, 'packs') };
  return readConfig(folders);
}

/** Runs the daemon for some hours of its own clock; returns its output and the number of checks. */
async function live(config: Config, from: string, hours: number, at: (hour: number) => void = () => {}) {
  const effects = still();
  let clock = Date.parse(from);
  const end = clock + hours * HOUR;
  const stop = new AbortController();
  let woken = 0;
  const wait = async (ms: number) => {
    expect(ms).toBeLessThanOrEqual(60_000);
    woken += 1;
    // An hour at a time when nothing is due sooner, so that a day has only some dozen checks.
    clock += ms === 60_000 ? HOUR : ms;
    at((clock - Date.parse(from)) / HOUR);
    if (clock >= end) stop.abort();
  };
  await withCopies(config.DIST_DIR);
  await runDaemon(config, { ...effects, now: () => new Date(clock) }, { signal: stop.signal, wait });
  return { lines: effects.lines, woken };
}

const began = async (config: Config) =>
  (await lastRuns(config.DATA_DIR, 'harbours', 50)).map(({ at, outcome }) => `${at} ${outcome}`).reverse();

describe('the daemon', () => {
  const first = scratchOfAll();
  beforeAll(() => withCopies(first), 180_000);

  test('runs a new dataset at once, then at its hour, day after day', { timeout: 60_000 }, async () => {
    const config = place();
    const path = join(config.PACK_DIRS[0]!, 'harbours/pack.ts');
    writeFileSync(path, readFileSync(path, 'utf8').replace(/schedule: '[^']*'/, "schedule: '30 4 * * *'"));
    const { lines } = await live(config, '2026-11-20T12:30:00Z', 60);
    const runs = await began(config);
    expect(runs[0]).toBe('2026-11-20T12:30:00Z released');
    expect(runs.slice(1)).toEqual(['2026-11-21T04:30:00Z unchanged', '2026-11-22T04:30:00Z unchanged']);
    expect(lines).toContain('next collection 2026-11-21T04:30:00.000Z');
  });

  if (LONG)
    test('catches up with one night for any number of missed ones', { timeout: 60_000 }, async () => {
      const config = place();
      const missed = { seconds: 1, outcome: 'released' as const, release: null, records: 1, steps: [], messages: [] };
      await recordRun(config.DATA_DIR, 'harbours', { at: '2026-11-01T04:00:00Z', ...missed });
      await live(config, '2026-11-20T12:30:00Z', 2);
      expect(await began(config)).toEqual(['2026-11-01T04:00:00Z released', '2026-11-20T12:30:00Z released']);
    });

  if (LONG)
    test('retries a failed night after an hour, and survives it', { timeout: 60_000 }, async () => {
      const config = place();
      const facts = paths.facts(config.DATA_DIR, 'harbours');
      mkdirSync(dirname(facts), { recursive: true });
      writeFileSync(facts, 'a file where a folder should be');
      await live(config, '2026-11-20T12:30:00Z', 4, (hour) => {
        if (hour >= 2 && statSync(facts, { throwIfNoEntry: false })?.isFile()) rmSync(facts);
      });
      const runs = await began(config);
      expect(runs[0]).toBe('2026-11-20T12:30:00Z failed');
      expect(runs.length).toBeGreaterThan(2);
      expect(runs.at(-1)).toMatch(/ released$/);
      expect(runs.slice(0, -1).every((run) => run.endsWith(' failed'))).toBe(true);
    });

  if (LONG)
    test('alerts once when a second night fails, and again after a good one', { timeout: 120_000 }, async () => {
      const config = { ...place(), ALERT_EMAIL: 'operators@register.example' };
      const pack = join(config.PACK_DIRS[0]!, 'harbours/pack.ts');
      writeFileSync(pack, readFileSync(pack, 'utf8').replace(/schedule: '[^']*'/, "schedule: '30 4 * * *'"));
      const facts = paths.facts(config.DATA_DIR, 'harbours');
      const block = () => {
        rmSync(facts, { recursive: true, force: true });
        mkdirSync(dirname(facts), { recursive: true });
        writeFileSync(facts, 'a file where a folder should be');
      };
      block();
      const outbox = join(config.DATA_DIR, 'outbox');
      const mails = () => (existsSync(outbox) ? readdirSync(outbox) : []);
      const sent: number[] = [];
      const { lines } = await live(config, '2026-11-20T12:30:00Z', 110, (hour) => {
        // The first night with its retries, the second, the third, a good run, two more nights.
        if (hour > 14 && hour < 15.6) sent.push(mails().length);
        if (hour > 40 && hour < 41.1) sent.push(mails().length);
        if (hour > 44 && hour < 47 && statSync(facts, { throwIfNoEntry: false })?.isFile()) rmSync(facts);
        if (hour > 47 && hour < 48.1) block();
        if (hour > 62 && hour < 63.1) sent.push(mails().length);
      });
      expect(sent.at(0)).toBe(0);
      expect(new Set(sent.slice(1))).toEqual(new Set([1]));
      expect(mails()).toHaveLength(2);
      expect(lines.filter((line) => line.includes('second night without a good run: harbours failed'))).toHaveLength(2);
      const mail = readFileSync(join(outbox, mails()[0]!), 'utf8');
      for (const text of ['To: operators@register.example', 'harbours failed: ', '/ops/nights'])
        expect(mail).toContain(text);
    });

  test('waits during a night of another process, and reports it once', { timeout: 60_000 }, async () => {
    const config = place();
    const unlock = lockNight(config.DATA_DIR);
    const { lines, woken } = await live(config, '2026-11-20T12:30:00Z', 4, (hour) => {
      if (hour === 2) unlock();
    });
    expect(woken).toBeGreaterThan(2);
    expect(lines.filter((line) => line.includes('another nightly run'))).toHaveLength(1);
    expect(await began(config)).toEqual(['2026-11-20T14:30:00Z released']);
  });

  test('waits while there is no pack, and reports it once', { timeout: 60_000 }, async () => {
    const config = place();
    const [packs] = config.PACK_DIRS as [string];
    const { lines } = await live(config, '2026-11-20T12:30:00Z', 10, (hour) => {
      if (hour === 2) renameSync(packs, `${packs}.away`);
      if (hour === 4) mkdirSync(packs);
      if (hour === 6) rmSync(packs, { recursive: true });
      if (hour === 6) renameSync(`${packs}.away`, packs);
    });
    expect(lines.filter((line) => /PACK_DIRS|next collection/.test(line))).toEqual([
      expect.stringMatching(/^next collection /),
      `! PACK_DIRS: no such folder: ${packs}`,
      `! PACK_DIRS: no folder with a pack.ts in ${packs}`,
      expect.stringMatching(/^next collection /),
    ]);
  });

  test('builds a dataset again after an opt-out, once', { timeout: 60_000 }, async () => {
    const config = place();
    const release = async () => {
      const id = (await currentRelease(config.DATA_DIR, 'harbours')) ?? '';
      return readManifest(paths.release(config.DATA_DIR, 'harbours', id));
    };
    await live(config, '2026-11-20T12:30:00Z', 1);
    const before = await release();
    const examples = JSON.parse(readFileSync(join(config.DIST_DIR, 'v1/harbours/examples'), 'utf8')) as {
      items: { id: string; slug: string; name: string }[];
    };
    const { id: entity_id, slug, name } = examples.items[0]!;
    const store = await openStore({ dataDir: config.DATA_DIR });
    const edit = { dataset: 'harbours', expected: 0, now: 1, held: { version: 0, recorded_to: 0 }, feed: [] };
    const row = { id: 'a', dataset: 'harbours', entity_id, slug, name, contact: 'a@harbour.example', at: 1 };
    const open = { domain: null, reason: null, restored_at: null, restored_version: null };
    await changeOverlay(store, edit, async (tx, version) => {
      await tx
        .insertInto('opt_outs')
        .values({ ...row, ...open, version })
        .execute();
    }).finally(() => store.close());
    const { lines } = await live(config, '2026-11-20T14:30:00Z', 3);
    const built = (line: string) => line.endsWith('will be built again');
    expect(lines.filter(built)).toEqual(['removals and edits: harbours will be built again']);
    expect(await release()).toMatchObject({ records: before.records - 1, overlay: 1 });
    expect(await began(config)).toHaveLength(1);
  });

  test('does not start when PACK_DIRS has no pack', async () => {
    const config = { ...place(), PACK_DIRS: [join(scratch(), 'nowhere')] };
    await expect(live(config, '2026-11-20T12:30:00Z', 1)).rejects.toThrow(/^PACK_DIRS: no such folder: /);
  });

  test('two processes do each night once; a stop ends them', { timeout: 120_000 }, async () => {
    const config = place();
    const env = {
      ...CHILD_ENV,
      DATA_DIR: config.DATA_DIR,
      DIST_DIR: config.DIST_DIR,
      PACK_DIRS: config.PACK_DIRS.join(),
    };
    const started: ChildProcess[] = [];
    onTestFinished(() => started.forEach((child) => void child.kill('SIGKILL')));
    const exits = [0, 1].map(async () => {
      const child = spawn(process.execPath, [join(ROOT, 'build/nightly.ts'), '--daemon'], { env, stdio: 'pipe' });
      started.push(child);
      let said = '';
      for await (const piece of child.stdout) {
        said += String(piece);
        // Each prints the next run, or that the other one is running it.
        if (/next collection|another nightly run/.test(said)) child.kill('SIGTERM');
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      return child.exitCode;
    });
    expect(await Promise.all(exits)).toEqual([0, 0]);
    expect(await began(config)).toHaveLength(1);
  });
});

describe('the log of runs', () => {
  const run = { seconds: 1.5, outcome: 'released' as const, release: 'a', records: 2, steps: [], messages: [] };

  test('is read from its end, skipping torn lines', async () => {
    const data = scratch();
    expect(await lastRuns(data, 'x', 5)).toEqual([]);
    await recordRun(data, 'x', { at: '2026-01-01T00:00:00Z', ...run });
    appendFileSync(paths.runs(data, 'x'), '{"at":"2026-01-02T00:');
    await recordRun(data, 'x', { at: '2026-01-03T00:00:00Z', ...run });
    appendFileSync(paths.runs(data, 'x'), 'null\n7\n');
    expect((await lastRuns(data, 'x', 5)).map(({ at }) => at)).toEqual([
      '2026-01-03T00:00:00Z',
      '2026-01-01T00:00:00Z',
    ]);
  });

  test('counts the nights without a good run, and no retries', async () => {
    const data = scratch();
    const nights: number[] = [];
    for (const [outcome, retry] of [
      ['failed', false],
      ['failed', true],
      ['refused', false],
      ['unchanged', false],
      ['refused', false],
      ['failed', false],
    ] as const)
      nights.push(await recordRun(data, 'x', { at: '2026-01-01T00:00:00Z', ...run, outcome }, retry));
    expect(nights).toEqual([1, 1, 2, 0, 1, 2]);
    expect(await lastRuns(data, 'x', 1)).toMatchObject([{ bad_nights: 2 }]);
  });

  test('shortens a run with a very long report', async () => {
    const data = scratch();
    await recordRun(data, 'x', { at: '2026-01-01T00:00:00Z', ...run });
    const messages = ['why', 'x'.repeat(300_000), ...Array.from({ length: 100 }, () => '\u0000'.repeat(1_000))];
    await recordRun(data, 'x', { at: '2026-01-02T00:00:00Z', ...run, messages });
    const [last, first] = await lastRuns(data, 'x', 5);
    expect([last?.at, first?.at]).toEqual(['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z']);
    expect(last?.messages.slice(0, 2)).toEqual(['why', `${'x'.repeat(2_000)}…`]);
    expect(last?.messages.at(-1)).toMatch(/^… and 9\d more$/);
  });

  test('stays quick when it is long', async () => {
    const data = scratch();
    await recordRun(data, 'x', { at: '2026-01-01T00:00:00Z', ...run });
    const line = readFileSync(paths.runs(data, 'x'), 'utf8');
    writeFileSync(paths.runs(data, 'x'), line.repeat(20_000));
    const runs = await lastRuns(data, 'x', 1_000_000);
    expect(runs.length).toBeGreaterThan(100);
    expect(runs.length).toBeLessThan(2_000);
  });

  test('has the time of every step', { timeout: 60_000 }, async () => {
    const config = place();
    await live(config, '2026-11-20T12:30:00Z', 1);
    const [last] = await lastRuns(config.DATA_DIR, 'harbours', 1);
    expect(last?.steps.map(({ step }) => step)).toEqual(
      expect.arrayContaining(['fetch', 'collect', 'consolidate', 'check', 'index and release']),
    );
    expect(last?.records).toBeGreaterThan(3);
  });
});
