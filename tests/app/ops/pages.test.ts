// The operators' pages and /ops/stats.json: money, nights, keys, the log; and the actions of
// operators.
import { describe, expect, test } from 'vitest';
import { formatDuration, relativeTime } from '../../../api/ops/parts/format.ts';
import { roundUp, tickStep } from '../../../api/pages/charts.ts';
import { recordRun } from '../../../data/releases/runs.ts';
import { ADMIN, appOfAll, BASE, NOW, testApp } from '../../support/app.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies('ops.stats', 'ops.dashboard');

const HTML = { Accept: 'text/html' };
const HOUR = 3_600_000;

const app = await appOfAll({ records: 12, calls: { free: 100_000 } });

const page = async (path: string) => (await app.ask(path, { admin: true, headers: HTML })).text();
const post = (path: string, fields: Record<string, string>) =>
  app.ask(path, {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    admin: true,
    headers: { ...HTML, 'Content-Type': 'application/x-www-form-urlencoded' },
  });

interface Stats {
  at: string;
  datasets: { dataset: string; records: number; state: string; next_collection: string; runs: object[] }[];
  review: { open: number };
  keys: { live: number; made_today: number; credit_eur: number };
  attention: { kind: string; amount_eur: number | null }[];
}
const stats = async (query = '') =>
  (await app.json(`/ops/stats.json${query}`, { admin: true })).body as unknown as Stats;

