// Traffic figures under hostile dataset names: bounded rows on both stores, and operators' pages that work
// when a write fails.
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { NOW, type TestApp } from '../../support/app.ts';
import { describeApps, type MoneyStage } from '../../support/money-on-stores.ts';

const CALLS = 6_000;
/** Fewer than the bucket of an address, over MCP and A2A together. */
const AGENT_CALLS = 140;
const LONG = 'x'.repeat(20_000);
const nameOf = (call: number) => (call % 20 === 0 ? `${LONG}${call}` : `dataset-${call}`);

interface Stats {
  traffic: { behind_since: string | null; dropped_calls: number; outcomes: { name: string; calls: number }[] };
}

async function stats(app: TestApp): Promise<Stats['traffic']> {
  const { status, body } = await app.json('/ops/stats.json', { admin: true });
  expect(status).toBe(200);
  return (body as unknown as Stats).traffic;
}

const overMcp = (app: TestApp, dataset: string) =>
  app.ask('/mcp', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      Host: 'localhost',
      'MCP-Protocol-Version': '2025-11-25',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'dataset_status', arguments: { dataset } },
    }),
  });

const overA2a = (app: TestApp, dataset: string) =>
  app.ask('/a2a/v1/message:send', {
    method: 'POST',
    body: JSON.stringify({
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: { skill: 'dataset_status', dataset } }] },
    }),
  });

const rowsOf = (app: TestApp) =>
  app.state.db.selectFrom('traffic').select(['channel', 'dataset', 'outcome', 'calls']).execute();

describeApps('traffic figures', { calls: { free: 300 } }, (stage: MoneyStage) => {
  test('of calls with 6,000 different dataset names are a few rows without those names', async () => {
    const { app } = stage;
    const address = '203.0.113.9';
    for (let call = 0; call < CALLS; call++) {
      const path = call % 20 === 0 ? nameOf(call).slice(0, 8_000) : nameOf(call);
      await (await app.ask(`/v1/${path}/status`, { address })).arrayBuffer();
    }
    for (let call = 0; call < AGENT_CALLS; call++) {
      await (await overMcp(app, nameOf(call))).text();
      await (await overA2a(app, nameOf(call))).text();
    }
    await (await app.ask('/v1/tools/status', { address: '203.0.113.10' })).text();
    const { outcomes, behind_since, dropped_calls } = await stats(app);
    expect({ behind_since, dropped_calls }).toEqual({ behind_since: null, dropped_calls: 0 });
    const rows = await rowsOf(app);
    expect(rows.length).toBeLessThan(12);
    expect(new Set(rows.map(({ dataset }) => dataset))).toEqual(new Set(['', 'tools']));
    expect(new Set(rows.map(({ channel }) => channel))).toEqual(new Set(['rest', 'mcp', 'a2a']));
    const calls = Object.fromEntries(outcomes.map(({ name, calls: n }) => [name, n]));
    expect(calls['rate_limited']).toBe(CALLS - 300);
    expect(calls['unknown_dataset']).toBe(300 + 2 * AGENT_CALLS);
    expect(calls['ok']).toBe(1);
  }, 120_000);

  test('that cannot be written leave the pages working, which show that they are behind', async () => {
    const { app } = stage;
    const { db } = app.state;
    // The table refuses inserts but its rows can be read.
    await sql`alter table traffic rename to traffic_aside`.execute(db);
    await sql`create view traffic as select distinct * from traffic_aside`.execute(db);
    await (await app.ask('/v1/tools/status', { address: '203.0.113.77' })).text();
    const behind = await stats(app);
    expect(behind.behind_since).toBe(NOW.toISOString());
    const page = await app.ask('/ops', { admin: true, headers: { Accept: 'text/html' } });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('not stored since Nov 20, 2026, 12:00 UTC');
    await sql`drop view traffic`.execute(db);
    await sql`alter table traffic_aside rename to traffic`.execute(db);
    const after = await stats(app);
    expect(after.behind_since).toBeNull();
    expect(after.outcomes.find(({ name }) => name === 'ok')?.calls).toBe(2);
  });
});
