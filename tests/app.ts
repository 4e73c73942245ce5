// The real app over small releases of the fictional packs, asked without a socket; only the edges are doubles.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminsOnly, type Caller, type Credential, hashSecret } from '../api/access/caller.ts';
import { type Bucket, memoryLimits } from '../api/access/limits.ts';
import { operatorsOnly } from '../api/access/payments.ts';
import { memoryPreviews } from '../api/access/previews.ts';
import { createApp } from '../api/app.ts';
import type { Gate } from '../api/execute.ts';
import { OPERATIONS } from '../api/operations/index.ts';
import { DataError } from '../data/errors.ts';
import type { StoredRecord } from '../data/model.ts';
import { openRelease, type Release } from '../data/release.ts';
import { loadPack } from '../packs/index.ts';
import { randomRecords } from './random-records.ts';
import { writeRelease } from './write-release.ts';

export const NOW = new Date('2026-11-20T12:00:00Z');
export const BASE = 'https://register.example';
export const ADMIN = 'an-admin-key-of-the-tests-0123456789';

export interface TestApp {
  /** Asks the app; `address` is the client's, so that limits and quotas of tests do not meet. */
  ask(path: string, init?: RequestInit & { address?: string; admin?: boolean }): Promise<Response>;
  /** The same, with the body read as JSON. */
  json(path: string, init?: RequestInit & { address?: string; admin?: boolean }): Promise<Answer>;
  records: Record<string, StoredRecord[]>;
  releases: Record<string, string>;
  /** What was reported as our own fault. */
  faults: unknown[];
  /** Releases lent and not yet given back. */
  lent(): number;
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

export interface TestOptions {
  calls?: Partial<Record<Bucket, number>>;
  /** Further credentials, such as keys, that stand for somebody. */
  known?: (credential: Credential) => Caller | null;
  gate?: Partial<Gate>;
  /** Files of DIST_DIR are looked for here. */
  dist?: string;
  records?: number;
}

/** Builds the app with the packs tools and harbours. Close it after the tests. */
export async function testApp(options: TestOptions = {}): Promise<TestApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'app-'));
  const releases: Release[] = [];
  const records: Record<string, StoredRecord[]> = {};
  for (const dataset of ['harbours', 'tools']) {
    const pack = await loadPack(join(import.meta.dirname, 'packs', dataset));
    records[dataset] = randomRecords(pack, options.records ?? 60, 7);
    const { release } = await writeRelease(dataDir, pack, records[dataset]);
    releases.push(await openRelease(dataDir, pack, release));
  }
  const faults: unknown[] = [];
  let lent = 0;
  const admins = adminsOnly([hashSecret(ADMIN)]);
  const gate: Gate = {
    identify: async (credential) => (await admins(credential)) ?? options.known?.(credential) ?? null,
    limits: memoryLimits({ free: 100_000, paid: 100_000, ...options.calls }),
    previews: memoryPreviews(),
    payments: operatorsOnly({ base_url: BASE, eur_usd: 1.1 }),
    async lease(dataset) {
      const release = releases.find(({ pack }) => pack.id === dataset);
      if (dataset !== null && !release) throw new DataError('unknown_dataset', 'There is no such dataset.');
      lent += 1;
      let given = false;
      return {
        ...(release ? { release } : {}),
        releases,
        earlier: async () => null,
        done: () => {
          if (!given) lent -= 1;
          given = true;
        },
      };
    },
    operations: OPERATIONS,
    base_url: BASE,
    eur_usd: 1.1,
    trust_proxy: 1,
    now: () => NOW,
    ...options.gate,
  };
  const app = createApp({
    gate,
    dist: options.dist ?? join(dataDir, 'dist'),
    started_at: NOW,
    report: (error) => faults.push(error),
  });
  const ask: TestApp['ask'] = async (path, { address, admin, ...init } = {}) => {
    const headers = new Headers(init.headers);
    if (address !== undefined) headers.set('X-Forwarded-For', address);
    if (admin === true) headers.set('Authorization', `Bearer ${ADMIN}`);
    return app.request(path, { ...init, headers });
  };
  return {
    ask,
    async json(path, init) {
      const response = await ask(path, init);
      const text = await response.text();
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      return { status: response.status, headers: response.headers, body };
    },
    records,
    releases: Object.fromEntries(releases.map(({ pack, manifest }) => [pack.id, manifest.release])),
    faults,
    lent: () => lent,
    async close() {
      for (const { engine } of releases) await engine.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
