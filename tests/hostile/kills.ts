// Kills processes with SIGKILL at random moments of their work, starts them again, and checks that nothing was lost and
// nothing was invented: one kind of work after the other, on the fictional packs.
import { type ChildProcess, spawn } from 'node:child_process';
import { hash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { PaymentRequired } from '@x402/core/types';
import { paths } from '../../data/model/layout.ts';
import { currentRelease, verifyRelease } from '../../data/model/manifest.ts';
import { verify } from '../../data/state/money/ledger.ts';
import { openStore } from '../../data/state/store.ts';
import { decoded, encodePayload, pay } from '../chain/buyer.ts';
import { noChain, ROLES, startChain } from '../chain/chain.ts';
import { startFacilitator } from '../chain/facilitator.ts';
import { ADMIN, testApp } from '../support/app.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { mailServer } from '../support/mail-server.ts';
import { newKey } from '../support/money-on-stores.ts';
import { type Api, smallData, startApi } from '../support/money-processes.ts';
import { editAsOwner } from '../support/overlay-world.ts';
import { linkIn } from '../support/owners-stage.ts';
import { type Random, random } from '../support/random-records.ts';
import { startReceiver } from '../support/receiver.ts';
import { wholeNight } from '../support/whole-night.ts';

const ROOT = join(import.meta.dirname, '../..');
const JSON_TYPE = { 'Content-Type': 'application/json' };

export interface KillResult {
  kind: string;
  /** Processes that were killed while they worked; the others had ended. */
  killed: number;
  attempts: number;
  /** What was lost, invented or damaged. */
  problems: string[];
  seconds: number;
}

/** Work that is killed. An attempt returns whether the process was killed, and throws when its check fails. */
interface Work {
  attempt(next: Random, number: number): Promise<boolean>;
  close(): Promise<void> | void;
}

class Problem extends Error {}

function check(holds: boolean, text: string): void {
  if (!holds) throw new Problem(text);
}

const folderOf = (name: string) => mkdtempSync(join(tmpdir(), `kills-${name}-`));
const remove = (folder: string) => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });

/** Kills a child after some milliseconds, unless it has ended; returns whether it was killed. */
async function killAfter(child: ChildProcess, ms: number): Promise<boolean> {
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  await Promise.race([wait(ms), exit]);
  child.kill('SIGKILL');
  return (await exit)[1] === 'SIGKILL';
}

const NIGHT = `
const [, root, data, pack] = process.argv;
const { loadPack } = await import(root + '/packs/define/load.ts');
const { datasetNight } = await import(root + '/build/night/dataset.ts');
const { lockNight } = await import(root + '/data/model/lock.ts');
const { npmClient } = await import(root + '/build/effects/npm.ts');
const { silentProgress } = await import(root + '/build/effects/progress.ts');
lockNight(data);
console.log('begun');
const effects = { now: () => new Date('2026-11-20T00:00:00Z'), ticks: () => 0, web: () => Promise.reject(new Error('no web')), npm: npmClient(), progress: silentProgress };
await datasetNight(await loadPack(pack), data, effects, { accept: true });
process.exit();
`;

/** Runs a night, and kills it after a share of `took` milliseconds; without, to its end. Resolves with the time. */
async function night(data: string, pack: string, after?: number): Promise<{ killed: boolean; took: number }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', NIGHT, ROOT, data, pack], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const began = performance.now();
  const killed = await killAfter(child, after ?? 120_000);
  return { killed, took: performance.now() - began };
}

/** Hash of every file below a folder, by path; manifests without the fingerprint of the code. */
function filesOf(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/nightly\.|\/\.build\//.test(path));
  const lines = files.sort().map((path) => {
    const bytes = readFileSync(path);
    const content = path.endsWith('manifest.json') ? bytes.toString().replace(/"inputs": "[^"]*"/, '') : bytes;
    return `${path.slice(folder.length)} ${hash('sha256', content)}`;
  });
  return lines.join('\n');
}