describe('the figures', () => {
  test('of a register without calls are empty, and the page states it', async () => {
    const text = await page('/ops');
    for (const said of ['No open tasks.', 'No open items.']) expect(text).toContain(said);
    expect(await page('/ops/')).toContain('<h1>Overview</h1>');
    for (const [path, said] of [
      ['/ops/money', 'No payment needs attention.'],
      ['/ops/keys', 'No keys yet.'],
      ['/ops/opt-outs', 'No opt-outs yet.'],
      ['/ops/log', 'No entries yet.'],
      ['/ops/nights', 'No run yet.'],
    ])
      expect(await page(path!), path).toContain(said);
  });

  test('show mails that wait, those that failed, and the last error', async () => {
    const at = NOW.getTime();
    const row = { recipient: 'office@port.example', subject: 'Edit a port', link: null, leased_until: 0 };
    const waiting = { ...row, text: 'secret link', html: null, created_at: at, next_at: at + 60_000, failed_at: null };
    const rows = [
      { ...waiting, id: '1', attempts: 0, problem: null },
      { ...waiting, id: '2', attempts: 2, problem: '451 4.7.1 EENVELOPE' },
      { ...waiting, id: '3', attempts: 1, problem: '550 EENVELOPE', failed_at: at, text: null },
    ];
    expect((await page('/ops')).replace(/<[^>]+>/g, '')).toContain('0 queued, 0 failed');
    await app.state.db.insertInto('mails').values(rows).execute();
    const text = await page('/ops');
    for (const said of ['2 queued, 1 failed', 'office@port.example', '451 4.7.1 EENVELOPE', '550 EENVELOPE', '2 mails'])
      expect(text).toContain(said);
    expect(text).not.toContain('secret link');
    const { body } = await app.json('/ops/stats.json', { admin: true });
    expect(body['mails']).toMatchObject({ queued: 2, failed: 1, last_error: expect.stringContaining('EENVELOPE') });
    await app.state.db.deleteFrom('mails').execute();
  });

  test('count keys, reviews and the records of datasets', async () => {
    const { headers } = await newKey(app);
    await (await app.ask('/v1/tools/entities/record-1', { headers })).text();
    const { at, datasets, keys, review } = await stats();
    expect(at).toBe(NOW.toISOString());
    expect(keys).toMatchObject({ live: 1, made_today: 1, credit_eur: 0.496 });
    expect(review.open).toBe(0);
    expect(datasets.map(({ dataset, records, state }) => [dataset, records, state])).toEqual([
      ['harbours', 12, 'open'],
      ['tools', 12, 'open'],
    ]);
    expect(await page('/ops/partials/now')).toMatch(/^<p class="calm">/);
  });

  test('of calls are metrics, and the dashboard for Grafana has a panel for each', async () => {
    const { headers } = await newKey(app);
    await (await app.ask('/v1/tools/entities/record-1', { headers })).text();
    await (await app.ask('/v1/tools/entities/nobody', { headers })).text();
    const metrics = await (await app.ask('/ops/metrics', { admin: true })).text();
    expect(metrics).toMatch(
      /register_call_seconds_count\{operation="entity_get",channel="rest",outcome="unknown_entity"\} 1/,
    );
    expect((await app.ask('/ops/grafana.json', { headers: { Accept: 'application/json' } })).status).toBe(401);
    const { panels } = (await app.json('/ops/grafana.json', { admin: true })).body as {
      panels: { targets: { expr: string }[]; gridPos: { x: number; w: number } }[];
    };
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const names = [...metrics.matchAll(/^# TYPE (register_\w+)/gm)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(7);
    for (const name of names) expect(queries.join('\n')).toContain(name);
    for (const query of queries) expect(query).toContain('{job="register",instance=~"$instance"');
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });

  test('show the nights, their steps and errors', async () => {
    const steps = [
      { step: 'fetch', seconds: 1.5 },
      { step: 'consolidate', seconds: 200 },
    ];
    const run = { seconds: 201.5, release: 'r', records: 12, steps, messages: [] };
    const at = (hours: number) => new Date(NOW.getTime() + hours * HOUR).toISOString();
    await recordRun(app.dataDir, 'tools', { ...run, at: at(-30), outcome: 'released' });
    await recordRun(app.dataDir, 'tools', {
      ...run,
      at: at(-5),
      outcome: 'failed',
      messages: ['<b>the source</b> is away'],
    });
    await recordRun(app.dataDir, 'harbours', { ...run, at: at(-200), outcome: 'unchanged' });
    const text = await page('/ops/nights');
    for (const said of ['3 min 20 s', 'consolidate', '&lt;b&gt;the source&lt;/b&gt; is away', 'failed', 'released'])
      expect(text).toContain(said);
    const first = await page('/ops');
    expect(first).toContain('<strong>tools</strong> failed in the last nightly run');
    expect(first).toContain('<strong>harbours</strong> missed its night');
    await recordRun(app.dataDir, 'tools', {
      ...run,
      at: at(-1),
      outcome: 'refused',
      messages: ['mass: a <rule> is broken'],
    });
    expect(await page('/ops')).toContain('had no good run for 2 nights: mass: a &lt;rule&gt; is broken');
    expect(await page('/ops/nights')).toContain('no good run for 2 nights');
    const { datasets } = await stats();
    expect(datasets.find(({ dataset }) => dataset === 'tools')?.runs).toMatchObject([
      { outcome: 'refused', bad_nights: 2 },
      { outcome: 'failed' },
      { outcome: 'released', steps },
    ]);
  });
});

describe('keys', () => {
  test('are found, granted credit and a plan, and revoked; each is in the log with who and when', async () => {
    const { id, headers } = await newKey(app);
    const { email } = (await app.json('/v1/keys/me', { headers })).body as { email: string };
    expect(await page(`/ops/keys?q=${encodeURIComponent(email.toUpperCase())}`)).toContain(`/ops/keys/${id}`);
    expect(await page('/ops/keys?q=nobody-like-that')).toContain('No matching key.');
    const granted = await post(`/ops/keys/${id}/grant`, {
      amount: '12,50 €',
      plan: 'pro',
      reason: 'a <b>good</b> cause',
    });
    expect([granted.status, granted.headers.get('location')]).toEqual([303, `/ops/keys/${id}?done=grant`]);
    expect((await app.json('/v1/keys/me', { headers })).body).toMatchObject({ balance_eur: 13, plan: 'pro' });
    const shown = await page(`/ops/keys/${id}?done=grant`);
    for (const said of ['Granted.', '€13.00', 'a &lt;b&gt;good&lt;/b&gt; cause', '+€12.50'])
      expect(shown).toContain(said);
    expect((await post(`/ops/keys/${id}/revoke`, {})).status).toBe(303);
    expect((await app.ask('/v1/keys/me', { headers })).status).toBe(401);
    // A second time changes nothing.
    expect((await post(`/ops/keys/${id}/revoke`, {})).status).toBe(303);
    const deeds = await app.state.db.selectFrom('audit').selectAll().where('subject', '=', id).execute();
    expect(deeds.map(({ action, who, at }) => [action, who.startsWith('operator '), at])).toEqual([
      ['grant', true, NOW.getTime()],
      ['revoke', true, NOW.getTime()],
    ]);
    const log = await page('/ops/log');
    expect(log).toContain('plan: pro · reason: a &lt;b&gt;good&lt;/b&gt; cause');
    expect(log).toContain(`<a href="/ops/keys/${id}">${String(email)}</a>`);

    for (const q of [String(email).slice(0, -3).toUpperCase(), 'GRANT', 'good</b> c', id])
      expect([q, (await page(`/ops/log?${new URLSearchParams({ q })}`)).includes('eur: 12.5 · plan: pro')]).toEqual([
        q,
        true,
      ]);
    expect(await page('/ops/log?q=100%25')).toContain('No matching entry.');
    expect(await page(`/ops/keys/${id}`)).not.toContain('<form class="ask"');
  });

  test('the operations on keys write the same log', async () => {
    const { id } = await newKey(app, 5);
    await app.json(`/v1/keys/${id}`, { method: 'DELETE', admin: true });
    const deeds = await app.state.db.selectFrom('audit').selectAll().where('subject', '=', id).execute();
    expect(deeds.map(({ action, who }) => [action, /^operator [0-9a-f]{8}$/.test(who)])).toEqual([
      ['grant', true],
      ['revoke', true],
    ]);
  });

  test.each([
    [{ amount: '', plan: '' }, 'Enter an amount, a plan, or both.'],
    [{ amount: '-5', plan: '' }, 'Enter an amount'],
    [{ amount: '1e3', plan: '' }, 'Enter an amount'],
    [{ amount: '0', plan: '' }, 'Enter an amount'],
    [{ amount: '100000.01', plan: '' }, 'Enter an amount'],
    [{ amount: '5', plan: 'gold' }, 'Unknown plan.'],
  ])('a grant of %o changes nothing, and what was typed is kept', async (fields, said) => {
    const { id, headers } = await newKey(app);
    const answer = await post(`/ops/keys/${id}/grant`, { ...fields, reason: 'kept "as typed"' });
    const text = await answer.text();
    expect([answer.status, text.includes(said)]).toEqual([422, true]);
    expect(text).toContain('value="kept &quot;as typed&quot;"');
    expect((await app.json('/v1/keys/me', { headers })).body['balance_eur']).toBe(0.5);
  });

  test('that do not exist are not found', async () => {
    for (const id of ['00000000-0000-4000-8000-000000000000', 'x', '..%2f..'])
      expect((await app.ask(`/ops/keys/${id}`, { admin: true })).status).toBe(404);
    expect((await post('/ops/keys/00000000-0000-4000-8000-000000000000/grant', { amount: '5' })).status).toBe(404);
  });
});

describe('under a base address with a path', () => {
  test('every link, form and cookie contains it', async () => {
    const below = await testApp({ records: 5, base: `${BASE}/register` });
    const text = await (await below.ask('/ops', { admin: true, headers: HTML })).text();
    for (const [, path] of text.matchAll(/(?:href|action|hx-get|hx-post|src)="(\/[^"]*)"/g))
      expect(path).toMatch(/^\/register\//);
    const led = await below.ask('/ops/keys', { headers: HTML });
    expect(led.headers.get('location')).toBe('/register/ops/login?next=/ops/keys');
    const login = await below.ask('/ops/login', {
      method: 'POST',
      body: `key=${ADMIN}`,
      headers: { ...HTML, Origin: BASE, 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(login.headers.get('set-cookie')).toContain('Path=/register/ops;');
    expect(login.headers.get('location')).toBe('/register/ops');
    await below.close();
  });
});

describe('words and charts', () => {
  test('relative times are correct', () => {
    const now = NOW.getTime();
    const told = [0, -5 * 60_000, 3 * HOUR, -50 * HOUR, -100 * 24 * HOUR, -1000 * 24 * HOUR].map((by) =>
      relativeTime(now + by, now),
    );
    expect(told).toEqual(['just now', '5 minutes ago', 'in 3 hours', '2 days ago', '3 months ago', '3 years ago']);
    expect([0.04, 3.21, 59, 200].map(formatDuration)).toEqual(['< 0.1 s', '3.2 s', '59 s', '3 min 20 s']);
  });

  test('a scale ends at the next round number, and names are below their columns', () => {
    expect([0, 0.3, 1, 7, 1200, 99].map(roundUp)).toEqual([1, 0.5, 1, 10, 2000, 100]);
    expect([1, 7, 24, 28, 30].map(tickStep)).toEqual([1, 1, 4, 4, 5]);
  });
});

describe('tables', () => {
  test('are sorted by the address, and their heads lead to the other order', async () => {
    for (let i = 0; i < 3; i++) await newKey(app);
    const emails = async (query: string) =>
      [...(await page(`/ops/keys?q=example.org${query}`)).matchAll(/([\w.]+@example\.org)<\/a>/g)].map(
        ([, email]) => email!,
      );
    const rising = (await emails('')).toSorted((x, y) => x.localeCompare(y, 'en'));
    expect(rising.length).toBeGreaterThan(3);
    expect(await emails('&sort=email')).toEqual(rising);
    expect(await emails('&sort=-email')).toEqual(rising.toReversed());
    const text = await page('/ops/keys?q=example.org&sort=email');
    expect(text).toContain('aria-sort="ascending"><a href="/ops/keys?q=example.org&amp;sort=-email">E-mail');
    expect(text).toContain('href="/ops/keys?q=example.org&amp;sort=balance"');
    const overview = await page('/ops?span=week&datasets=-records');
    expect(overview).toContain('href="/ops?span=week&amp;datasets=records"');
    const names = [...overview.matchAll(/href="\/ops\/nights#(\w+)"/g)].map(([, id]) => id!);
    const records = new Map((await stats()).datasets.map(({ dataset, records: count }) => [dataset, count]));
    const counts = names.map((id) => records.get(id) ?? 0);
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
  });
});
