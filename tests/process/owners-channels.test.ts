// Decisions of owners are visible in every channel of every process, within seconds and without a rebuild,
// and persist.
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../api/operations/table.ts';
import { runNight } from '../../build/night/run.ts';
import { readConfig } from '../../config.ts';
import { loadPack } from '../../packs/define/load.ts';
import { atOnce } from '../support/at-once.ts';
import { LONG } from '../support/draws.ts';
import { type Got, startApi } from '../support/money-processes.ts';
import { scratchOfAll, still } from '../support/night-pack.ts';
import { everyProbe, OPERATOR, type Probe, type Process, processAt } from '../support/owners-probes.ts';
import { linkIn } from '../support/owners-stage.ts';
import { verifies } from '../support/verifies.ts';
import { withCopies } from '../support/whole-night.ts';

verifies('overlay.everywhere', 'overlay.survives', 'overlay.bulk', 'shape.changes-removed');

/** The record with the decision: its names, and a value that only it has. */
const TARGET = { slug: 'harbour-3', name: 'Longyear Æther', old: 'Русский', fresh: 'Kauderwelsch' };
const OTHERS = ['harbour-13', 'harbour-5'];
/**
 * Operations that never contain a record, or reveal nothing about this one. Every other one must have shown
 * it.
 */
const SILENT = [
  // A link; its target is requested separately.
  'dataset_export',
  // Values that many records share.
  'dataset_profile',
  'dataset_samples',
  'dataset_schema',
  'dataset_status',
  'dataset_timeseries',
];
/** History keeps earlier values. */
const HISTORY = ['entity_history', 'dataset_changelog', 'dataset_changes'];
/** Milliseconds until the other process must have the change. It checks every 400. */
const SOON = 5_000;