async function nightlyRun(): Promise<Work> {
  const folder = folderOf('night');
  const pack = join(ROOT, 'tests/packs/tools');
  const whole = join(folder, 'whole');
  let { took } = await night(whole, pack);
  const expected = filesOf(whole);
  return {
    async attempt(next, number) {
      const data = join(folder, String(number));
      const first = await night(data, pack, next() * took);
      if (!first.killed) took = Math.min(took, first.took);
      await night(data, pack);
      check(filesOf(data) === expected, 'the run after the kill made other files than an undisturbed one');
      rmSync(data, { recursive: true });
      return first.killed;
    },
    close: () => remove(folder),
  };
}

async function releaseSwitch(): Promise<Work> {
  const folder = folderOf('switch');
  const changed = join(folder, 'packs/tools');
  cpSync(join(ROOT, 'tests/packs/tools'), changed, { recursive: true });
  const first = join(folder, 'first');
  await night(first, changed);
  const before = await currentRelease(first, 'tools');
  const file = join(changed, 'pack.ts');
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(/\bweight: (\d+)/, (_, weight) => `weight: ${Number(weight) + 1}`),
  );
  const whole = join(folder, 'whole');
  cpSync(first, whole, { recursive: true });
  let { took } = await night(whole, changed);
  const after = await currentRelease(whole, 'tools');
  if (after === null || after === before) throw new Error('the changed pack makes no other release');
  return {
    async attempt(next, number) {
      const data = join(folder, String(number));
      cpSync(first, data, { recursive: true });
      // The switch is at the end of the run.
      const run = await night(data, changed, (0.6 + 0.4 * next()) * took);
      if (!run.killed) took = Math.min(took, run.took);
      const served = await currentRelease(data, 'tools');
      check(served === before || served === after, `the pointer names ${served}`);
      const wrong = await verifyRelease(paths.release(data, 'tools', served!));
      check(wrong.length === 0, wrong.join());
      await night(data, changed);
      check((await currentRelease(data, 'tools')) === after, 'the run after the kill made another release');
      rmSync(data, { recursive: true });
      return run.killed;
    },
    close: () => remove(folder),
  };
}

/** A key with 5 EUR, created from an address of its own: the keys of an address are limited. */
async function keyWithCredit(api: Api, number: number): Promise<string> {
  const from = { ...JSON_TYPE, 'X-Forwarded-For': `20.10.0.${number}` };
  const made = await api.ask('/v1/keys', from, 'POST', JSON.stringify({ email: `ledger-${number}@example.org` }));
  const { id, key } = JSON.parse(made.body) as { id: string; key: string };
  const operator = { ...JSON_TYPE, Authorization: `Bearer ${ADMIN}` };
  const granted = await api.ask('/v1/keys/grant', operator, 'POST', JSON.stringify({ key_id: id, amount_eur: 5 }));
  if (granted.status !== 200) throw new Error(granted.body);
  return key;
}

async function ledger(): Promise<Work> {
  const { dataDir, remove: removeData } = await smallData();
  const path = '/v1/tools/entities?limit=3';
  return {
    async attempt(next, number) {
      const api = await startApi(dataDir, { TRUST_PROXY: '1' });
      const key = await keyWithCredit(api, number);
      const own = { Authorization: `Bearer ${key}` };
      const balance = async (at: Api) =>
        (JSON.parse((await at.ask('/v1/keys/me', own)).body) as { balance_eur: number }).balance_eur;
      const start = await balance(api);
      const { header } = await api.ask(path, own);
      const price = start - (await balance(api));
      check(price > 0, `a search costs ${price} (${header('x-price-eur')})`);
      let answered = 1;
      let working = true;
      const callers = Array.from({ length: 4 }, async () => {
        while (working) {
          const { status } = await api.ask(path, own).catch(() => ({ status: 0 }));
          if (status === 200) answered += 1;
          else await wait(5);
        }
      });
      await wait(next() * 250);
      await api.kill('SIGKILL');
      working = false;
      await Promise.all(callers);
      const again = await startApi(dataDir);
      const charged = Math.round((start - (await balance(again))) / price);
      await again.kill('SIGKILL');
      check(charged >= answered && charged <= answered + 4, `${answered} answers, ${charged} charges`);
      const store = await openStore({ dataDir });
      const { sum, unbalanced, wrong } = await verify(store).finally(() => store.close());
      check(sum === 0 && unbalanced.length === 0 && wrong.length === 0, 'the ledger does not add up');
      return true;
    },
    close: removeData,
  };
}

