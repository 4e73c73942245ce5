// Asks the questions of people over one channel, and makes a table of the answers.
import { DuckDBInstance } from '@duckdb/node-api';
import { readArguments } from '../../api/contract/named-arguments.ts';
import { acceptedParameters, type Operation } from '../../api/contract/operation.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Pack } from '../../packs/define/model.ts';
import { cellsOf } from './agent.ts';
import type { Channel } from './channels.ts';
import { PEOPLE, type PeopleCall, type PeopleQuestion } from './people.ts';
import { type QuestionResult, says } from './score.ts';

/** A question with its correct rows. */
export interface KnownQuestion extends PeopleQuestion {
  rows: string[][];
}

const operationOf = (name: string): Operation => OPERATIONS.find((operation) => operation.name === name)!;

/** Whether a record or a point is named by a key and not by its slug. */
const namesKey = ({ entity_id, near }: Record<string, unknown>): boolean =>
  (typeof entity_id === 'string' && /[A-Z/]|^\d+$/.test(entity_id)) ||
  (typeof near === 'string' && near.split(',').length === 2);

/** Whether the operations have every parameter of a call, and the dataset the keys that it needs. */
function isPossible([name, { dataset: _, entity_id, filters = {}, ...parameters }]: PeopleCall, pack: Pack): boolean {
  const { names } = acceptedParameters(operationOf(name));
  const inFilters = ['near', 'filter'].filter((parameter) => parameter in (filters as object));
  const hasKeys = pack.attributes.some((attribute) => 'key' in attribute && attribute.key === true);
  return (
    [...Object.keys(parameters), ...inFilters].every((parameter) => names.includes(parameter)) &&
    (hasKeys || !namesKey({ entity_id, ...(filters as object) }))
  );
}

/** The questions about a dataset that its operations can answer, with the answers of DuckDB over a table in SQL. */
export async function knownQuestions(pack: Pack, source: string): Promise<KnownQuestion[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`CREATE VIEW r AS SELECT * FROM ${source}`);
  const questions: KnownQuestion[] = [];
  for (const question of PEOPLE[pack.id] ?? []) {
    if (!question.calls.every((call) => isPossible(call, pack))) continue;
    const reader = await connection.runAndReadAll(question.truth);
    questions.push({ ...question, rows: reader.getRows().map((row) => row.map((value) => String(value ?? ''))) });
  }
  instance.closeSync();
  return questions;
}

/** Records as lines of JSON with the columns of a release: `price.min`, `location.lat`. */
export const linesOf = (records: readonly StoredRecord[]): string =>
  records
    .map(({ id, slug, quality_score, attributes }) => {
      const columns = Object.entries(attributes).flatMap(([name, value]): [string, unknown][] => {
        if (typeof value === 'object' && !Array.isArray(value))
          return Object.entries(value).map(([member, part]) => [`${name}.${member}`, part]);
        return [[name, value], ...(typeof value === 'number' ? [[`${name}.min`, value] as [string, unknown]] : [])];
      });
      return JSON.stringify({ id, slug, quality_score, ...Object.fromEntries(columns) });
    })
    .join('\n');

/** Asks one question; an error counts as wrong, with its message. */
export async function askPeople(channel: Channel, dataset: string, question: KnownQuestion): Promise<QuestionResult> {
  const { text, calls, read, rows } = question;
  const before = channel.said.length;
  let why = '';
  try {
    let answer = '';
    for (const [name, input] of calls) {
      const [slug = ''] = cellsOf(answer, 'slug', 1);
      const json = JSON.stringify({ ...input, dataset }).replaceAll('$slug', slug);
      const operation = operationOf(name);
      const { address } = readArguments(operation, JSON.parse(json));
      const url = new URL(address, 'http://guide');
      url.pathname += '.md';
      const template = operation.rest.path.includes(':entity_id') ? '{slug}' : '';
      const row = { want: text, template, tool: name, price: 0, each: false, open: false };
      answer = (await channel.call(url, row, dataset)).text;
    }
    const columns = read.map((name) => cellsOf(answer, name, rows.length));
    const right = rows.every((row, at) => row.every((truth, cell) => says(columns[cell]?.[at] ?? '', truth)));
    if (!right) why = `${JSON.stringify(columns)} for ${JSON.stringify(rows)}`;
  } catch (error) {
    why = (error as Error).message;
  }
  const answers = channel.said.slice(before);
  const sum = (of: (answer: (typeof answers)[number]) => number) =>
    answers.reduce((total, answer) => total + of(answer), 0);
  return { text, right: why === '', why, calls: answers.length, tokens: sum((a) => a.tokens), eur: sum((a) => a.eur) };
}

/** One line of the table: a dataset over a channel. */
export interface PeopleLine {
  dataset: string;
  channel: string;
  results: QuestionResult[];
}

/** The table as Markdown. `searches`: tokens of forty searches, as tables and as JSON. */
export function peopleTable(lines: readonly PeopleLine[], searches: { md: number; json: number }): string {
  const rows = lines.map(({ dataset, channel, results }) => {
    const sum = (of: (result: QuestionResult) => number) => results.reduce((all, result) => all + of(result), 0);
    const right = results.filter((result) => result.right);
    // JSON is not read, and has no slug for a second call: only its tokens are compared.
    const isRead = !channel.includes('JSON');
    const oneCall = right.filter(({ calls }) => calls === 1).length;
    const cells = [
      ...[dataset, channel, ...(isRead ? [`${right.length} of ${results.length}`, oneCall] : ['', ''])],
      ...[sum(({ calls }) => calls), sum(({ tokens }) => tokens), (sum(({ eur }) => eur) * 100).toFixed(1)],
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return `# Questions of people: calls, tokens and cents

An agent that has read the guide asks the questions of \`bench/agents/people.ts\`;
DuckDB computes the correct answers from the releases. Tokens (o200k_base) are those of calls and answers. "MCP, JSON" is
the first call with \`format: "json"\`, the default before records were Markdown.

| dataset | channel | right | in one call | calls | tokens | cents |
|---|---|---|---|---|---|---|
${rows.join('\n')}

Forty searches of five records without \`fields\` over MCP: ${searches.md} tokens, as JSON ${searches.json}.
`;
}
