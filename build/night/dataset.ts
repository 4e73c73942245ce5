// The night of one dataset: collect, consolidate, check, release. Each step can be repeated after a crash.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Duck } from '../../data/duckdb/duck.ts';
import { buildIndex, ensureIndex } from '../../data/index/build.ts';
import { UNFINISHED } from '../../data/model/atomic.ts';
import { KEPT_RELEASES, type Manifest, paths } from '../../data/model/layout.ts';
import { currentRelease, makeCurrent, readManifest } from '../../data/model/manifest.ts';
import type { Overlay } from '../../data/plan/overlay.ts';
import { NO_OVERLAY_SOURCE, type OverlaySource } from '../../data/releases/overlay-source.ts';
import { nameRecords } from '../../data/write/analysts-files.ts';
import { allReadings, listRuns, publishRun, type ReadingRow } from '../../data/write/facts.ts';
import { type PreviousRelease, previousRelease } from '../../data/write/previous-release.ts';
import { type Publication, seal } from '../../data/write/seal.ts';
import type { Pack } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';
import { type Balance, balanceLines, REFUSED, STOPPED, settleLost } from '../collect/balance.ts';
import { type Collected, CollectionStopped, type CollectOptions, collect } from '../collect/collect.ts';
import type { Effects } from '../effects/effects.ts';
import { checkRelease, confirmedValues } from '../release/check.ts';
import { draftRelease, type ReleaseDraft } from '../release/draft-release.ts';

export interface DatasetNight {
  dataset: string;
  /**
   * `released`: a new release is current. `unchanged`: the data did not change. `refused`: the checks failed.
   */
  outcome: 'released' | 'unchanged' | 'refused';
  release: string | null;
  records: number;
  facts: number;
  /**
   * Why a release was refused, which sources failed, which rows did not become facts, and what the collector
   * logged.
   */
  messages: string[];
  /** What became of the cells of each declared source, as sentences; empty when none was read. */
  balance?: string[];
  /** Pins that could not be fetched, as sentences. */
  failures: string[];
  /** Mistakes that would have stopped the run without `ignoreMistakes`. */
  ignored: number;
}

/** The sources gave no facts to release. Every sentence was shown. */
export class DatasetStopped extends Error {
  /** What stopped the run, as sentences. */
  readonly mistakes: string[];
  /** All sentences of the run, for its log. */
  readonly sentences: string[];
  constructor(mistakes: string[], sentences: string[]) {
    super(mistakes.join('; '));
    this.mistakes = mistakes;
    this.sentences = sentences;
  }
}

/** `accept`: skip the comparison with the last release; the pack's own tests still apply. */
export interface NightOptions {
  accept: boolean;
  /** See CollectOptions. */
  ignoreMistakes?: boolean;
  /** Opt-outs, owners' edits and decisions; absent: none. */
  overlays?: OverlaySource;
  /** False: no source is read, and the release is built again from the stored facts. */
  collects?: boolean;
  /** Absent: neither signed nor published to other machines. */
  publication?: Publication;
  /** RELEASES_KEEP; absent: its default. */
  keep?: number;
}

const NOTHING: Collected = { readings: 0, facts: 0, rejected: 0, failures: [], warnings: [], reports: [], logs: [] };

/** From this number of records on, threads are faster. */
const LARGE = 20_000;

const number = (n: number) => n.toLocaleString('en-US');

/**
 * Runs the night of a dataset. A failed source is reported; a release that fails its checks leaves the last
 * one in place. Throws DatasetStopped when there are mistakes in the readings, or no reading at all.
 */