async function claim(): Promise<Work> {
  const folder = folderOf('claim');
  await wholeNight(folder);
  const dataDir = join(folder, 'data');
  const post = (api: Api, path: string, method: string, body: unknown) =>
    api.ask(path, JSON_TYPE, method, JSON.stringify(body));
  let api = await startApi(dataDir);
  await post(api, '/v1/claim', 'POST', { dataset: 'harbours', entity_id: 'harbour-8', email: 'office@null.example' });
  const token = linkIn(dataDir, 'office@null.example', /token=([\w-]+)$/m);
  await api.ask(`/v1/claim/verify?token=${token}`);
  await api.kill('SIGTERM');
  let value = 0;
  return {
    async attempt(next) {
      api = await startApi(dataDir);
      let confirmed = 0;
      let working = true;
      const editing = (async () => {
        while (working) {
          value += 1;
          const { status } = await post(api, '/v1/claim', 'PUT', { token, values: { berths: value } }).catch(() => ({
            status: 0,
          }));
          if (status === 200) confirmed = value;
          else if (working) await wait(20);
        }
      })();
      await wait(next() * 300);
      await api.kill('SIGKILL');
      working = false;
      await editing;
      const again = await startApi(dataDir);
      const { body } = await again.ask('/v1/harbours/entities/harbour-8', { Authorization: `Bearer ${ADMIN}` });
      await again.kill('SIGKILL');
      const { berths } = (JSON.parse(body) as { attributes: { berths: number } }).attributes;
      if (confirmed > 0)
        check(
          berths >= confirmed && berths <= value,
          `confirmed ${confirmed}, sent up to ${value}, the record has ${berths}`,
        );
      return true;
    },
    close: async () => {
      await api.kill('SIGKILL');
      remove(folder);
    },
  };
}

async function mail(): Promise<Work> {
  const server = await mailServer();
  const { dataDir, remove: removeData } = await smallData();
  const env = { SMTP_URL: server.url, TRUST_PROXY: '1' };
  return {
    async attempt(next, number) {
      const api = await startApi(dataDir, env);
      const from = { ...JSON_TYPE, 'X-Forwarded-For': `20.9.0.${number}` };
      const addresses = Array.from({ length: 6 }, (_, i) => `reader-${number}-${i}@example.org`);
      for (const email of addresses) await api.ask('/v1/keys', from, 'POST', JSON.stringify({ email }));
      const requested: string[] = [];
      const confirmed: string[] = [];
      const sending = (async () => {
        for (const email of addresses) {
          requested.push(email);
          const { status } = await api
            .ask('/v1/keys/recover', from, 'POST', JSON.stringify({ email }))
            .catch(() => ({ status: 0 }));
          if (status >= 200 && status < 300) confirmed.push(email);
          if (status === 0) return;
        }
      })();
      await wait(next() * 200);
      await api.kill('SIGKILL');
      await sending;
      const again = await startApi(dataDir, env);
      const store = await openStore({ dataDir });
      const waiting = async () => JSON.stringify(await store.db.selectFrom('mails').selectAll().execute());
      const arrived = () => server.mails.flatMap(({ to }) => to);
      let missing = confirmed;
      for (let tries = 0; missing.length > 0 && tries < 20; tries += 1) {
        const rows = await waiting();
        missing = confirmed.filter((email) => !arrived().includes(email) && !rows.includes(email));
        if (missing.length > 0) await wait(250);
      }
      await store.close();
      await again.kill('SIGKILL');
      check(missing.length === 0, `confirmed and neither sent nor waiting: ${missing.join()}`);
      const invented = arrived().filter((to) => to.startsWith(`reader-${number}-`) && !requested.includes(to));
      check(invented.length === 0, `mails that were not requested: ${invented.join()}`);
      return true;
    },
    close: async () => {
      await server.close();
      removeData();
    },
  };
}

