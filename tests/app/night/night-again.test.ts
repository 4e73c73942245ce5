// The second night: what changes, what is kept, and what is refused.
import { hash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { datasetNight } from '../../../build/night/dataset.ts';
import { runNight } from '../../../build/night/run.ts';
import { draftRelease } from '../../../build/release/draft-release.ts';
import { readConfig } from '../../../config.ts';
import { Duck, quotedText, setDuckMemory } from '../../../data/duckdb/duck.ts';
import { olderFormat } from '../../../data/index/container.ts';
import { INDEX_FILE, INDEX_FOLDER, paths } from '../../../data/model/layout.ts';
import { currentRelease, readManifest, verifyRelease } from '../../../data/model/manifest.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { NO_OVERLAY } from '../../../data/plan/overlay.ts';
import { lastRuns } from '../../../data/releases/runs.ts';
import { allReadings } from '../../../data/write/facts.ts';
import { loadPack } from '../../../packs/define/load.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { type Issues, type ObservedRow, scratch, still, stonesPack } from '../../support/night-pack.ts';
import { verifies } from '../../support/verifies.ts';

verifies('release.last-good', 'release.immutable', 'feed.recorded-at', 'record.updated-at', 'record.slug-fixed');

const many = (n: number, more: (i: number) => Omit<ObservedRow, 'code'> = () => ({})): ObservedRow[] =>
  Array.from({ length: n }, (_, i) => ({ code: `s${i}`, name: `Stone ${i}`, status: 'here', mass: i + 1, ...more(i) }));

const night = (pack: Pack, data: string, now?: string, accept = false) =>
  datasetNight(pack, data, still(now), { accept });

const folderOf = async (data: string) => paths.release(data, 'stones', (await currentRelease(data, 'stones'))!);

const recordsOf = async (data: string) =>
  readFileSync(join(await folderOf(data), 'records.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as StoredRecord);

async function changesOf(data: string) {
  const duck = await Duck.open(join(data, 'spill'));
  const feed = `read_parquet(${quotedText(join(await folderOf(data), 'changes.parquet'))})`;
  const rows = await duck.rows(
    `SELECT epoch_us(recorded_at), type, name, attribute, old_value, new_value FROM ${feed}`,
  );
  duck.close();
  return rows.map(([at, ...rest]) => ({
    at: Number(at),
    text: rest
      .map((cell) => cell ?? '')
      .join(' ')
      .trim(),
  }));
}

/** Every file below a folder with the hash of its bytes. */
function bytesOf(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => [
      join(entry.parentPath, entry.name),
      hash('sha256', readFileSync(join(entry.parentPath, entry.name))),
    ]),
  );
}

test('the same inputs give the same bytes anywhere', async () => {
  const [one, two] = [scratch(), scratch()];
  for (const data of [one, two])
    await night(stonesPack(scratch(), { quarry: { '01-01': many(40), '02-01': many(39) } }), data);
  const [left, right] = [bytesOf(await folderOf(one)), bytesOf(await folderOf(two))];
  expect([...left.keys()].map((path) => path.slice(one.length))).toEqual(
    [...right.keys()].map((path) => path.slice(two.length)),
  );
  for (const [path, bytes] of left) expect(right.get(two + path.slice(one.length)), path).toBe(bytes);
});

test('the same bytes from any number of ranges and threads', async () => {
  const data = scratch();
  const pack = await loadPack(join(import.meta.dirname, '../../packs/tools'));
  await datasetNight(pack, data, still(), { accept: false });
  const duck = await Duck.open(join(data, 'spill'));
  const made = await allReadings(duck, data, 'tools');
  duck.close();
  const splitIn = async (stretches: number, threads: boolean) => {
    const making = { pack, dataDir: data, allReadings: made, before: null, overlay: NO_OVERLAY, effects: still() };
    const { folder, ...draft } = await draftRelease(
      { ...making, split: { ranges: stretches, threads } },
      join(data, 'workspace'),
    );
    const files = [...bytesOf(folder)].map(([path, bytes]) => [path.slice(folder.length), bytes]);
    return { ...draft, files: Object.fromEntries(files) as Record<string, string> };
  };
  const whole = await splitIn(1, false);
  expect(whole.records).toBe(26);
  expect(Object.keys(whole.files).length).toBeGreaterThan(10);
  expect(await splitIn(2, true)).toEqual(whole);
  // More ranges than records: some are empty.
  expect(await splitIn(31, false)).toEqual(whole);
}, 300_000);

test('a night that may lack memory warns before it sorts facts, and continues', async () => {
  vi.spyOn(process, 'constrainedMemory').mockReturnValue(2 ** 29);
  const effects = still();
  const lines: string[] = [];
  effects.progress = {
    ...effects.progress,
    step: (_, step) => void lines.push(step),
    warn: (text) => void lines.push(text),
  };
  const pack = await loadPack(join(import.meta.dirname, '../../packs/tools'));
  const night = await datasetNight(pack, scratch(), effects, { accept: false });
  expect(night).toMatchObject({ outcome: 'released', records: 26 });
  const warning = lines.findIndex((line) => /^tools: a night needs about 1\.\d GB of memory/.test(line));
  expect(lines[warning - 1]).toBe('sort facts');
  expect(lines.slice(warning + 1)).toContain('consolidate');
});

test('a night without changes writes nothing, also later', async () => {
  const [data, folder] = [scratch(), scratch()];
  const pack = stonesPack(folder, { quarry: { '01-01': many(3) } });
  const first = await night(pack, data);
  const before = bytesOf(data);
  const manifest = join(await folderOf(data), 'manifest.json');
  const { mtimeMs } = statSync(manifest);
  const second = await night(pack, data, '2026-11-21T00:00:00Z');
  expect(second).toMatchObject({ outcome: 'unchanged', release: first.release, records: 3 });
  expect(statSync(manifest).mtimeMs).toBe(mtimeMs);
  expect(bytesOf(data)).toEqual(before);
});

describe('changes', () => {
  const first: Issues = { '01-01': many(5) };
  const later = '2026-11-21T00:00:00Z';

  test('the feed continues with the changes, and only what changed is updated', async () => {
    const [data, folder] = [scratch(), scratch()];
    await night(stonesPack(folder, { quarry: first }), data);
    const old = await changesOf(data);
    const changed = many(6, (i) => (i === 2 ? { mass: 4 } : i === 3 ? { mass: undefined } : {})).filter(
      ({ code }) => code !== 's4',
    );
    await night(stonesPack(folder, { quarry: { ...first, '02-01': changed } }), data, later);
    const feed = await changesOf(data);
    expect(feed.slice(0, old.length)).toEqual(old);
    expect(
      feed
        .slice(old.length)
        .map(({ text }) => text)
        .sort(),
    ).toEqual([
      'added Stone 5 code  "s5"',
      'added Stone 5 mass  6',
      'added Stone 5 name  "Stone 5"',
      'added Stone 5 status  "here"',
      'changed Stone 2 mass 3 4',
      'changed Stone 3 mass 4',
      'changed Stone 4 status "here" "gone"',
    ]);
    expect(feed.every(({ at }, i) => i === 0 || at > feed[i - 1]!.at)).toBe(true);
    expect(feed.at(-1)!.at).toBe(Date.parse(later) * 1000);
    const updated = (await recordsOf(data)).filter(({ updated_at }) => updated_at === later).map(({ slug }) => slug);
    expect(updated.sort()).toEqual(['stone-2', 'stone-3', 'stone-4', 'stone-5']);
  });

  test('a confirmation only is a new release with nothing in its feed', async () => {
    const [data, folder] = [scratch(), scratch()];
    const one = await night(stonesPack(folder, { quarry: first }), data);
    const old = await changesOf(data);
    const two = await night(stonesPack(folder, { quarry: { ...first, '02-01': many(5) } }), data, later);
    expect(two).toMatchObject({ outcome: 'released', records: 5 });
    expect(two.release).not.toBe(one.release);
    expect(await changesOf(data)).toEqual(old);
    const [record] = await recordsOf(data);
    expect(record!.updated_at).toBe('2026-11-20T00:00:00Z');
    expect(Object.values(record!.provenance)[0]!.observed_at).toBe('2026-02-01T00:00:00Z');
  });

  test('with a stopped clock, recorded times still ascend', async () => {
    const [data, folder] = [scratch(), scratch()];
    await night(stonesPack(folder, { quarry: first }), data);
    await night(stonesPack(folder, { quarry: { ...first, '02-01': many(5, () => ({ mass: 7 })) } }), data);
    const feed = await changesOf(data);
    expect(feed.every(({ at }, i) => i === 0 || at > feed[i - 1]!.at)).toBe(true);
  });

  test('the release of an earlier program version gets an index, and the run after has nothing to do', async () => {
    const [data, pack] = [scratch(), stonesPack(scratch(), { quarry: { '01-01': many(9) } })];
    const first = await night(pack, data, '2026-01-02T00:00:00Z');
    const folder = await folderOf(data);
    const columns = join(folder, INDEX_FOLDER, INDEX_FILE);
    const index = readFileSync(columns);
    // What another version would have left: its fingerprint of the code, and its format of the index.
    const manifest = join(folder, 'manifest.json');
    const before = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>;
    writeFileSync(manifest, `${JSON.stringify({ ...before, inputs: 'other code' }, null, 1)}\n`);
    writeFileSync(columns, Buffer.concat([Buffer.from('DSRIDX01'), index.subarray(8)]));
    expect(olderFormat(columns)).toBe(true);
    const again = await night(pack, data, '2026-01-03T00:00:00Z');
    expect([again.outcome, again.release]).toEqual(['unchanged', first.release]);
    expect(readFileSync(columns)).toEqual(index);
    expect(JSON.parse(readFileSync(manifest, 'utf8'))).toEqual(before);
    const bytes = bytesOf(data);
    expect((await night(pack, data, '2026-01-04T00:00:00Z')).outcome).toBe('unchanged');
    expect(bytesOf(data)).toEqual(bytes);
  });

  test('releases before stay as they are, the newest three', async () => {
    const [data, folder] = [scratch(), scratch()];
    const issues: Issues = {};
    const seen: string[] = [];
    for (const month of ['01', '02', '03', '04', '05']) {
      issues[`${month}-01`] = many(4, () => ({ mass: Number(month) }));
      const { release } = await night(stonesPack(folder, { quarry: issues }), data);
      seen.push(release!);
    }
    const kept = readdirSync(paths.releases(data, 'stones')).filter((name) => /^[0-9a-f]{16}$/.test(name));
    expect(kept.sort()).toEqual(seen.slice(-3).sort());
    const manifests = readdirSync(join(paths.releases(data, 'stones'), 'manifests'));
    expect(manifests.sort()).toEqual(
      seen
        .slice(0, -3)
        .map((release) => `${release}.json`)
        .sort(),
    );
    for (const release of kept) expect(await verifyRelease(paths.release(data, 'stones', release))).toEqual([]);
  });
});

describe('a killed run', () => {
  test('between the move and the switch: the release is made again, and dated again', async () => {
    const [data, folder, mirror] = [scratch(), scratch(), scratch()];
    const one = stonesPack(folder, { quarry: { '01-01': many(4) } });
    const two = stonesPack(folder, { quarry: { '01-01': many(4), '02-01': many(5) } });
    for (const each of [data, mirror]) await night(one, each);
    const { release } = await night(two, mirror, '2026-11-21T00:00:00Z');
    const dead = paths.release(data, 'stones', release!);
    mkdirSync(dead);
    writeFileSync(join(dead, 'changes.parquet'), 'of the night before');
    mkdirSync(join(paths.releases(data, 'stones'), '.unfinished-build/out'), { recursive: true });
    await night(two, data, '2026-11-21T00:00:00Z');
    expect(await currentRelease(data, 'stones')).toBe(release);
    expect(await verifyRelease(dead)).toEqual([]);
    expect(readdirSync(paths.releases(data, 'stones')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('a current release whose folder is gone is made again', async () => {
    const data = scratch();
    const pack = stonesPack(scratch(), { quarry: { '01-01': many(4) } });
    const { release } = await night(pack, data);
    rmSync(paths.release(data, 'stones', release!), { recursive: true });
    expect(await night(pack, data)).toMatchObject({ outcome: 'released', release });
    expect(await verifyRelease(paths.release(data, 'stones', release!))).toEqual([]);
  });
});

describe('a bad night', () => {
  test('keeps the last good release with the reason; `accept` overrides it', async () => {
    const [data, folder] = [scratch(), scratch()];
    const good: Issues = { '01-01': many(40) };
    const { release } = await night(stonesPack(folder, { quarry: good }), data);
    const emptied = stonesPack(folder, { quarry: { ...good, '02-01': many(40, () => ({ mass: undefined })) } });
    const refused = await night(emptied, data);
    expect(refused).toMatchObject({
      outcome: 'refused',
      release,
      messages: [expect.stringMatching(/^mass: 40 of 40 values are missing .* --accept` once/)],
    });
    expect(await currentRelease(data, 'stones')).toBe(release);
    expect(await verifyRelease(await folderOf(data))).toEqual([]);
    expect(await night(emptied, data, undefined, true)).toMatchObject({ outcome: 'released' });
  });

  test('without any source there is no release, and that is an error', async () => {
    const pack = stonesPack(scratch(), { quarry: { '01-01': [] } });
    const [quarry] = pack.sources;
    const pins = quarry!.pins.map((pin) => ({ ...pin, integrity: `sha512-${'a'.repeat(86)}==` }));
    const effects = still();
    const offline = { ...pack, sources: [{ ...quarry!, pins }] };
    const stopped = datasetNight(offline, scratch(), effects, { accept: false });
    const unavailable = 'quarry: quarry@1.1.1: npm: ENOTFOUND no network in tests';
    await expect(stopped).rejects.toMatchObject({
      mistakes: ['no source could be read'],
      sentences: [unavailable, 'no source could be read'],
    });
    expect(effects.lines).toEqual(['stones: fetch', `! stones: ${unavailable}`, '! stones: no source could be read']);
  });

  test('a pin that cannot be fetched fails the run, and the others are released', async () => {
    const pack = stonesPack(scratch(), { quarry: { '01-01': many(3) } });
    const [quarry] = pack.sources;
    const missing = {
      ...quarry!.pins[0]!,
      version: '1.9.9',
      integrity: `sha512-${'a'.repeat(86)}==`,
      observed_at: '2026-09-09T00:00:00Z',
    };
    const more = { ...pack, sources: [{ ...quarry!, pins: [...quarry!.pins, missing] }] };
    expect(await night(more, scratch())).toMatchObject({
      outcome: 'released',
      failures: ['quarry: quarry@1.9.9: npm: ENOTFOUND no network in tests'],
    });
  });

  test('mistakes in the readings keep the last release, and are in the run log, each once', async () => {
    const [data, packs] = [scratch(), scratch()];
    cpSync(join(import.meta.dirname, '../../../build/skeleton'), join(packs, 'things'), { recursive: true });
    const config = readConfig({ DATA_DIR: data, DIST_DIR: scratch(), PACK_DIRS: packs });
    const run = (effects = still()) => runNight(config, effects, { only: null, accept: false });
    expect((await run()).failures).toEqual([]);
    const release = await currentRelease(data, 'things');
    const collector = join(packs, 'things/collect.ts');
    const text = readFileSync(collector, 'utf8').replace("'price.list'", "'price.lst'");
    // Node caches modules by their path.
    cpSync(join(packs, 'things'), join(packs, 'other/things'), { recursive: true });
    writeFileSync(join(packs, 'other/things/collect.ts'), text);
    const pack = readFileSync(join(packs, 'things/pack.ts'), 'utf8');
    writeFileSync(join(packs, 'other/things/pack.ts'), pack.replace('revision: 1', 'revision: 2'));
    const effects = still();
    const again = { ...config, PACK_DIRS: [join(packs, 'other')] };
    const { failures } = await runNight(again, effects, { only: null, accept: false });
    const mistake =
      "example: 4 values under 'price.lst', expected the name of an attribute; nearest 'price.list' (collect.ts:15), " +
      'such as row 1 of skeleton-source@1.0.0: 12.5';
    expect(failures).toEqual([`things: ${mistake}`]);
    expect(await currentRelease(data, 'things')).toBe(release);
    expect((await lastRuns(data, 'things', 1))[0]).toMatchObject({ outcome: 'failed', release, messages: [mistake] });
    const warnings = effects.lines.filter((line) => line.startsWith('! things'));
    expect(warnings).toEqual([
      `! things: ${mistake}`,
      `! things: stopped; nothing was added; release ${release} stays current`,
    ]);
  }, 300_000);

  test('for lack of memory: the run log names the file, the limit and the setting', async () => {
    const [data, packs] = [scratch(), scratch()];
    cpSync(join(import.meta.dirname, '../../../build/skeleton'), join(packs, 'things'), { recursive: true });
    const config = readConfig({ DATA_DIR: data, DIST_DIR: scratch(), PACK_DIRS: packs });
    // One MiB, which no setting allows.
    await runNight({ ...config, DUCKDB_MEMORY: 2 ** 20 }, still(), { only: null, accept: false });
    setDuckMemory(undefined);
    const [run] = await lastRuns(data, 'things', 1);
    expect(run).toMatchObject({ outcome: 'failed', bad_nights: 1 });
    expect(run!.messages[0]).toMatch(/^(?:writing|a query of) .+ needs more than 1 MB, .+: set DUCKDB_MEMORY to more/);
  }, 300_000);

  test('of one dataset does not stop the others, and the run reports it', async () => {
    const [data, packs] = [scratch(), scratch()];
    mkdirSync(join(packs, 'broken'));
    writeFileSync(join(packs, 'broken/pack.ts'), 'export default 7;');
    const config = readConfig({
      DATA_DIR: data,
      DIST_DIR: scratch(),
      PACK_DIRS: `${join(import.meta.dirname, '../../packs')},${packs}`,
    });
    const { nights, failures } = await runNight(config, still(), { only: ['tools', 'harbour'], accept: false });
    expect(nights.map(({ dataset, outcome }) => [dataset, outcome])).toEqual([['tools', 'released']]);
    expect(failures).toHaveLength(2);
    expect(failures[0]).toContain('broken');
    expect(failures[1]).toMatch(/^harbour: no such pack; the packs are harbours, tools; nearest: harbours$/);
    expect((await readManifest(paths.release(data, 'tools', (await currentRelease(data, 'tools'))!))).records).toBe(26);
    expect(existsSync(config.DIST_DIR)).toBe(true);
    // Without a pack nothing is rendered.
    const again = await runNight({ ...config, DIST_DIR: join(data, 'no-files') }, still(), {
      only: ['harbour'],
      accept: false,
    });
    expect(again.failures[1]).toContain('no such pack');
    expect(existsSync(join(data, 'no-files'))).toBe(false);
  }, 300_000);
});