export async function datasetNight(
  pack: Pack,
  dataDir: string,
  effects: Effects,
  options: NightOptions,
): Promise<DatasetNight> {
  const { accept, ignoreMistakes = false, overlays = NO_OVERLAY_SOURCE, collects = true, publication } = options;
  const { keep = KEPT_RELEASES } = options;
  const { progress } = effects;
  const releases = paths.releases(dataDir, pack.id);
  await mkdir(releases, { recursive: true });
  await clear(releases);
  const { current, before } = await currentOf(pack, dataDir, effects, keep);
  // A run that was killed right after its release was current is part of the history.
  await publishRun(dataDir, pack.id, before?.run);
  const { news, failures, ignored, run, balances } = await collectNews(
    pack,
    dataDir,
    effects,
    collects ? { accept, ignoreMistakes } : null,
  );
  // The lock excludes other builds, so a range of the feed after this release is from a build that was
  // killed.
  await overlays.forget(pack.id, before?.recorded_to ?? 0);
  const overlay = await overlays.read(pack.id);
  const runs = (await listRuns(dataDir, pack.id, run)).map(({ run: id }) => id);
  const inputs = await fingerprint(pack, runs, overlay);
  if (before?.inputs === inputs) {
    progress.note(`${pack.id}: no changes, release ${current} stays current`);
    // The index is derived from the release and can be built again when it is missing.
    await ensureIndex(paths.release(dataDir, pack.id, before.release), pack);
    const { records, facts } = before;
    return {
      dataset: pack.id,
      outcome: 'unchanged',
      release: current,
      records,
      facts,
      messages: news,
      failures,
      ignored,
    };
  }
  const workspace = join(releases, `${UNFINISHED}build`);
  const indexes: Promise<void>[] = [];
  try {
    const made = await readings(dataDir, pack.id, workspace, run);
    if (made.length === 0) {
      progress.warn(`${pack.id}: ${NO_SOURCE}`);
      throw new DatasetStopped([NO_SOURCE], [...news, NO_SOURCE]);
    }
    const build = {
      pack,
      dataDir,
      effects,
      overlays,
      overlay,
      inputs,
      current,
      before,
      made,
      news,
      failures,
      ignored,
      run,
      lastRun: made.at(-1)!.run,
      balances,
      workspace,
      publication,
      keep,
      indexes,
    };
    return await buildRelease(build, accept);
  } catch (error) {
    // The range of a failed build must not delay later changes.
    await overlays.forget(pack.id, before?.recorded_to ?? 0).catch(() => {});
    throw error;
  } finally {
    // An index is built in the workspace.
    await Promise.allSettled(indexes);
    await rm(workspace, { recursive: true, force: true });
  }
}

const NO_SOURCE = 'no source could be read';

/** Collects and reports the new readings and facts. */
async function collectNews(pack: Pack, dataDir: string, effects: Effects, options: CollectOptions | null) {
  const { progress } = effects;
  const show = (lines: readonly string[]) => {
    for (const line of lines) progress.warn(`${pack.id}: ${line}`);
  };
  try {
    const collected = options === null ? NOTHING : await collect(pack, dataDir, effects, options);
    const { failures, warnings, reports, logs, readings, facts, rejected, ignored = 0 } = collected;
    show([...failures, ...warnings, ...reports]);
    if (readings > 0) {
      const values = rejected > 0 ? `, ${number(rejected)} values rejected` : '';
      progress.note(`${pack.id}: ${readings} readings, ${number(facts)} new facts${values}`);
    }
    return {
      news: [...failures, ...warnings, ...reports, ...logs],
      failures,
      ignored,
      run: collected.run,
      balances: collected.balances ?? new Map<string, Balance>(),
    };
  } catch (error) {
    if (!(error instanceof CollectionStopped)) throw error;
    const { mistakes, collected } = error;
    const lines = [...mistakes, ...collected.failures, ...collected.warnings, ...collected.reports];
    show(lines);
    for (const line of balanceLines(collected.balances ?? new Map(), STOPPED)) progress.note(`${pack.id}: ${line}`);
    const release = await currentRelease(dataDir, pack.id).catch(() => null);
    const rest = release === null ? 'there is no release yet' : `release ${release} stays current`;
    progress.warn(`${pack.id}: stopped; nothing was added; ${rest}`);
    throw new DatasetStopped(mistakes, [...lines, ...collected.logs]);
  }
}