async function publishing(): Promise<Work> {
  const folder = folderOf('publish');
  await wholeNight(folder);
  const send = (target: string) =>
    spawn(process.execPath, [join(ROOT, 'build/cli/upload.ts'), '--to', target], {
      env: { ...CHILD_ENV, DATA_DIR: join(folder, 'data'), DIST_DIR: join(folder, 'dist') },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  const run = async (target: string, after: number) => {
    const child = send(target);
    let text = '';
    child.stderr.on('data', (piece) => (text += String(piece)));
    const began = performance.now();
    const killed = await killAfter(child, after);
    if (!killed && child.exitCode !== 0) throw new Error(`publish ended with ${child.exitCode}: ${text}`);
    return { killed, took: performance.now() - began };
  };
  const whole = join(folder, 'whole');
  let { took } = await run(whole, 120_000);
  const expected = filesOf(whole);
  return {
    async attempt(next, number) {
      const target = join(folder, `target-${number}`);
      const first = await run(target, (0.2 + 0.8 * next()) * took);
      if (!first.killed) took = Math.min(took, first.took);
      await run(target, 120_000);
      check(filesOf(target) === expected, 'the target differs from an undisturbed one');
      rmSync(target, { recursive: true });
      return first.killed;
    },
    close: () => remove(folder),
  };
}

async function payment(): Promise<Work | string> {
  const why = noChain();
  if (why !== null) return why;
  const chain = await startChain();
  const facilitator = await startFacilitator(chain.url, { patience: 60_000 });
  const { dataDir, remove: removeData } = await smallData();
  const env = {
    BASE_URL: 'https://register.example',
    ...{ X402_PAY_TO: ROLES.merchant.address, X402_FACILITATOR_URL: facilitator.url, X402_RPC_URL: chain.url },
  };
  return {
    async attempt(next, number) {
      const path = `/v1/tools/entities/record-${1 + (number % 9)}`;
      const api = await startApi(dataDir, env);
      const refused = await api.ask(path);
      const required = decoded(refused.header('payment-required') ?? null) as unknown as PaymentRequired;
      // Without a key an answer that was sent, and lost on the way, is not given again.
      const headers = {
        'Idempotency-Key': randomUUID(),
        'PAYMENT-SIGNATURE': encodePayload(await pay(required, ROLES.payer)),
      };
      const before = await chain.balance('usdc', ROLES.payer);
      const calling = api.ask(path, headers).catch(() => {});
      await wait(next() * 400);
      await api.kill('SIGKILL');
      await calling;
      const again = await startApi(dataDir, env);
      try {
        let got = await again.ask(path, headers);
        for (let tries = 0; got.status !== 200 && tries < 60; tries += 1) {
          check(
            [409, 503].includes(got.status),
            `the same payment was answered ${got.status} ${got.body.slice(0, 200)}`,
          );
          await wait(1000);
          got = await again.ask(path, headers);
        }
        const paid = Number(before - (await chain.balance('usdc', ROLES.payer)));
        const price = Number((required.accepts as { amount: string }[])[0]!.amount);
        check(got.status === 200, `no answer for the payment: ${got.status} ${got.body}`);
        check(paid === price, `${paid} were paid for ${price}`);
      } finally {
        await again.kill('SIGKILL');
      }
      return true;
    },
    close: async () => {
      await facilitator.stop();
      await chain.stop();
      removeData();
    },
  };
}

async function webhook(): Promise<Work | string> {
  const databaseUrl = process.env['TEST_DATABASE_URL'];
  if (!databaseUrl) return 'TEST_DATABASE_URL is not set';
  const schema = `hostile_kills_${process.pid}`;
  const receiver = await startReceiver();
  let clock = Date.now();
  const app = await testApp({
    ...{ nights: true, records: 12, now: () => new Date(clock), store: { databaseUrl, schema } },
    open_hosts: new Set([receiver.host]),
  });
  const { headers } = await newKey(app);
  const body = JSON.stringify({ dataset: 'tools', url: receiver.url });
  const made = await app.json('/v1/keys/me/subscriptions', {
    method: 'POST',
    headers: { ...headers, ...JSON_TYPE },
    body,
  });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  await app.sendChanges();
  const record = app.records['tools']!.find(({ slug }) => slug === 'nordwerk-fs-210')!;
  const editing = { store: app.state, refresh: () => app.register.refresh(), current: app.register.current };
  let took = 3000;
  return {
    async attempt(next, number) {
      receiver.received.length = 0;
      clock += 60_000;
      const material = `material-${number}`;
      await editAsOwner(editing, 'tools', record.id, { materials: [material] }, new Date(clock).toISOString());
      clock += 60_000;
      const args = ['tests/support/send-changes.ts', databaseUrl, schema, receiver.host, String(clock)];
      const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'ignore' });
      const began = performance.now();
      const killed = await killAfter(child, (0.5 + 0.6 * next()) * took);
      took = Math.max(took * 0.9, performance.now() - began);
      // The lease of a process that was killed ends after a minute.
      await app.state.db.updateTable('change_subscriptions').set({ leased_until: 0 }).execute();
      clock += 60_000;
      await app.sendChanges();
      const messages = receiver.received.map(({ headers: { 'webhook-id': id }, body: { data } }) => ({
        id,
        values: JSON.stringify((data['changes'] as { new_value: unknown }[]).map(({ new_value }) => new_value)),
      }));
      check(messages.length > 0, 'the change was not sent');
      const ids = new Set(messages.map(({ id }) => id));
      check(
        ids.size === 1 && messages.every(({ values }) => values === JSON.stringify([[material]])),
        JSON.stringify(messages),
      );
      return killed;
    },
    close: async () => {
      await receiver.stop();
      await app.state.db.schema.dropSchema(schema).cascade().execute();
      await app.close();
    },
  };
}

