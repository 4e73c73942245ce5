// docs/operators.md is correct: its addresses exist, its commands work, its numbers are those of the program.
import { expect, test } from 'vitest';
import { REVIEW_KINDS } from '../../../api/ops/pages/review-parts.ts';
import { SESSION_LIFETIME } from '../../../data/state/sessions.ts';
import { read, tableRows } from '../../structure/tree.ts';
import { ADMIN, appOfAll } from '../../support/app.ts';

const PAGE = 'docs/operators.md';
const text = read(PAGE);

const app = await appOfAll({ nights: true });

test('every page of its table is there, and no page is missing from it', async () => {
  const documented = tableRows(PAGE)
    .map(([path = '']) => path)
    .filter((path) => path.startsWith('/ops'));
  const { items } = (await app.json('/ops/review.json', { admin: true })).body as { items: { id: string }[] };
  const made = await app.json('/v1/keys', { method: 'POST', body: '{"email":"docs@example.org"}' });
  for (const path of documented) {
    const asked = path.replace('{item_id}', items[0]!.id).replace('{key_id}', String(made.body['id']));
    expect([path, (await app.ask(asked, { admin: true })).status]).toEqual([path, 200]);
  }
  const overview = await (await app.ask('/ops', { admin: true })).text();
  const linked = [...overview.matchAll(/<a href="(\/ops[a-z/-]*)"/g)].map(([, path]) => path);
  expect(documented).toEqual(expect.arrayContaining([...new Set(linked)]));
});

test('the commands work, in their order', async () => {
  const commands = text.match(/^curl .*$/gm) ?? [];
  expect(commands).toHaveLength(4);
  const ids = ((await app.json('/ops/review.json', { admin: true })).body as { items: { id: string }[] }).items;
  for (const command of commands) {
    expect(command).toContain('-H "Authorization: Bearer $ADMIN"');
    const [, path = ''] = /"http:\/\/localhost:8787([^"]+)"/.exec(command) ?? [];
    const method = command.includes(' -X POST ') ? 'POST' : 'GET';
    const asked = path.replace('<item_id>', () => ids.shift()?.id ?? '');
    const answer = await app.json(asked, { method, headers: { Authorization: `Bearer ${ADMIN}` } });
    expect([command, answer.status]).toEqual([command, 200]);
  }
});

test('kinds, issues and numbers are those of the program', () => {
  const rows = tableRows(PAGE);
  const review = text.slice(text.indexOf('\n## Review\n'), text.indexOf('\n## What anybody can hold or send\n'));
  const kinds = [...review.matchAll(/^\| `(\w+)` \|/gm)].map(([, kind]) => kind);
  expect(kinds).toEqual(Object.keys(REVIEW_KINDS));
  expect([SESSION_LIFETIME.idle / 3_600_000, SESSION_LIFETIME.life / 3_600_000]).toEqual([1, 12]);
  expect(text).toContain('for an hour after the last page you opened, and for twelve hours at most');
  const page = read('api/ops/pages/money.ts');
  for (const [what = ''] of rows.filter((row) => row.length === 2).slice(-10))
    if (/^(payment|x402|dispute|below)/.test(what)) expect(page).toContain(`'${what}'`);
});
