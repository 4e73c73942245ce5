// The review for operators and their programs: the list, the effects of a decision, and that an item is
// decided once.
import { expect, test } from 'vitest';
import { hashSecret } from '../../../data/state/key-format.ts';
import { openRequest } from '../../../data/state/owners/requests.ts';
import { ADMIN, NOW, type TestApp } from '../../support/app.ts';
import { describeApps, type MoneyStage } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies(
  'ops.review',
  'ops.approve',
  'ops.reject',
  'ops.partial',
  'shape.ops-review',
  'shape.ops-decide',
  'consolidate.decision',
  'optout.review',
  'code.already-decided',
  'procedure.review-default',
  'procedure.review-decide',
);

const WHO = `operator ${hashSecret(ADMIN).slice(0, 8)}`;
const HTML = { Accept: 'text/html' };

interface Item {
  id: string;
  status: string;
  kind: string;
  dataset: string;
  entity_id: string;
  attribute: string | null;
  facts: { value: unknown; source: string }[];
  opened_at: string;
  decided_by: string | null;
}

const list = async (app: TestApp, query = '') =>
  (await app.json(`/ops/review.json${query}`, { admin: true })).body as { items: Item[]; total: number };

const decide = (app: TestApp, id: string, verdict: 'approve' | 'reject') =>
  app.json(`/ops/review/${id}/${verdict}`, { method: 'POST', admin: true });

const published = async (app: TestApp, { dataset, entity_id, attribute }: Item) => {
  const { body } = await app.json(`/v1/${dataset}/entities/${entity_id}`, { admin: true });
  return (body['attributes'] as Record<string, unknown>)[attribute ?? ''];
};

const audit = async (app: TestApp, subject: string) =>
  app.state.db.selectFrom('audit').selectAll().where('subject', '=', subject).execute();

/** The first open item of a kind about an attribute. */
async function itemOf(app: TestApp, kind: string, attribute: string): Promise<Item> {
  const found = (await list(app)).items.find((each) => each.kind === kind && each.attribute === attribute);
  if (found === undefined) throw new Error(`there is no ${kind} about ${attribute}`);
  return found;
}