/** Id of the current release, and its manifest when it is readable. */
async function currentOf(pack: Pack, dataDir: string, { progress }: Effects, keep: number) {
  const damage: string[] = [];
  const current = await currentRelease(dataDir, pack.id, (problem) => damage.push(problem));
  for (const problem of damage) progress.warn(problem);
  // Points readers at the newest complete release, so that they need not search for it.
  if (current !== null && damage.length > 0) await makeCurrent(dataDir, pack.id, current, keep);
  const before =
    current === null ? null : await readManifest(paths.release(dataDir, pack.id, current)).catch(() => null);
  return { current, before };
}

/** What a release is built from. */
interface Build {
  pack: Pack;
  dataDir: string;
  effects: Effects;
  overlays: OverlaySource;
  overlay: Overlay;
  /** Fingerprint of the fields below. */
  inputs: string;
  /** The current release and its manifest. */
  current: string | null;
  before: Manifest | null;
  /** The published readings, and those of `run`. */
  made: readonly ReadingRow[];
  news: string[];
  /** Pins that could not be fetched. */
  failures: string[];
  ignored: number;
  /** The pending run that appended facts now; undefined: none did. */
  run: string | undefined;
  /** The newest run of the release. */
  lastRun: string;
  /** What became of the cells of each declared source. */
  balances: ReadonlyMap<string, Balance>;
  workspace: string;
  publication: Publication | undefined;
  keep: number;
  /** The index in progress, if it has begun. */
  indexes: Promise<void>[];
}

/** Consolidates, checks and publishes. */
async function buildRelease(build: Build, accept: boolean): Promise<DatasetNight> {
  const { pack, dataDir, effects, overlay, current, before, made, workspace } = build;
  const { progress } = effects;
  const folder = before === null || current === null ? null : paths.release(dataDir, pack.id, current);
  const earlier = folder === null ? null : previousRelease(folder, overlay, before?.overlay ?? 0);
  // Threads build the index while the other files are written, measured and compared with the last release.
  const indexable = (draft: string, records: number) => {
    const index = buildIndex(draft, pack, records >= LARGE);
    // `publish` reports its error, unless another step fails first.
    index.catch(() => {});
    build.indexes.push(index);
  };
  const resolved = await draftRelease(
    { pack, dataDir, allReadings: made, run: build.run, before: earlier, overlay, effects, indexable },
    workspace,
  );
  progress.step(pack.id, 'check');
  const compared = folder === null || accept ? null : { folder, revision: before?.revision };
  const removed = [...overlay.removed.keys()];
  const wrong = await checkRelease(pack, resolved.folder, compared, removed);
  const { run, balances } = build;
  if (run !== undefined) await settleLost(balances, pack, { run, dataDir, draft: resolved.folder, removed, workspace });
  if (wrong.length > 0) return refused(build, wrong);
  const confirmed = await confirmedValues(folder, resolved.folder, workspace);
  for (const line of confirmed) progress.note(`${pack.id}: ${line}`);
  progress.step(pack.id, 'index and release');
  const { release, fresh } = await publish(build, resolved, earlier);
  const { records, facts, review } = resolved;
  const openItems = review > 0 ? `, ${number(review)} to review` : '';
  progress.note(
    `${pack.id}: ${number(records)} records from ${number(facts)} facts${openItems}; release ${release}${fresh ? '' : ' as before'}`,
  );
  const balance = balanceLines(build.balances);
  for (const line of balance) progress.note(`${pack.id}: ${line}`);
  const outcome = fresh ? 'released' : 'unchanged';
  const { news, failures, ignored } = build;
  return {
    dataset: pack.id,
    outcome,
    release,
    records,
    facts,
    messages: [...news, ...confirmed],
    balance,
    failures,
    ignored,
  };
}

