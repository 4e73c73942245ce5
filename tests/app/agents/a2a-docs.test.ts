// The section on A2A of docs/mcp.md is correct: its command runs and prints what the page shows.
import { expect, it } from 'vitest';
import { read, tableRows } from '../../structure/tree.ts';
import { appOfAll, BASE } from '../../support/app.ts';

const PAGE = 'docs/mcp.md';
const LOCAL = 'http://localhost:8787';

const app = await appOfAll({ nights: true });

/** The parts that differ between calls, as in the page. */
function steady(text: string): string {
  let seen = 0;
  const id = () => {
    seen += 1;
    return `00000000-0000-4000-8000-${String(seen).padStart(12, '0')}`;
  };
  return text
    .replaceAll(BASE, LOCAL)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, id)
    .replace(app.releases['tools'] ?? '', '…');
}

it('prints what the page shows', async () => {
  const [, body = ''] = /-d '(.+)'$/m.exec(read(PAGE)) ?? [];
  const [, shown = ''] = /```json\n(.+)\n```/.exec(read(PAGE)) ?? [];
  const response = await app.ask('/a2a/v1/message:send', { method: 'POST', body, headers: { 'A2A-Version': '1.0' } });
  expect(steady(await response.text())).toBe(shown);
});

it('names the reasons that are answered', async () => {
  const reasons = tableRows(PAGE).flatMap((row) => /^4\d\d ([A-Z0-9_]{6,})/.exec(row[1] ?? '')?.[1] ?? []);
  const asked: [string, unknown, Record<string, string>][] = [
    ['/message:send', {}, { 'A2A-Version': '0.3' }],
    ['/tasks/1', null, {}],
    ['/message:stream', {}, {}],
    ['/tasks/1/pushNotificationConfigs', {}, {}],
    ['/extendedAgentCard', null, {}],
    ['/message:send', { message: { parts: [{ url: 'https://files.example/a' }] } }, {}],
    ['/message:send', { message: { parts: [{ text: 'a'.repeat(70_000) }] } }, {}],
  ];
  const answered = [];
  for (const [path, body, headers] of asked) {
    const init = body === null ? {} : { method: 'POST', body: JSON.stringify(body), headers };
    const { body: told } = await app.json(`/a2a/v1${path}`, init);
    answered.push((told as { error: { details: { reason: string }[] } }).error.details[0]?.reason);
  }
  expect(reasons).toEqual(answered);
});
