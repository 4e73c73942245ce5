// A dataset of 120 attributes with default settings: the nightly run, its files and pages, SQL without and with a plan, and
// MCP. Part of `npm run test:long`; tests/app/sql/wide.test.ts makes the tables of fewer records.
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { ADMIN } from '../support/app.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { connectMcp } from '../support/mcp-clients.ts';
import { type Api, startApi } from '../support/money-processes.ts';
import { scratchOfAll } from '../support/night-pack.ts';
import { WIDE, widePack } from '../support/wide-stage.ts';

const dataDir = scratchOfAll();
let api: Api | undefined;
afterAll(() => api?.kill('SIGKILL'));

test('a wide dataset is published and answered in every channel', { timeout: 1_800_000 }, async () => {
  await widePack(dataDir);
  const [dist, packs] = [join(dataDir, 'dist'), join(dataDir, 'packs')];
  const env = { ...CHILD_ENV, DATA_DIR: dataDir, DIST_DIR: dist, PACK_DIRS: packs };
  await promisify(execFile)(process.execPath, ['build/nightly.ts'], { env, maxBuffer: 2 ** 28 });
  for (const path of ['w1.md', 'index.html'])
    expect([path, existsSync(join(dist, 'datasets/wide', path))]).toEqual([path, true]);

  api = await startApi(dataDir, { PACK_DIRS: packs });
  const operator = { authorization: `Bearer ${ADMIN}` };
  const json = async (path: string, headers = {}, body?: string) => {
    const answer = await api!.ask(
      path,
      { 'content-type': 'application/json', ...headers },
      body === undefined ? 'GET' : 'POST',
      body,
    );
    return { status: answer.status, ...(JSON.parse(answer.body) as { rows?: unknown[][] }) };
  };
  const sql = (statement: string, headers = {}) => json('/v1/sql', headers, JSON.stringify({ sql: statement }));
  await expect
    .poll(async () => (await sql('SELECT 1 FROM wide')).status, { timeout: 600_000, interval: 1_000 })
    .toBe(200);
  for (const headers of [{}, operator]) {
    await expect
      .poll(async () => (await sql('SELECT 1 FROM wide', headers)).status, { timeout: 600_000, interval: 1_000 })
      .toBe(200);
    expect(await sql('SELECT count(*), count(DISTINCT a0) > 1 FROM wide', headers)).toMatchObject({
      rows: [[WIDE.records, true]],
    });
    const [row] = (await sql('SELECT * FROM wide LIMIT 1', headers)).rows!;
    expect(row!.length).toBeGreaterThan(headers === operator ? 120 : 90);
  }
  expect(JSON.stringify(await json('/v1/wide/entities/w1', operator))).toContain('"a117"');
  for (const path of ['/datasets/wide/', '/datasets/wide/w1'])
    expect([path, (await api.ask(path, { accept: 'text/html' })).status]).toEqual([path, 200]);
  for (const file of ['public.parquet', 'history.parquet', 'public.duckdb']) {
    const path = join(dist, 'files/wide', file);
    expect([file, statSync(path, { throwIfNoEntry: false })?.isFile()]).toEqual([file, true]);
  }
  const client = await connectMcp('2025-11-25', `${api.base}/mcp`, operator);
  try {
    expect(JSON.stringify(await client.call('wide_search', { q: 'Wide 1', limit: 2 }))).toContain('Wide 1');
    expect(JSON.stringify(await client.call('wide_get', { entity_id: 'w1' }))).toContain('Wide 1');
  } finally {
    await client.close();
  }
});