/** Keeps the last release; the readings of the run stay pending. */
function refused(build: Build, wrong: readonly string[]): DatasetNight {
  const { pack, effects, current, before, news, failures, ignored } = build;
  const { progress } = effects;
  for (const reason of wrong) progress.warn(`${pack.id}: ${reason}`);
  const balance = balanceLines(build.balances, REFUSED);
  for (const line of balance) progress.note(`${pack.id}: ${line}`);
  progress.warn(
    `${pack.id}: refused; ${current === null ? 'there is no release yet' : `release ${current} stays current`}`,
  );
  const { records = 0, facts = 0 } = before ?? {};
  const release = before === null ? null : current;
  return {
    dataset: pack.id,
    outcome: 'refused',
    release,
    records,
    facts,
    messages: [...wrong, ...news],
    balance,
    failures,
    ignored,
  };
}

/** Seals a release and makes it current when its index is built. */
async function publish(build: Build, resolved: ReleaseDraft, earlier: PreviousRelease | null) {
  const { pack, dataDir, effects, overlays, overlay, inputs, lastRun, current, before } = build;
  const { rows, facts, enums, ages, records, created_at } = resolved;
  const base = {
    dataset: pack.id,
    title: pack.title,
    created_at,
    last_collection: created_at,
    inputs,
    run: lastRun,
    revision: pack.revision,
    overlay: overlay.version,
  };
  const manifest = { ...base, records, facts, confirmed: resolved.confirmed, enums, ages };
  const sealed = await seal(dataDir, resolved.folder, rows, manifest, {
    pack,
    current: before === null ? null : current,
    before: earlier,
    removed: [...overlay.removed.keys()],
    now: effects.now,
    keep: build.keep,
    reserve: (count, after) => overlays.reserve(pack.id, { count, now: effects.now().getTime(), after }),
    derived: () => Promise.all(build.indexes),
    ...build.publication,
    name: nameRecords,
  });
  await publishRun(dataDir, pack.id, lastRun);
  return sealed;
}

async function readings(
  dataDir: string,
  dataset: string,
  workspace: string,
  run: string | undefined,
): Promise<ReadingRow[]> {
  const duck = await Duck.open(join(workspace, 'spill'));
  try {
    return await allReadings(duck, dataDir, dataset, run);
  } finally {
    duck.close();
  }
}

/** Removes unfinished releases of killed runs. */
async function clear(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith(UNFINISHED)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

const ROOT = join(import.meta.dirname, '../..');

/** Folders whose code determines the content of a release. */
const CODE = [
  ...['collect', 'effects', 'night', 'release'].map((name) => `build/${name}`),
  ...['consolidate', 'duckdb', 'index', 'model', 'plan', 'releases', 'write'].map((name) => `data/${name}`),
  'packs/define',
];

/** Fingerprint of the runs, the pack, the code and the overlay. */
async function fingerprint(pack: Pack, runs: readonly string[], overlay: Overlay): Promise<string> {
  const { removed, restored, ownerFacts, decided } = overlay;
  const hash = createHash('sha256');
  for (const run of runs) hash.update(`${run}\n`);
  for (const folder of CODE) await addCode(hash, join(ROOT, folder));
  await addCode(hash, pack.folder);
  // Versions are left out: a change and its reversal give the same release. Not so a removal and restoration, which
  // readers of the feed saw: a release that contains both has a later `updated_at`.
  const edits = [...ownerFacts.values(), ...decided.values()].flat().map(({ version: _, ...edit }) => edit);
  hash.update(JSON.stringify([[...removed.keys()].sort(byCodePoint), edits, [...restored]]));
  return hash.digest('hex').slice(0, 32);
}

/** Adds the program files of a folder, without tests and sub-folders. */
async function addCode(hash: ReturnType<typeof createHash>, folder: string): Promise<void> {
  const files = await readdir(folder, { withFileTypes: true });
  const code = files
    .filter((file) => file.isFile() && (/(?<!\.test)\.(ts|json)$/.test(file.name) || /^NOTICE(\.md)?$/.test(file.name)))
    .map(({ name }) => name);
  for (const name of code.sort(byCodePoint)) {
    hash.update(`${name}\n`);
    hash.update(await readFile(join(folder, name)));
  }
}
