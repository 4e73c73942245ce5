// An agent that knows the format of guides but not the service: from /llms.txt to correct answers, the
// cheapest way.
import { describe, expect, test } from 'vitest';
import { Agent } from '../../../bench/agents/agent.ts';
import { mcpChannel, restChannel } from '../../../bench/agents/channels.ts';
import { readGuide, readRegister } from '../../../bench/agents/guide.ts';
import type { AgentQuestion } from '../../../bench/agents/question.ts';
import { agentQuestions } from '../../../bench/agents/questions.ts';
import { askAgent, type QuestionResult, says } from '../../../bench/agents/score.ts';
import { appOfAll, BASE } from '../../support/app.ts';
import { listenerOfAll } from '../../support/listening.ts';

const app = await appOfAll({ records: 300 });
const http = await listenerOfAll(app);
const questions: AgentQuestion[] = agentQuestions(app.register.packs.get('tools')!, app.records['tools']!, {
  noun: 'hand tools and machines',
  names: ['maker', 'model'],
  enums: ['maker', 'kind'],
  number: 'price.list',
  paid: ['runtime', 'summary'],
  contains: ['name', 'a'],
  open: ['name', 'mass'],
  compared: 'price.list',
  geo: 'workshop',
});

/** Addresses contain the base URL of the register, which is not the one of the tests. */
const here = (url: string, init?: RequestInit) => fetch(url.replace(BASE, http.base), init);

const before = new Map<string, Promise<QuestionResult[]>>();

/** All questions over one channel, each once. */
function asked(name: 'rest' | 'mcp'): Promise<QuestionResult[]> {
  const found = before.get(name) ?? walk(name);
  before.set(name, found);
  return found;
}

async function walk(name: 'rest' | 'mcp'): Promise<QuestionResult[]> {
  const register = readRegister(await (await here(`${BASE}/llms.txt`)).text());
  expect(register.datasets.map(({ id }) => id)).toEqual(['harbours', 'tools']);
  const { path, member } = register.key;
  const made = await here(path, { method: 'POST', body: JSON.stringify({ [member]: `${name}@example.org` }) });
  const { key } = (await made.json()) as { key: string };
  const channel = name === 'rest' ? restChannel(BASE, key, here) : await mcpChannel(http.base, key);
  const agent = new Agent(channel, register);
  const found: QuestionResult[] = [];
  for (const question of questions) {
    expect(agent.datasetFor(question)).toBe('tools');
    found.push(await askAgent(agent, question));
  }
  await channel.close();
  return found;
}

describe('from the guides alone', () => {
  test.each(['rest', 'mcp'] as const)('%s: every question is answered correctly', async (name) => {
    const found = await asked(name);
    expect(found.length).toBeGreaterThanOrEqual(26);
    expect(found.filter(({ right }) => !right).map(({ text, why }) => `${text} ${why}`)).toEqual([]);
    const free = found.filter(({ eur }) => eur === 0).length;
    // Counts are free everywhere; public fields are free over REST.
    expect(free).toBeGreaterThanOrEqual(name === 'rest' ? 18 : 12);
  });

  test('paid fields of one record are fetched the cheaper of two ways', async () => {
    const { calls } = readGuide(await (await here(`${BASE}/v1/tools/llms.txt`)).text());
    const price = (want: string) => calls.find((row) => row.want.startsWith(want))!.price!;
    expect(price('any fields of one record')).toBeLessThan(price('any fields of the records'));
    const [paid] = (await asked('rest')).filter(({ text }) => text.endsWith('runtime and summary?'));
    expect(paid).toMatchObject({ right: true, calls: 2, eur: price('any fields of one record') });
  });
});

test('wrong answers are recognised', () => {
  expect([says('1 250.5 EUR/piece', '1250.5'), says('12', '12.1'), says('Saw', 'saw'), says('', 'saw')]).toEqual([
    ...[true, false, true, false],
  ]);
});
