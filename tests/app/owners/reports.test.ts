// Reports of mistakes, on every store: what is accepted, the daily limit, hostile texts, and the review of
// operators.
import { expect, test } from 'vitest';
import { BASE, NOW } from '../../support/app.ts';
import { describeApps } from '../../support/money-on-stores.ts';
import { answerStatus, mails, SERVED, send } from '../../support/owners-stage.ts';

let clock = NOW;
const PATH = '/v1/harbours/entities/harbour-3/reports';
const NASTY = '<img src=x onerror=alert(1)>"\'--><script>alert(2)</script>\u202e';
const HTML = { Accept: 'text/html' };

describeApps('reports of mistakes', { ...SERVED, now: () => clock }, (stage) => {
  const report = (body: unknown, address?: string, path = PATH) => send(stage.app, 'POST', path, body, { address });
  const open = async () => {
    const { body } = await stage.app.json('/ops/review.json?limit=1000', { admin: true });
    return (body['items'] as { kind: string; id: string; attribute: string | null; request: object }[]).filter(
      ({ kind }) => kind === 'report',
    );
  };

  test.for([
    ['a message', { message: 'x' }, '202 received'],
    ['1,000 characters', { message: 'x'.repeat(1000) }, '202 received'],
    ['an attribute, also a paid one', { message: 'x', attribute: 'fuel' }, '202 received'],
    ['null for what is optional', { message: 'x', attribute: null, contact: null }, '202 received'],
    ['no message', {}, '422 validation_failed'],
    ['an empty message', { message: '' }, '422 validation_failed'],
    ['spaces', { message: ' \n\t' }, '422 validation_failed'],
    ['1,001 characters', { message: 'x'.repeat(1001) }, '422 validation_failed'],
    ['a number', { message: 7 }, '422 validation_failed'],
    ['NUL', { message: 'a\0b' }, '422 validation_failed'],
    ['a contact that is no address', { message: 'x', contact: 'me' }, '422 validation_failed'],
    ['an unknown attribute', { message: 'x', attribute: 'fule' }, '400 invalid_parameter'],
    ['a list', [], '422 validation_failed'],
  ] as const)('%s', async ([, body, expected]) => {
    const before = (await open()).length;
    const answer = await report(body);
    expect(answerStatus(answer)).toBe(expected);
    expect((await open()).length - before).toBe(Number(expected.startsWith('202')));
    if (answer.status === 202) expect(answer.body['id']).toMatch(/^[0-9a-f-]{36}$/);
    else if (expected.startsWith('400')) expect(answer.body['message']).toContain('Did you mean "fuel"?');
  });

  test('a record or dataset that does not exist is 404, a parameter 400, and reading is 405', async () => {
    for (const [path, expected] of [
      [PATH.replace('harbour-3', 'nothing'), '404 unknown_entity'],
      [PATH.replace('harbours', 'nowhere'), '404 unknown_dataset'],
      [`${PATH}?message=x`, '400 unknown_filter'],
    ] as const)
      expect(answerStatus(await report({ message: 'x' }, undefined, path)), path).toBe(expected);
    expect((await stage.app.ask(PATH)).status).toBe(405);
  });

  test('ten a day from one address; another address and the next day have their own', async () => {
    const from = '203.0.113.77';
    const answers = await Promise.all(Array.from({ length: 14 }, () => report({ message: 'again' }, from)));
    expect(answers.map(answerStatus).filter((each) => each === '202 received')).toHaveLength(10);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(4);
    expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answerStatus(await report({ message: 'x' }, '203.0.113.78'))).toBe('202 received');
    // A wrong body takes nothing from the limit.
    for (let i = 0; i < 12; i++) await report({}, '203.0.113.79');
    expect(answerStatus(await report({ message: 'x' }, '203.0.113.79'))).toBe('202 received');
    clock = new Date(NOW.getTime() + 86_400_000);
    expect(answerStatus(await report({ message: 'x' }, from))).toBe('202 received');
    clock = NOW;
  });

  test('the form of the page sends one without a script, and gets a page', async () => {
    const page = await (await stage.app.ask('/datasets/harbours/harbour-3', { headers: HTML })).text();
    const [, action = ''] = /<form class="report" method="post" action="([^"]+)"/.exec(page) ?? [];
    expect(action).toBe(new URL(BASE + PATH).pathname);
    const body = new URLSearchParams({ attribute: '', message: `From a form ${NASTY}`, contact: '' }).toString();
    const headers = { ...HTML, 'Content-Type': 'application/x-www-form-urlencoded' };
    const answer = await stage.app.ask(PATH, { method: 'POST', body, headers, address: '203.0.113.80' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([202, 'text/html; charset=utf-8']);
    expect(answer.headers.get('cache-control')).toContain('no-store');
    expect(await answer.text()).toContain('Report received');
    const empty = await stage.app.ask(PATH, { method: 'POST', body: 'message=+', headers, address: '203.0.113.80' });
    expect([empty.status, empty.headers.get('content-type')]).toEqual([422, 'text/html; charset=utf-8']);
    const refusal = await empty.text();
    expect(refusal).toContain('<h1>Report not sent</h1>');
    expect(refusal).toContain(`href="${new URL(BASE).pathname.replace(/\/$/, '')}/datasets/harbours/harbour-3"`);
    expect((await open()).map(({ request }) => request)).toContainEqual(
      expect.objectContaining({ reason: `From a form ${NASTY}`, contact: '' }),
    );
  });

  test('operators see its text escaped, and close it once; nobody is mailed and nothing changes', async () => {
    const { body } = await report({ message: NASTY, attribute: 'depth', contact: 'reader@null.example' });
    const id = String(body['id']);
    const record = async () => (await stage.app.json('/v1/harbours/entities/harbour-3', { admin: true })).body;
    const before = await record();
    const post = mails(stage.app).length;
    for (const path of ['/ops', '/ops/review', `/ops/review/${id}`, '/ops/log']) {
      const text = await (await stage.app.ask(path, { admin: true, headers: HTML })).text();
      expect(text, path).not.toMatch(/<img|<script>alert/);
    }
    const page = await (await stage.app.ask(`/ops/review/${id}`, { admin: true, headers: HTML })).text();
    for (const part of ['&lt;img src=x', 'reader@null.example', 'depth', 'Close as corrected'])
      expect(page).toContain(part);
    const close = (verdict: string) => stage.app.json(`/ops/review/${id}/${verdict}`, { method: 'POST', admin: true });
    expect((await close('reject')).body).toEqual({ id, status: 'rejected' });
    expect((await close('approve')).status).toBe(409);
    expect(await record()).toEqual(before);
    expect(mails(stage.app).length).toBe(post);
    expect((await open()).map((each) => each.id)).not.toContain(id);
    // No caller but operators sees a report.
    const published = await (await stage.app.ask('/datasets/harbours/harbour-3', { headers: HTML })).text();
    expect(published).not.toContain('reader@null.example');
  });
});
