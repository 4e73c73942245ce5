// `npm run bench -- agents`: a scripted agent that knows only /llms.txt answers thirty questions a pack, by REST and by MCP;
// then twenty questions of people for each of them and for a pack of the tests, with a table.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { countTokens } from 'gpt-tokenizer';
import { readConfig } from '../../config.ts';
import { readLines } from '../../data/duckdb/lines.ts';
import { paths as layout, RELEASE_FILES } from '../../data/model/layout.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import { loadPack } from '../../packs/define/load.ts';
import { testApp } from '../../tests/support/app.ts';
import { startListener } from '../../tests/support/listening.ts';
import { startProcess } from '../process.ts';
import { borrowed } from '../subject.ts';
import { Agent } from './agent.ts';
import { askPeople, type KnownQuestion, knownQuestions, linesOf, type PeopleLine, peopleTable } from './ask-people.ts';
import { type Channel, mcpChannel, restChannel } from './channels.ts';
import { readRegister } from './guide.ts';
import type { AgentQuestion } from './question.ts';
import { agentQuestions, SUBJECTS } from './questions.ts';
import { askAgent, type QuestionResult } from './score.ts';

const { DATA_DIR } = readConfig(process.env);
const scratch = mkdtempSync(join(tmpdir(), 'bench-agents-'));
const datasets = Object.keys(SUBJECTS).filter((dataset) => existsSync(layout.current(DATA_DIR, dataset)));
let wrong = 0;

/** The exported records of a dataset, best first, without provenance. */
async function recordsOf(dataset: string): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  for (const line of readLines(join(await folderOf(dataset), RELEASE_FILES.jsonl))) {
    const { provenance: _, ...record } = JSON.parse(line) as StoredRecord;
    records.push({ ...record, provenance: {} });
  }
  return records;
}

/** Makes a key as the guide describes. */
async function newKey({ path, member }: { path: string; member: string }, email: string): Promise<string> {
  const made = await fetch(path, { method: 'POST', body: JSON.stringify({ [member]: email }) });
  return ((await made.json()) as { key: string }).key;
}

function print(dataset: string, channel: string, asked: QuestionResult[], learnt: number): void {
  const sum = (of: (questionResult: QuestionResult) => number) =>
    asked.reduce((all, questionResult) => all + of(questionResult), 0);
  const right = asked.filter((questionResult) => questionResult.right).length;
  console.log(`\n${dataset} by ${channel}: ${right} of ${asked.length} right; guides read once: ${learnt} tokens`);
  console.log('calls | tokens | cents | question');
  for (const questionResult of asked) {
    const mark = questionResult.right ? '' : `WRONG: ${questionResult.why}`;
    console.log(
      `${questionResult.calls} | ${questionResult.tokens} | ${(questionResult.eur * 100).toFixed(2)} | ${questionResult.text} ${mark}`,
    );
  }
  console.log(
    `${sum(({ calls }) => calls)} | ${sum(({ tokens }) => tokens)} | ${(sum(({ eur }) => eur) * 100).toFixed(2)} | in total`,
  );
  wrong += asked.length - right;
}

// Computes the answers first, since an idle connection would be closed.
const questions = new Map<string, AgentQuestion[]>();
for (const dataset of datasets)
  questions.set(dataset, agentQuestions(await loadPack(resolve('packs', dataset)), await recordsOf(dataset)));

const people: PeopleLine[] = [];
const searches = { md: 0, json: 0 };

/** The release folder of a dataset. */
async function folderOf(dataset: string): Promise<string> {
  return layout.release(DATA_DIR, dataset, (await currentRelease(DATA_DIR, dataset)) ?? '');
}

/** Asks the questions of people about a dataset over every channel. */
async function askAll(base: string, key: string, dataset: string, questions: KnownQuestion[]) {
  const channels = {
    REST: async () => restChannel(base, key),
    MCP: async () => mcpChannel(base, key),
    'MCP, JSON': async () => mcpChannel(base, key, 'json'),
  };
  for (const [channel, open] of Object.entries(channels)) {
    const opened = await open();
    const results: QuestionResult[] = [];
    for (const question of questions) results.push(await askPeople(opened, dataset, question));
    await opened.close();
    // JSON has no table to read: its tokens are compared only.
    if (channel === 'MCP, JSON') for (const result of results) Object.assign(result, { right: true, why: '' });
    else print(`people about ${dataset}`, channel, results, 0);
    people.push({ dataset, channel, results });
  }
}

/** Counts the tokens of searches for five records without fields, each with another word. */
async function countSearches(base: string, key: string, dataset: string, most: number) {
  const words = ['', 'san', 'new', 'port', 'mini', 'pro', 'west', 'o', 'large', 'air', 'ba', 'la', 'mo', 'gr'];
  for (const format of ['md', 'json'] as const) {
    const channel = await mcpChannel(base, key, format);
    const row = { want: '', template: '', tool: 'entity_search', price: 0, each: false, open: false };
    for (const word of words.slice(0, most)) {
      const url = new URL(`/v1/${dataset}/entities?limit=5${word && `&q=${word}`}`, base);
      searches[format] += countTokens((await channel.call(url, row, dataset)).text);
    }
    await channel.close();
  }
}

const dataDir = borrowed(DATA_DIR, scratch, datasets);
const server = await startProcess(
  ['api/server.ts'],
  { DATA_DIR: dataDir, DIST_DIR: join(scratch, 'dist') },
  '/healthz',
);
try {
  const first = await (await fetch(`${server.base}/llms.txt`)).text();
  const register = readRegister(first);
  for (const dataset of datasets) {
    for (const name of ['rest', 'mcp'] as const) {
      const key = await newKey(register.key, `${dataset}-${name}@example.org`);
      const channel: Channel = name === 'rest' ? restChannel(server.base, key) : await mcpChannel(server.base, key);
      const agent = new Agent(channel, register);
      const asked: QuestionResult[] = [];
      for (const question of questions.get(dataset) ?? []) asked.push(await askAgent(agent, question));
      const spent = asked.reduce((all, questionResult) => all + questionResult.tokens, 0);
      print(
        dataset,
        name.toUpperCase(),
        asked,
        countTokens(first) + channel.said.reduce((all, agentAnswer) => all + agentAnswer.tokens, 0) - spent,
      );
      await channel.close();
    }
    const file = join(await folderOf(dataset), RELEASE_FILES.records);
    const peopleQuestions = await knownQuestions(await loadPack(resolve('packs', dataset)), `read_parquet('${file}')`);
    // One key for all of it: an address may make few of them a day. Its credit is enough for 13 searches of models.
    const key = await newKey(register.key, `people-${dataset}@example.org`);
    await askAll(server.base, key, dataset, peopleQuestions);
    await countSearches(server.base, key, dataset, dataset === 'airports' ? 14 : 13);
  }
  const app = await testApp({ records: 300 });
  const at = await startListener(app);
  const { path } = register.key;
  const keys = { ...register.key, path: path.replace(server.base, at.base) };
  const file = join(scratch, 'tools.jsonl');
  writeFileSync(file, linesOf(app.records['tools']!));
  const peopleQuestions = await knownQuestions(
    app.register.packs.get('tools')!,
    `read_json('${file}', sample_size = -1)`,
  );
  await askAll(at.base, await newKey(keys, 'people-tools@example.org'), 'tools', peopleQuestions);
  await at.stop();
  await app.close();
  console.log(`\n${peopleTable(people, searches)}`);
} finally {
  await server.stop();
  rmSync(scratch, { recursive: true, force: true });
}
if (wrong > 0) process.exitCode = 1;