describeApps('the review', { nights: true }, (stage: MoneyStage) => {
  test('lists what is open, newest first, each with its two facts', async () => {
    const { items, total } = await list(stage.app);
    expect(items.length).toBeGreaterThan(2);
    expect(total).toBe(items.length);
    for (const item of items) {
      expect(item.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(item).toMatchObject({ status: 'open', dataset: expect.any(String), decided_by: null });
      expect(['conflict', 'jump']).toContain(item.kind);
      expect(item.facts).toHaveLength(2);
    }
    const times = items.map(({ opened_at }) => opened_at);
    expect(times).toEqual([...times].sort().reverse());
    expect((await list(stage.app, '?limit=1')).items).toEqual(items.slice(0, 1));
    expect((await list(stage.app, '?limit=1&offset=1')).items).toEqual(items.slice(1, 2));
    expect((await list(stage.app, '?dataset=harbours')).items).toEqual(
      items.filter(({ dataset }) => dataset === 'harbours'),
    );
    expect((await list(stage.app, '?status=approved')).items).toEqual([]);
  });

  test('refuses unknown items and verdicts', async () => {
    for (const [query, code] of [
      ['?status=later', 'validation_failed'],
      ['?limit=0', 'validation_failed'],
      ['?limit=x', 'validation_failed'],
      ['?dataset=nowhere', 'validation_failed'],
      ['?colour=red', 'invalid_parameter'],
    ])
      expect([query, (await stage.app.json(`/ops/review.json${query}`, { admin: true })).body['error']]).toEqual([
        query,
        code,
      ]);
    expect((await decide(stage.app, 'not-a-uuid', 'approve')).status).toBe(422);
    for (const verdict of ['approve', 'reject'] as const) {
      const missing = await decide(stage.app, '00000000-0000-4000-8000-000000000000', verdict);
      expect([missing.status, missing.body['error']]).toEqual([404, 'not_found']);
    }
    const line = await stage.app.ask('/ops/review/00000000-0000-4000-8000-000000000000/approve', {
      method: 'POST',
      admin: true,
      headers: { ...HTML, 'HX-Request': 'true' },
    });
    expect([line.status, await line.text()]).toEqual([
      404,
      expect.stringMatching(/^<li [^>]*role="alert">No such item/),
    ]);
    expect((await stage.app.ask('/ops/review/00000000-0000-4000-8000-000000000000', { admin: true })).status).toBe(404);
  });

  test('approve publishes the other value everywhere at once, and logs operator and time', async () => {
    const item = await itemOf(stage.app, 'jump', 'price.list');
    const [kept, other] = item.facts;
    expect(await published(stage.app, item)).toEqual(kept!.value);
    const answer = await decide(stage.app, item.id, 'approve');
    expect([answer.status, answer.body]).toEqual([200, { id: item.id, status: 'approved' }]);
    await stage.other.register.refresh();
    for (const app of [stage.app, stage.other]) {
      expect(await published(app, item)).toEqual(other!.value);
      const text = await (await app.ask(`/v1/tools/entities/${item.entity_id}.md`, { admin: true })).text();
      expect(text).toContain(String(other!.value));
      const { items } = await list(app);
      expect(items.map(({ id }) => id)).not.toContain(item.id);
    }
    expect((await list(stage.app, '?status=approved')).items).toMatchObject([
      {
        id: item.id,
        status: 'approved',
        kind: 'jump',
        decided_by: WHO,
        decided_at: NOW.toISOString().replace('.000', ''),
      },
    ]);
    expect(await audit(stage.app, item.id)).toMatchObject([
      { who: WHO, action: 'approve', at: NOW.getTime(), dataset: 'tools', entity_id: item.entity_id },
    ]);
  });

  test('reject keeps the published value, and closes the item', async () => {
    const item = await itemOf(stage.app, 'conflict', 'price.list');
    const before = await published(stage.app, item);
    expect((await decide(stage.app, item.id, 'reject')).body).toEqual({ id: item.id, status: 'rejected' });
    expect(await published(stage.app, item)).toEqual(before);
    expect((await list(stage.app)).items.map(({ id }) => id)).not.toContain(item.id);
    expect((await list(stage.app, '?status=rejected')).items.map(({ id }) => id)).toEqual([item.id]);
    expect((await list(stage.app, '?status=all')).items.filter(({ status }) => status !== 'open')).toHaveLength(2);
  });

  test('of two reviewers at the same moment one decides, and the other gets the first one’s name', async () => {
    await stage.other.register.refresh();
    const item = await itemOf(stage.app, 'conflict', 'kind');
    const answers = await Promise.all([
      decide(stage.app, item.id, 'approve'),
      decide(stage.other, item.id, 'reject'),
      decide(stage.app, item.id, 'reject'),
      decide(stage.other, item.id, 'approve'),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const refused = answers.find(({ status }) => status === 409)!;
    expect(refused.body['error']).toBe('already_decided');
    expect(refused.body['message']).toMatch(
      new RegExp(`^This was (approved|rejected) by ${WHO} on Nov 20, 2026, 12:00 UTC`),
    );
    expect(await audit(stage.app, item.id)).toHaveLength(1);
    expect((await decide(stage.app, item.id, 'approve')).status).toBe(409);
    await stage.app.register.refresh();
    const [done] = (await list(stage.app, '?status=all')).items.filter(({ id }) => id === item.id);
    const expected = done!.status === 'approved' ? item.facts[1] : item.facts[0];
    expect(await published(stage.app, item)).toEqual(expected!.value);
  });

  test('a form leads to the item with its outcome; htmx gets the replaced line', async () => {
    const [item] = (await list(stage.app)).items as [Item];
    const posted = (headers: Record<string, string>) =>
      stage.app.ask(`/ops/review/${item.id}/approve`, {
        method: 'POST',
        admin: true,
        headers: { ...HTML, ...headers },
      });
    const first = await posted({});
    expect([first.status, first.headers.get('location')]).toEqual([303, `/ops/review/${item.id}`]);
    const page = await (await stage.app.ask(`/ops/review/${item.id}`, { admin: true })).text();
    expect(page).toContain(`approved</span> by ${WHO}`);
    expect(page).not.toContain('/approve"');
    const again = await posted({ 'HX-Request': 'true' });
    expect(again.status).toBe(409);
    expect(await again.text()).toMatch(/^<li class="entry done" id="i-[^"]+" role="status">.*This was approved by/s);
  });
});

describeApps('requests of people in the review', { nights: true }, (stage: MoneyStage) => {
  const NASTY = '<img src=x onerror=alert(1)>"\'--><script>alert(2)</script>';
  const about = (app: TestApp, dataset: string, i: number) => {
    const record = app.records[dataset]![i]!;
    return { dataset, entity_id: record.id, slug: record.slug, name: record.name };
  };
  const ask = async (kind: 'opt_out' | 'claim' | 'notice', i: number, reason: string | null = null) => {
    const given = {
      kind,
      ...about(stage.app, 'tools', i),
      contact: `owner${i}@harbour.example`,
      reason,
      because: NASTY,
    };
    return (await openRequest(stage.app.state, given, NOW.getTime())).id;
  };

  test('come first, and their texts are escaped everywhere', async () => {
    const id = await ask('opt_out', 0, NASTY);
    const [first] = (await list(stage.app)).items;
    expect(first).toMatchObject({ id, kind: 'opt_out', attribute: null, facts: [], request: { reason: NASTY } });
    // A decided item keeps the statements of its sources at the time.
    const fact = {
      value: NASTY,
      source: NASTY,
      source_url: 'javascript:alert(3)',
      evidence: NASTY,
      confidence: 1,
      observed_at: '2026-01-01T00:00:00Z',
    };
    const item = {
      id: crypto.randomUUID(),
      kind: 'conflict',
      dataset: 'tools',
      entity_id: first!.entity_id,
      attribute: 'kind',
      facts: [fact, fact],
      opened_at: '2026-01-01T00:00:00Z',
    };
    await stage.app.state.db
      .insertInto('decisions')
      .values({
        id: item.id,
        dataset: 'nowhere',
        entity_id: item.entity_id,
        attribute: 'kind',
        status: 'approved',
        at: 1,
        decided_by: NASTY,
        version: 1,
        item: JSON.stringify(item),
      })
      .execute();
    for (const path of [
      '/ops',
      '/ops/review',
      '/ops/review?status=all',
      '/ops/partials/review',
      `/ops/review/${id}`,
      `/ops/review/${item.id}`,
      '/ops/log',
    ]) {
      const text = await (await stage.app.ask(path, { admin: true, headers: HTML })).text();
      expect(text, path).not.toMatch(/<img|<script>|href="javascript:/);
    }
    expect(await (await stage.app.ask(`/ops/review/${id}`, { admin: true })).text()).toContain('&lt;img src=x');
  });

  test('an opt-out that is approved removes the record at once; one that is rejected does not, and both contacts are notified', async () => {
    const [gone, stays] = [await ask('opt_out', 1), await ask('opt_out', 2)];
    const [first, second] = [about(stage.app, 'tools', 1), about(stage.app, 'tools', 2)];
    expect((await decide(stage.app, gone, 'approve')).body).toEqual({ id: gone, status: 'approved' });
    expect((await stage.app.ask(`/v1/tools/entities/${first.entity_id}`, { admin: true })).status).toBe(404);
    expect((await decide(stage.app, stays, 'reject')).body).toEqual({ id: stays, status: 'rejected' });
    expect((await stage.app.ask(`/v1/tools/entities/${second.entity_id}`, { admin: true })).status).toBe(200);
    expect((await decide(stage.app, gone, 'reject')).status).toBe(409);
    expect((await audit(stage.app, gone)).map(({ action }) => action)).toEqual(['approve']);
    const out = await (await stage.app.ask('/ops/opt-outs', { admin: true })).text();
    expect(out).toContain('owner1@harbour.example');
    // The log names records, except those that are removed.
    const log = await (await stage.app.ask('/ops/log', { admin: true })).text();
    const { name, slug } = stage.app.records['tools']!.find(({ id }) => id === second.entity_id)!;
    expect(log).toContain(`/datasets/tools/${slug}" title="${second.entity_id}">${name}</a> tools`);
    expect(log).toContain(`tools <code>${first.entity_id}</code>`);
    // Shown again, through the notice about a removal.
    const notice = await openRequest(
      stage.app.state,
      { kind: 'notice', ...first, contact: 'owner1@harbour.example', reason: null, because: 'in force' },
      NOW.getTime(),
    );
    expect((await decide(stage.app, notice.id, 'reject')).status).toBe(200);
    expect((await stage.app.ask(`/v1/tools/entities/${first.entity_id}`, { admin: true })).status).toBe(200);
  });

  test('of two who approve the same opt-out one does', async () => {
    const id = await ask('opt_out', 3);
    const answers = await Promise.all([
      decide(stage.app, id, 'approve'),
      decide(stage.other, id, 'reject'),
      decide(stage.app, id, 'approve'),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  test('several are decided in two steps, each by itself', async () => {
    const [one, two] = [await ask('opt_out', 5), await ask('opt_out', 6)];
    const missing = '00000000-0000-4000-8000-000000000000';
    const post = (items: string[], fields: Record<string, string>, headers: Record<string, string> = HTML) =>
      stage.app.ask('/ops/review/decide', {
        method: 'POST',
        admin: true,
        headers: { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' },
        body: String(
          new URLSearchParams([...items.map((id) => ['item', id]), ...Object.entries(fields)] as [string, string][]),
        ),
      });
    const first = await post([one, two, missing], { verdict: 'approve' });
    const question = await first.text();
    expect(first.status).toBe(200);
    expect(question).toContain('2 records will disappear from every page');
    expect(question).toContain('Approve 2 items');
    expect(question).toContain('name="confirmed" value="yes"');
    expect((await audit(stage.app, one)).length + (await audit(stage.app, two)).length).toBe(0);
    // Another operator decides one of them before the confirmation.
    expect((await decide(stage.other, two, 'reject')).status).toBe(200);
    const result = await (await post([one, two, missing], { verdict: 'approve', confirmed: 'yes' })).text();
    expect(result).toContain('1 item approved; 2 not');
    expect(result).toContain(`Already rejected by ${WHO}.`);
    expect(result).toContain('No such item any more.');
    expect((await audit(stage.app, one)).map(({ action }) => action)).toEqual(['approve']);
    expect((await audit(stage.app, two)).map(({ action }) => action)).toEqual(['reject']);
    const again = await (await post([one], { verdict: 'reject' }, { Accept: 'application/json' })).json();
    expect(again).toMatchObject({ decided: 0, items: [{ id: one, state: 'already' }] });
    for (const [items, verdict] of [
      [[], 'approve'],
      [['x'], 'approve'],
      [[one], 'maybe'],
      [Array.from({ length: 101 }, (_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`), 'approve'],
    ] as const)
      expect((await post([...items], { verdict })).status, verdict).toBe(422);
    const list = await (await stage.app.ask('/ops/review', { admin: true, headers: HTML })).text();
    expect(list).toContain('form="bulk" name="item"');
  });

  test('a claim that is approved mails its link', async () => {
    const id = await ask('claim', 4);
    expect((await decide(stage.app, id, 'approve')).status).toBe(200);
    const claims = await stage.app.state.db.selectFrom('claims').selectAll().execute();
    expect(claims).toMatchObject([{ email: 'owner4@harbour.example', verified_at: null }]);
  });
});
