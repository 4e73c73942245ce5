// `node bench/money.ts`: the cost of a paid get compared with the same get by an operator, and charges per
// second of the ledger.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { createKey } from '../data/state/keys/keys.ts';
import { charge, move, verify } from '../data/state/money/ledger.ts';
import { openStore, type Store } from '../data/state/store.ts';
import { generator, type Load } from './load.ts';
import { type BenchServer, measureCost, median } from './measure.ts';
import { startProcess } from './process.ts';

const ADMIN = 'bench-admin-key-bench-admin-key-0000';
const { values: args } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '5' },
  },
});
const seconds = Number(args.seconds);
const dataDir = mkdtempSync(join(tmpdir(), 'bench-money-'));
const SERVER = {
  DATA_DIR: dataDir,
  DIST_DIR: join(dataDir, 'dist'),
  PACK_DIRS: 'tests/packs',
  ADMIN_KEYS: ADMIN,
};

try {
  // The fictional packs: small, and without network.
  execFileSync(process.execPath, ['build/nightly.ts'], {
    env: { ...process.env, ...SERVER, SOURCE_DATE_EPOCH: '1795132800' },
  });
  await gets();
  await charges('SQLite', await openStore({ dataDir }));
} finally {
  rmSync(dataDir, { recursive: true });
}

/** A key without a relevant rate limit and with unlimited credit. */
async function richKey(store: Store): Promise<{ secret: string; id: string }> {
  const email = `${randomUUID()}@example.org`;
  const made = await createKey(store, { email, email_normal: email, request_id: 'bench', now: Date.now() });
  if (!made) throw new Error('the address was free');
  const { secret, key } = made;
  await move(store, { key_id: key.id, amount: 1e12, kind: 'grant', against: 'grant', now: Date.now() });
  return { secret, id: key.id };
}

/**
 * Gets by operator and by key in turn. The rate limit is raised for the measurement, but calls are counted.
 */
async function gets(): Promise<void> {
  const store = await openStore({ dataDir });
  const { secret, id } = await richKey(store);
  const server = await startProcess(['bench/money-server.ts'], SERVER, '/healthz');
  const listed = await fetch(`${server.base}/v1/tools/entities?limit=100&fields=name`, {
    headers: { authorization: `Bearer ${ADMIN}` },
  });
  const { items } = (await listed.json()) as { items: { slug: string }[] };
  const paths = items.map(({ slug }) => `/v1/tools/entities/${slug}`);
  const connections = Number(args.connections);
  const side = (key: string): BenchServer => {
    return { base: server.base, paths, headers: { authorization: `Bearer ${key}` }, cpu: server.cpu };
  };
  const ask = (key: string) => measureCost(side(key), connections, seconds);
  const found: { admin: Load[]; key: Load[] } = { admin: [], key: [] };
  await ask(ADMIN);
  await ask(secret);
  for (let round = 0; round < Number(args.rounds); round += 1) {
    found.admin.push(await ask(ADMIN));
    found.key.push(await ask(secret));
  }
  const [admin, key] = [median(found.admin), median(found.key)];
  const bad = [...found.admin, ...found.key].reduce((sum, each) => sum + each.bad, 0);
  console.log(
    `${generator}, ${connections} connections, median of ${args.rounds} alternated rounds of ${seconds} s, SQLite`,
  );
  console.log('get | requests/s | p50 ms | p99 ms | CPU us a call');
  for (const [name, each] of [
    ['by operator', admin],
    ['by key, charged', key],
  ] as const)
    console.log(
      `${name} | ${Math.round(each.rps)} | ${each.p50.toFixed(2)} | ${each.p99.toFixed(2)} | ${each.cpu?.toFixed(1) ?? ''}`,
    );
  const more = (key.cpu ?? Number.NaN) - (admin.cpu ?? Number.NaN);
  console.log(
    `a get paid by key takes ${(admin.rps / key.rps).toFixed(2)} × the time of a get by operator (target 1.5), and ${more.toFixed(1)} us more of processor time (target 35); failed answers: ${bad}`,
  );
  await server.stop();
  const { n } = await store.db
    .selectFrom('entries')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where('account', '=', `key:${id}`)
    .where('kind', '=', 'charge')
    .executeTakeFirstOrThrow();
  console.log(`${n} charges on the books, which are ${(await right(store)) ? 'right' : 'WRONG'}\n`);
  await store.close();
}

/** Charges at full speed, 64 in parallel, with the delay of the event loop. */
async function charges(name: string, store: Store): Promise<void> {
  const { id } = await richKey(store);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const now = Date.now();
  const one = { key_id: id, amount: 4000, operation: 'entity_get', dataset: 'tools', now };
  // The thread starts with the first charge.
  await charge(store, { ...one, request_id: randomUUID() });
  const began = performance.now();
  const until = began + seconds * 1000;
  let done = 0;
  delay.enable();
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (performance.now() < until) {
        const { state } = await charge(store, { ...one, request_id: randomUUID() });
        if (state !== 'charged') throw new Error(state);
        done += 1;
      }
    }),
  );
  delay.disable();
  const rate = Math.round((done / (performance.now() - began)) * 1000);
  const books = (await right(store)) ? 'right' : 'WRONG';
  console.log(
    `${name}: ${rate.toLocaleString('en')} charges/s (target 3,000), event-loop delay p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms (target 20); books ${books}`,
  );
  await store.close();
}

async function right(store: Store): Promise<boolean> {
  const { sum, unbalanced, wrong } = await verify(store);
  return sum === 0 && unbalanced.length === 0 && wrong.length === 0;
}
