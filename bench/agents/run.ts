// `npm run bench -- agents`: a scripted agent that knows only /llms.txt answers thirty questions a pack, by
// REST and by MCP.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { countTokens } from 'gpt-tokenizer';
import { readConfig } from '../../config.ts';
import { readLines } from '../../data/duckdb/lines.ts';
import { paths as layout, RELEASE_FILES } from '../../data/model/layout.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import { loadPack } from '../../packs/define/load.ts';
import { startProcess } from '../process.ts';
import { borrowed } from '../subject.ts';
import { Agent } from './agent.ts';
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
  const release = (await currentRelease(DATA_DIR, dataset)) ?? '';
  const records: StoredRecord[] = [];
  for (const line of readLines(join(layout.release(DATA_DIR, dataset, release), RELEASE_FILES.jsonl))) {
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
  const sum = (of: (each: QuestionResult) => number) => asked.reduce((all, each) => all + of(each), 0);
  const right = asked.filter((each) => each.right).length;
  console.log(`\n${dataset} by ${channel}: ${right} of ${asked.length} right; guides read once: ${learnt} tokens`);
  console.log('calls | tokens | cents | question');
  for (const each of asked) {
    const mark = each.right ? '' : `WRONG: ${each.why}`;
    console.log(`${each.calls} | ${each.tokens} | ${(each.eur * 100).toFixed(2)} | ${each.text} ${mark}`);
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
      const spent = asked.reduce((all, each) => all + each.tokens, 0);
      print(
        dataset,
        name.toUpperCase(),
        asked,
        countTokens(first) + channel.said.reduce((all, each) => all + each.tokens, 0) - spent,
      );
      await channel.close();
    }
  }
} finally {
  await server.stop();
  rmSync(scratch, { recursive: true, force: true });
}
if (wrong > 0) process.exitCode = 1;
