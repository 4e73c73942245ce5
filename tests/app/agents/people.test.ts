// The questions of people about the fictional tools, over REST and MCP; the bench asks those about the bundled datasets.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, test } from 'vitest';
import { askPeople, knownQuestions, linesOf, peopleTable } from '../../../bench/agents/ask-people.ts';
import { mcpChannel, restChannel } from '../../../bench/agents/channels.ts';
import { PEOPLE } from '../../../bench/agents/people.ts';
import { appOfAll } from '../../support/app.ts';
import { listenerOfAll } from '../../support/listening.ts';
import { newKey } from '../../support/money-on-stores.ts';

const app = await appOfAll({ records: 300 });
const http = await listenerOfAll(app);
const folder = mkdtempSync(join(tmpdir(), 'people-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'tools.jsonl');
writeFileSync(file, linesOf(app.records['tools']!));
const questions = await knownQuestions(app.register.packs.get('tools')!, `read_json('${file}', sample_size = -1)`);

it.each(Object.entries(PEOPLE))('%s has at least twenty questions, at most two calls each', (_, questions) => {
  expect(questions.length).toBeGreaterThanOrEqual(20);
  expect(new Set(questions.map(({ text }) => text)).size).toBe(questions.length);
  for (const { text, calls } of questions) expect(calls.length, text).toBeLessThanOrEqual(2);
});

it('needs one call for at least 95 % of the questions', () => {
  const questions = Object.values(PEOPLE).flat();
  const single = questions.filter(({ calls }) => calls.length === 1);
  expect(single.length / questions.length).toBeGreaterThanOrEqual(0.95);
});

test.each(['rest', 'mcp'] as const)('%s: every question is answered correctly', async (name) => {
  const { key } = await newKey(app, 5);
  const channel = name === 'rest' ? restChannel(http.base, key) : await mcpChannel(http.base, key);
  const results = [];
  for (const question of questions) results.push(await askPeople(channel, 'tools', question));
  await channel.close();
  expect(results.length).toBeGreaterThanOrEqual(16);
  expect(results.filter(({ right }) => !right).map(({ text, why }) => `${text} ${why}`)).toEqual([]);
  const table = peopleTable([{ dataset: 'tools', channel: name, results }], { md: 1, json: 2 });
  expect(table).toContain(`| tools | ${name} | ${results.length} of ${results.length} |`);
});

test('a wrong answer is recognised', async () => {
  const [first] = questions;
  const channel = restChannel(http.base, (await newKey(app, 1)).key);
  const wrong = await askPeople(channel, 'tools', { ...first!, rows: [['0.5']] });
  expect(wrong).toMatchObject({ right: false, why: expect.stringContaining('for [["0.5"]]') });
});