describe('two processes and all their channels', () => {
  const folder = scratchOfAll();
  const dist = join(folder, 'dist');
  const packs = join(folder, 'packs');
  let probes: Probe[];
  let id: string;
  let a: Process;
  let b: Process;
  const config = () => readConfig({ DATA_DIR: folder, DIST_DIR: dist, PACK_DIRS: packs });
  const start = async () => {
    const env = { PACK_DIRS: packs };
    [a, b] = [await processAt(await startApi(folder, env)), await processAt(await startApi(folder, env))];
  };
  const stop = async () => {
    for (const { api, mcp } of [a, b]) {
      await mcp.close().catch(() => {});
      await api.kill('SIGTERM');
    }
  };
  const post = (at: Process, path: string, body: unknown, method = 'POST'): Promise<Got> => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    // Node sends the body of a DELETE only with Content-Length.
    return at.api.ask(path, { 'Content-Length': String(Buffer.byteLength(text)) }, method, text);
  };
  const json = async (at: Process, path: string) =>
    JSON.parse((await at.api.ask(path, OPERATOR)).body) as Record<string, unknown>;

  /** All answers of a process, by probe. */
  async function walk(at: Process, some: readonly Probe[] = probes) {
    const found = new Map<Probe, { status: number; text: string }>();
    await atOnce(some, async (probe) => {
      let got = await probe.ask(at);
      // An address is sent one generated text at a time.
      for (let tries = 0; got.status === 429 && tries < 50; tries += 1) {
        await wait(100);
        got = await probe.ask(at);
      }
      found.set(probe, got);
    });
    return found;
  }

  /** Repeats the requests that do not match yet until the deadline; returns those that never did. */
  async function unlike(
    at: Process,
    some: readonly Probe[],
    right: (probe: Probe, got: { status: number; text: string }) => boolean,
    most = SOON,
  ): Promise<string[]> {
    const end = performance.now() + most;
    let left = [...some];
    let last = new Map<Probe, { status: number; text: string }>();
    for (;;) {
      last = await walk(at, left);
      left = left.filter((probe) => !right(probe, last.get(probe)!));
      if (left.length === 0 || performance.now() > end) break;
      await wait(100);
    }
    return left.map((probe) => `${probe.name}: ${last.get(probe)!.status} ${last.get(probe)!.text.slice(0, 200)}`);
  }

  const names = (text: string) => text.includes(id) || text.includes(TARGET.name) || /harbour-3\b/.test(text);
  const says = (text: string) => names(text) || text.includes(TARGET.old) || text.includes(TARGET.fresh);

  /** Nothing of the record is left: 404 by its name, a file withheld at most while it is written again. */
  function absent({ operation, addressed, file }: Probe, { status, text }: { status: number; text: string }): boolean {
    if (operation === 'dataset_changes') {
      const told = text.replaceAll(id, '');
      return text.includes('removed') ? !told.includes(TARGET.name) && !told.includes(TARGET.fresh) : !says(text);
    }
    if (addressed)
      return (
        !text.includes(TARGET.name) && !text.includes(TARGET.fresh) && !text.includes(TARGET.old) && !text.includes(id)
      );
    return !says(text) && (status < 400 || (file && (status === 503 || status === 404)));
  }

  beforeAll(async () => {
    // The harbours of the tests, with a public value that owners may set.
    cpSync(join(import.meta.dirname, '../packs/harbours'), join(packs, 'harbours'), { recursive: true });
    const file = join(packs, 'harbours/pack.ts');
    const text = readFileSync(file, 'utf8');
    const open = text.replace("example: ['Deutsch', 'Føroyskt'],", '$&\n      public: true,');
    expect(open).not.toBe(text);
    // The target is the best of its coast, but not the deepest, so that examples show it.
    const shown = open.replace(", prominence: 'depth'", '');
    expect(shown).not.toBe(open);
    mkdirSync(packs, { recursive: true });
    writeFileSync(file, shown);
    // One of them speaks the language of another coast, so that it is similar to a record there.
    const book = join(packs, 'harbours/fixtures/pilotbook/2.0.0/harbours.jsonl');
    const lines = readFileSync(book, 'utf8').replace('"Español"', '"Español","Norsk"');
    expect(lines).toContain('"Norsk","日本語"');
    writeFileSync(book, lines);
    await withCopies(dist);
    expect((await runNight(config(), still(), { only: null, accept: false })).failures).toEqual([]);
    await start();
    id = String((await json(a, `/v1/harbours/entities/${TARGET.slug}`))['id']);
    probes = everyProbe(await loadPack(join(packs, 'harbours')), TARGET.slug, OTHERS, dist);
  }, 180_000);
  afterAll(stop);

  let shown: Probe[];
  let told: Probe[];
  let counts: Record<string, unknown>;
  const count = async (at: Process) => ({
    records: (await json(at, '/v1/harbours/status'))['records'],
    profile: (await json(at, '/v1/harbours/profile'))['records'],
    facets: (await json(at, '/v1/harbours/facets?by=coast'))['matched'],
    stats: ((await json(at, '/v1/harbours/stats?attribute=depth'))['rows'] as { count: number }[])[0]?.count,
  });

  test('every operation is called, and each with records shows this one', async () => {
    const before = await walk(a);
    const failed = [...before]
      .filter(([, { status }]) => status >= 400)
      .map(([{ name }, { status }]) => `${name} ${status}`);
    expect(failed).toEqual([]);
    shown = probes.filter((probe) => names(before.get(probe)!.text));
    told = shown.filter((probe) => before.get(probe)!.text.includes(TARGET.old));
    const asked = new Set(probes.map(({ operation }) => operation));
    const inDatasets = OPERATIONS.filter(({ rest }) => rest.method === 'GET' && rest.path.includes(':ds')).map(
      ({ name }) => name,
    );
    expect(inDatasets.filter((name) => !asked.has(name))).toEqual([]);
    const showing = new Set(shown.map(({ operation }) => operation));
    expect(inDatasets.filter((name) => !showing.has(name)).sort()).toEqual([...SILENT].sort());
    for (const channel of [
      'REST json',
      'REST markdown',
      'REST html',
      'REST csv',
      'REST ndjson',
      'REST arrow',
      'MCP',
      'MCP resource',
      'A2A',
      'page',
      'record page',
      'file',
      'new export',
    ])
      expect(
        shown.some(({ name }) => name.startsWith(channel)),
        channel,
      ).toBe(true);
    counts = await count(a);
  }, 120_000);

  test('an edit is visible everywhere, in both processes', async () => {
    expect(
      (await post(a, '/v1/claim', { dataset: 'harbours', entity_id: TARGET.slug, email: 'office@aether.example' }))
        .status,
    ).toBe(200);
    const token = linkIn(folder, 'office@aether.example', /claim\/verify\?token=([\w-]+)/);
    expect((await b.api.ask(`/v1/claim/verify?token=${token}`)).status).toBe(200);
    const done = await post(b, '/v1/claim', { token, values: { languages: ['Norsk', TARGET.fresh] } }, 'PUT');
    expect(done.status, done.body).toBe(200);
    // Bulk files follow at the next publishing; their answers name the release.
    const now = told.filter(
      ({ operation, name }) =>
        !HISTORY.includes(operation ?? '') && !/export|llms-full|as_of|file \/(files|feeds)\//.test(name),
    );
    // Pages with the latest changes drop those of the record until the next night.
    const lists = ({ name }: Probe) => /\/changes\/|\/datasets\/harbours(\/(index\.html)?)?$/.test(name);
    // The HTML page of a record shows the earlier values of each attribute.
    const keepsHistory = ({ name }: Probe) =>
      /^(REST html|record page|file) \S*\/harbour(-|%2D)3\b(?!.*\.md)/.test(name);
    const right = (probe: Probe, { text }: { text: string }) =>
      (lists(probe) || text.includes(TARGET.fresh)) && (keepsHistory(probe) || !text.includes(TARGET.old));
    // The process that took the change answers with it from the next request on.
    expect(
      await unlike(
        b,
        now.filter(({ file }) => !file),
        right,
        0,
      ),
    ).toEqual([]);
    expect(await unlike(a, now, right)).toEqual([]);
    expect(await unlike(b, now, right)).toEqual([]);
    for (const at of [a, b]) {
      for (const path of [
        `entities/${TARGET.slug}/facts`,
        'changelog?days=365',
        'changes?since=2026-01-01T00:00:00Z&limit=1000',
      ])
        expect((await at.api.ask(`/v1/harbours/${path}`, OPERATOR)).body, path).toContain(TARGET.fresh);
      const { body } = await at.api.ask(`/v1/harbours/entities?q=${TARGET.fresh}&total=true`, OPERATOR);
      expect(JSON.parse(body)).toMatchObject({ total: 1, items: [{ id, verified_owner: true }] });
      const facets = (await json(at, '/v1/harbours/facets?by=languages'))['values'];
      expect(facets).toContainEqual({ value: TARGET.fresh, count: 1 });
      expect(facets).not.toContainEqual(expect.objectContaining({ value: TARGET.old }));
    }
  }, 120_000);

  let links: string[];
  const backup = () => join(folder, 'backup');
  const kept = ['facts', 'releases'];

  test('an opt-out removes the record from every channel of both, immediately', async () => {
    links = [];
    for (const format of ['csv', 'jsonl', 'parquet'])
      links.push(String((await json(a, `/v1/harbours/export?format=${format}`))['url']).slice(a.api.base.length));
    for (const name of kept) cpSync(join(folder, name), join(backup(), name), { recursive: true });
    const body = { dataset: 'harbours', entity_id: TARGET.slug, contact: 'office@aether.example' };
    const done = await post(a, '/v1/optout', body, 'DELETE');
    expect([done.status, JSON.parse(done.body)]).toEqual([
      200,
      expect.objectContaining({ status: 'removed', entity_id: id }),
    ]);
    // The process that took it: from the next request on. The other: within seconds.
    expect(await unlike(a, probes, absent, 0)).toEqual([]);
    expect(await unlike(b, probes, absent)).toEqual([]);
    for (const at of [a, b]) {
      expect((await at.api.ask(`/v1/harbours/entities/${TARGET.slug}`, OPERATOR)).status).toBe(404);
      const fewer = await count(at);
      expect(fewer).toEqual(Object.fromEntries(Object.entries(counts).map(([name, n]) => [name, Number(n) - 1])));
      for (const link of links) expect([404, 503], link).toContain((await at.api.ask(link)).status);
      const { items } = (await json(at, '/v1/harbours/changes?since=2026-01-01T00:00:00Z&limit=1000')) as {
        items: Record<string, unknown>[];
      };
      const own = items.filter(({ entity_id }) => entity_id === id);
      expect(own).toEqual([expect.objectContaining({ type: 'removed' })]);
      expect(
        Object.keys(own[0]!).filter(
          (name) =>
            /value|slug|name/.test(name) &&
            own[0]![name] !== undefined &&
            /harbour-3\b|Longyear/.test(String(own[0]![name])),
        ),
      ).toEqual([]);
    }
  }, 120_000);

  test('withheld files are written again without it, and old links stay invalid', async () => {
    const whole = (probe: Probe, got: { status: number; text: string }) => absent(probe, got) && got.status !== 503;
    expect(
      await unlike(
        a,
        probes.filter(({ file }) => file),
        whole,
        90_000,
      ),
      (a.api.output() + b.api.output())
        .split('\n')
        .filter((line) => !line.includes('"msg":"request"'))
        .join('\n'),
    ).toEqual([]);
    expect(await unlike(b, probes, absent)).toEqual([]);
    for (const link of links) expect((await b.api.ask(link)).status, link).toBe(404);
    // The record is missing in them; the others are present.
    expect(
      (
        await walk(
          a,
          probes.filter(({ name }) => name === 'new export jsonl'),
        )
      )
        .values()
        .next().value?.text,
    ).toContain('harbour-5');
  }, 120_000);

  if (LONG)
    test('it survives a restart, a night, and restored older facts and releases', async () => {
      await stop();
      await start();
      for (const at of [a, b]) expect(await unlike(at, probes, absent, 0)).toEqual([]);
      expect((await runNight(config(), still('2026-11-22T00:00:00Z'), { only: null, accept: true })).failures).toEqual(
        [],
      );
      for (const at of [a, b]) expect(await unlike(at, probes, absent)).toEqual([]);
      await stop();
      for (const name of kept) {
        renameSync(join(folder, name), join(folder, `${name}-later`));
        cpSync(join(backup(), name), join(folder, name), { recursive: true });
      }
      await start();
      for (const at of [a, b]) expect(await unlike(at, probes, absent, 0)).toEqual([]);
      for (const name of kept) {
        rmSync(join(folder, name), { recursive: true });
        renameSync(join(folder, `${name}-later`), join(folder, name));
      }
    }, 240_000);

  test('a restore returns it to every channel, with its owner’s values', async () => {
    const token = linkIn(folder, 'office@aether.example', /optout\/restore\?token=([\w-]+)/);
    expect((await b.api.ask(`/optout/restore?token=${token}`)).status).toBe(200);
    expect((await b.api.ask(`/v1/harbours/entities/${TARGET.slug}`, OPERATOR)).status).toBe(404);
    expect((await post(b, '/optout/restore', `token=${token}`)).status).toBe(200);
    const back = (_: Probe, { status, text }: { status: number; text: string }) => status === 200 && names(text);
    for (const at of [a, b]) expect(await unlike(at, shown, back, 90_000)).toEqual([]);
    for (const at of [a, b]) expect(await count(at)).toEqual(counts);
    expect((await b.api.ask(`/v1/harbours/entities/${TARGET.slug}`, OPERATOR)).body).toContain(TARGET.fresh);
  }, 240_000);
});