const WORKS: Record<string, () => Promise<Work | string>> = {
  'nightly run': nightlyRun,
  'release switch': releaseSwitch,
  ledger,
  claim,
  mail,
  publishing,
  payment,
  webhook,
};

/** Kinds that run at the same time: they wait for processes. */
const AT_ONCE = 3;

interface Killing {
  times: number;
  next: Random;
  until: number;
}

/** The result of one kind; null if it cannot run here. */
async function killOne(
  kind: string,
  { times, next, until }: Killing,
  note: (line: string) => void,
): Promise<KillResult | null> {
  const began = performance.now();
  const result: KillResult = { kind, killed: 0, attempts: 0, problems: [], seconds: 0 };
  const work = await WORKS[kind]!();
  if (typeof work === 'string') {
    note(`${kind}: not run, ${work}`);
    return null;
  }
  try {
    // A process that ended before its moment is no kill; the works shorten their time then.
    while (result.killed < times && result.attempts < 3 * times && performance.now() < until) {
      result.attempts += 1;
      try {
        if (await work.attempt(next, result.attempts)) result.killed += 1;
      } catch (error) {
        const { message } = error as Error;
        result.problems.push(message);
        note(`${kind}: ${message}`);
        // The set-up itself fails: the other kinds go on.
        if (!(error instanceof Problem)) break;
        result.killed += 1;
      }
    }
  } finally {
    await work.close();
  }
  result.seconds = (performance.now() - began) / 1000;
  note(`${kind}: ${result.killed} kills in ${Math.round(result.seconds)} s, ${result.problems.length} problems`);
  return result;
}

/** The kinds of work. */
export const KINDS: readonly string[] = Object.keys(WORKS);

/**
 * Kills each kind of work `times` times. Ends after `minutes`; `note` receives a line for each kind, and the reason of one
 * that cannot run here.
 */
export async function killAll(
  { times, minutes, seed, kinds = KINDS }: { times: number; minutes: number; seed: number; kinds?: readonly string[] },
  note: (line: string) => void = () => {},
): Promise<KillResult[]> {
  const next = random(seed);
  const end = performance.now() + minutes * 60_000;
  const left = [...kinds];
  const results: KillResult[] = [];
  const worker = async () => {
    for (let kind = left.shift(); kind !== undefined; kind = left.shift()) {
      // What is left of the time is shared by the kinds that are left.
      const rounds = 1 + Math.ceil(left.length / AT_ONCE);
      const result = await killOne(
        kind,
        { times, next, until: performance.now() + (end - performance.now()) / rounds },
        note,
      );
      if (result !== null) results.push(result);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
