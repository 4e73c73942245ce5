// The results of the bench as Markdown: the tables of the two documents, each between its two marks.
import { join } from 'node:path';
import type { Load } from './load.ts';
import type { Growth } from './parts/growth.ts';
import type { Mcp } from './parts/mcp.ts';
import type { Night } from './parts/night.ts';
import type { QuestionRow, Questions } from './parts/questions.ts';
import type { Soak } from './parts/soak.ts';
import type { SqlBench } from './parts/sql.ts';
import type { Misspelt, StallRow, Stalls } from './parts/stalls.ts';
import type { Start } from './parts/start.ts';
import type { Together } from './parts/together.ts';
import type { Tokens } from './parts/tokens.ts';
import type { Workers } from './parts/workers.ts';
import { BUDGETS, type Peer } from './questions.ts';
import type { BenchParts, PartName, PartResult, Results } from './results.ts';
import { STALL_BOUNDS } from './stalls.ts';

/** Paths of the documents that contain tables: a summary, and the tables of all parts. */
export const DOCUMENTS = ['../docs/performance.md', 'results.md'].map((path) => join(import.meta.dirname, path));

const count = (n: number) => Math.round(n).toLocaleString('en-US');
/** results.json has null for a time that a load generator did not print. */
const ms = (n: number | null) =>
  n === null || Number.isNaN(n) ? 'not measured' : n < 10 ? n.toFixed(2) : n < 100 ? n.toFixed(1) : count(n);
const ratio = (n: number) => (n < 10 ? n.toFixed(2) : n < 100 ? n.toFixed(1) : count(n));
const table = (head: string[], rows: string[][]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** A figure and its goal: `0.61 of 0.55`, with a mark when it is missed. */
function against(found: number, goal: number, most = false): string {
  const met = most ? found <= goal : found >= goal;
  return `${met ? '' : '**'}${ratio(found)}${met ? '' : '**'} (${most ? '≤' : '≥'} ${goal})`;
}

const PEERS: Peer[] = ['bare', 'sqlite', 'duckdb'];

function compared(row: QuestionRow, peer: Peer): string {
  const [ours, theirs] = [row.loads.service, row.loads[peer]];
  if (!ours || !theirs) return '';
  return ratio(ours.rps / theirs.rps);
}

/** Processor milliseconds of the service for each call, and their budget. */
function cpuOf({ id, loads }: QuestionRow): string {
  if (loads.service?.cpu === undefined) return '';
  const milliseconds = loads.service.cpu / 1000;
  const budget = BUDGETS[id];
  return budget === undefined ? ratio(milliseconds) : against(milliseconds, budget, true);
}

/** Processor time of a call as a multiple of a peer's. */
function cpuCompared({ loads }: QuestionRow, peer: Peer): string {
  const [ours, theirs] = [loads.service?.cpu, loads[peer]?.cpu];
  return ours && theirs ? ratio(ours / theirs) : '';
}

function agreed({ agreed }: QuestionRow): string {
  const told = Object.entries(agreed).map(([peer, { compared, equal, differs }]) =>
    equal === compared
      ? `${peer} ${equal} of ${compared}`
      : `${peer} ${equal} of ${compared}${differs ? `: ${differs}` : ''}`,
  );
  return told.join('; ');
}

function speeds(load: Load): string[] {
  return [count(load.rps), ms(load.p50), ms(load.p99)];
}

function questions({ dataset, records, rows }: Questions): string {
  const levels = [...new Set(rows.map(({ connections }) => connections))];
  const shown = levels.includes(16) ? 16 : (levels[0] ?? 16);
  const main = rows.filter(({ connections }) => connections === shown);
  const first = table(
    [
      'question',
      'requests/s',
      'p50 ms',
      'p99 ms',
      '× bare Hono, same body',
      '× Hono + SQLite',
      '× Hono + DuckDB',
      'CPU ms a call',
      '× bare Hono, CPU',
      '× SQLite, CPU',
      'same answers',
    ],
    main.map((row) => [
      row.name,
      ...speeds(row.loads.service!),
      ...PEERS.map((peer) => compared(row, peer)),
      cpuOf(row),
      cpuCompared(row, 'bare'),
      cpuCompared(row, 'sqlite'),
      agreed(row),
    ]),
  );
  const parts = [`\`${dataset}\`, ${count(records)} records, ${shown} connections:`, first];
  if (levels.length > 1) {
    const cells = (id: string) =>
      levels.flatMap((connections) => {
        const row = rows.find((questionRow) => questionRow.id === id && questionRow.connections === connections);
        return row
          ? [speeds(row.loads.service!).join(' / '), PEERS.map((peer) => compared(row, peer) || '–').join(' / ')]
          : ['', ''];
      });
    const head = levels.flatMap((n) => [`${n}: requests/s / p50 / p99`, `${n}: × bare / SQLite / DuckDB`]);
    parts.push(
      'By the number of connections:',
      table(
        ['question', ...head],
        main.map(({ id, name }) => [name, ...cells(id)]),
      ),
    );
  }
  return parts.join('\n\n');
}

function together({ connections, quiet, busy, statistics, delay, during = [] }: Together): string {
  return table(
    ['', 'gets/s', 'p50 ms', 'p99 ms', 'event-loop delay p50 / p99 / max ms'],
    [
      [`get, ${connections} connections, alone`, ...speeds(quiet), Object.values(delay.quiet).map(ms).join(' / ')],
      [
        `with 4 clients of statistics (${count(statistics.rps)}/s)`,
        ...speeds(busy),
        `${Object.values(delay.busy).map(ms).join(' / ')} (with 2 of time series; p99 ≤ 50)`,
      ],
      ['p99, busy over quiet', '', '', against(busy.p99 / quiet.p99, 4, true), ''],
      ...during.map(({ name, get }) => [`during ${name}`, ...speeds(get), '']),
    ],
  );
}

function growth({ small, large, rows }: Growth): string {
  return table(
    ['question', `requests/s at ${count(small)}`, `at ${count(large)} records`, 'ratio'],
    rows.map(({ name, loads, goal }) => [
      name,
      count(loads.small.rps),
      count(loads.large.rps),
      against(loads.small.rps / loads.large.rps, goal, true),
    ]),
  );
}

function start({ datasets, first, warm, rss, index }: Start): string {
  return table(
    ['', 'found', 'goal'],
    [
      [`first answer, ${datasets.join(', ')}`, `${(first / 1000).toFixed(2)} s`, '2 s'],
      ['everything loaded', `${(warm / 1000).toFixed(2)} s`, '5 s'],
      [
        'resident memory: warm / after a load of every question / most ever',
        `${rss.warm} / ${rss.loaded} / ${rss.peak} MB`,
        '600 MB',
      ],
      [
        `index of ${index.dataset}, ${count(index.records)} records: bytes a record without bodies / of bodies`,
        `${count(index.columns)} / ${count(index.bodies)}`,
        '461 without bodies',
      ],
    ],
  );
}

const nights = (all: Night[]) => all.map(night).join('\n\n');

function night({ dataset, records, seconds, peak, steps, pages, bare, unchanged, changed }: Night): string {
  const goals = table(
    ['', 'found', 'goal'],
    [
      [
        `night of ${dataset} from cached sources, ${count(records)} records`,
        `${seconds.toFixed(1)} s`,
        dataset === 'places' ? '60 s' : '',
      ],
      ['most memory at once', `${count(peak)} MB`, '2,000 MB'],
      ['Markdown pages a second, rendered and written', count(pages), '6,000'],
      ...(bare === undefined
        ? []
        : [['× a bare write of the same files', `${(seconds / bare).toFixed(1)} of ${bare.toFixed(1)} s`, '']]),
      ['a night without change', `${unchanged.toFixed(1)} s`, '8 s'],
      ...(changed === undefined
        ? []
        : [
            [
              `a night in which owners changed ${changed.records} records: files touched of ${count(changed.files)}`,
              `${count(changed.written + changed.deleted)} in ${changed.seconds.toFixed(1)} s`,
              '',
            ],
          ]),
    ],
  );
  return `${goals}\n\n${table(
    ['step', 'seconds', 'processor seconds'],
    steps.map(({ step, seconds, processor }) => [step, seconds.toFixed(1), processor?.toFixed(1) ?? '']),
  )}`;
}

function tokens({ dataset, searches, json, markdown, worst }: Tokens): string {
  return table(
    [`${searches} searches of 20 records, ${dataset}`, 'tokens', 'share of the JSON'],
    [
      ['JSON', count(json), ''],
      ['Markdown', count(markdown), `${against(markdown / json, 0.25, true)}; worst ${worst.toFixed(3)}`],
    ],
  );
}

function mcp({ dataset, connections, rows, list }: Mcp): string {
  const calls = table(
    [
      'question',
      'bytes',
      'REST: requests/s',
      'CPU µs each',
      'MCP: calls/s',
      'CPU µs each',
      'more, µs',
      'MCP over REST',
    ],
    rows.map(({ name, bytes, rest, mcp }) => [
      name,
      count(bytes),
      count(rest.rps),
      (1000 * rest.cpu).toFixed(0),
      count(mcp.rps),
      (1000 * mcp.cpu).toFixed(0),
      (1000 * (mcp.cpu - rest.cpu)).toFixed(0),
      against(mcp.cpu / rest.cpu, 1.5, true),
    ]),
  );
  const goals = table(
    ['`tools/list`', 'found', 'goal'],
    [
      [`bytes, ${list.tools} tools of ${list.datasets} datasets`, count(list.bytes), '60,000'],
      ['p50 of one client', `${ms(list.load.p50)} ms`, '20 ms'],
    ],
  );
  return `\`${dataset}\`, ${connections} connections:\n\n${calls}\n\n${goals}`;
}

function soak({ minutes, connections, workers = 1, loads, samples, after }: Soak): string {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const mean = (of: typeof samples, name: 'heap' | 'rss' | 'delay') =>
    of.reduce((sum, each) => sum + each[name], 0) / of.length;
  const rows = (['heap', 'rss', 'delay'] as const).map((name) => [
    { heap: 'heap, MB', rss: 'resident memory, MB', delay: 'event-loop delay p99, ms' }[name],
    ms(mean(samples.slice(0, third), name)),
    ms(mean(samples.slice(-third), name)),
    ms(Math.max(...samples.map((sample) => sample[name]))),
  ]);
  const rate = loads.reduce((sum, { rps }) => sum + rps, 0) / loads.length;
  const bad = loads.reduce((sum, each) => sum + each.bad, 0);
  const threads = workers === 1 ? '' : `, ${workers} threads`;
  const memory =
    `Every question mixed, with all operations, documents, MCP and A2A, ${minutes} minutes, ${connections} connections of questions${threads}: ` +
    `${count(rate)} questions/s, ${bad} failed calls:\n\n${table(['', 'first third', 'last third', 'most'], rows)}`;
  return after === undefined ? memory : `${memory}\n\nThen, in the same process:\n\n${questions(after)}`;
}

function stalls({ dataset, records, rows, skipped, texts, misspelt }: Stalls): string {
  const bounded = (value: number, bound: number) => (value <= bound ? ms(value) : `**${ms(value)}**`);
  const row = ({ name, rps, cpu, delay, first, runs, bad }: StallRow) => [
    name,
    rps === null ? '' : rps < 10 ? rps.toFixed(1) : count(rps),
    cpu === undefined || !Number.isFinite(cpu) ? '' : count(cpu),
    bounded(delay.p99, STALL_BOUNDS.p99),
    bounded(delay.max, STALL_BOUNDS.max),
    first === null ? '' : ms(first),
    rps === null ? '' : delay.p99 <= STALL_BOUNDS.p99 && delay.max <= STALL_BOUNDS.max ? 'yes' : '**no**',
    runs === 1 ? '' : String(runs),
    bad === 0 ? '' : count(bad),
  ];
  const bounds = `${STALL_BOUNDS.p99} / ${STALL_BOUNDS.max} ms`;
  const times = ['delay p99 ms', 'max ms', 'first call, max ms'];
  const head = ['operation', 'calls/s', 'CPU µs a call', ...times, bounds, 'runs', 'not 2xx'];
  const whole = table(
    ['llms-full.txt, generated, one client', 'MB', 'seconds', 'delay p99 ms', 'max ms'],
    texts.map(({ dataset, bytes, seconds, delay }) => [
      dataset,
      (bytes / 1e6).toFixed(1),
      seconds.toFixed(1),
      bounded(delay.p99, STALL_BOUNDS.p99),
      bounded(delay.max, STALL_BOUNDS.max),
    ]),
  );
  const parts = [
    ...[`\`${dataset}\`, ${count(records)} records:`, table(head, rows.map(row)), whole],
    ...(misspelt ? [misspeltTable(misspelt)] : []),
  ];
  return [...parts, ...(skipped.length > 0 ? [`Not measured: ${skipped.join(', ')}.`] : [])].join('\n\n');
}

/** Goals of misspelt searches in milliseconds: the longest turn, and /healthz beside them. */
const TURN = { longest: 50, median: 50, most: 100 };

function misspeltTable({ searches, turns, worst, healthz }: Misspelt): string {
  const bounded = (value: number, bound: number) => (value <= bound ? ms(value) : `**${ms(value)}**`);
  const rows = [
    ['longest turn of all, processor ms', bounded(turns.at(-1)!, TURN.longest), ms(TURN.longest)],
    ['median of the longest turn of each, processor ms', ms(turns[turns.length >> 1]!), ''],
    [`/healthz beside ${healthz.aSecond} a second, median ms`, bounded(healthz.p50, TURN.median), ms(TURN.median)],
    ['the same, longest ms', bounded(healthz.max, TURN.most), ms(TURN.most)],
  ];
  return `${table([`${searches} misspelt and combined searches`, '', 'goal'], rows)}\n\nLongest turn: \`${worst}\`.`;
}

/** Goals of two threads against one: most processor time for each call, and least requests a second of searches. */
const TWO = { cpu: 1.1, search: 1.4 };

function workers({ dataset, connections, rows }: Workers): string {
  const head = ['question', 'CPU µs a call, one thread', 'two', 'times', 'requests/s, one thread', 'two', 'times'];
  const cost = ({ cpu }: Load) => (cpu === undefined ? '' : count(cpu));
  const cells = rows.map(({ id, name, one, two, busier }) => [
    name,
    cost(one),
    cost(two),
    one.cpu && two.cpu ? against(two.cpu / one.cpu, TWO.cpu, true) : '',
    count(one.rps),
    count(two.rps),
    id.startsWith('search') ? against(two.rps / one.rps, TWO.search) : ratio(two.rps / one.rps),
    busier === null ? '' : `${Math.round(100 * busier)} %`,
  ]);
  return `\`${dataset}\`, ${connections} connections:\n\n${table([...head, 'share of the busier thread'], cells)}`;
}

/** Goal of gets next to clients of SQL, in milliseconds. */
const GET_GOAL = 25;

function sql({ dataset, clients, a_second, alone, loaded, statements, first }: SqlBench): string {
  const bounded = (value: number) => (value <= GET_GOAL ? ms(value) : `**${ms(value)}**`);
  const rows = [
    ['alone', ms(alone.p50), ms(alone.p99), '', count(alone.bad)],
    [`next to ${clients} clients of SQL`, ms(loaded.p50), bounded(loaded.p99), `${GET_GOAL}`, count(loaded.bad)],
  ];
  return `\`${dataset}\`, ${a_second} gets a second; ${count(statements)} statements meanwhile, the first, which makes the tables, after ${count(first)} ms:\n\n${table(['gets', 'p50, ms', 'p99, ms', 'goal', 'failed'], rows)}`;
}

const RENDER: { [P in PartName]: (data: BenchParts[P]) => string } = {
  questions,
  together,
  growth,
  start,
  night: nights,
  tokens,
  mcp,
  soak,
  sql,
  stalls,
  workers,
};

/** The method of a part that was not measured in alternating rounds. */
const METHOD: { [P in PartName]?: (data: BenchParts[P]) => string } = {
  stalls: ({ seconds }) => `${seconds} s a run at ${STALL_BOUNDS.connections} connections`,
};

/** Results of one part as Markdown, with its circumstances below. */
export function renderPart<P extends PartName>(
  part: P,
  { at, machine, load, seconds, rounds, data }: PartResult<BenchParts[P]>,
): string {
  const method = METHOD[part]?.(data) ?? `median of ${rounds} alternated rounds of ${seconds} s`;
  const circumstances = `${at.slice(0, 16).replace('T', ' ')} UTC; ${machine}; ${method}; load average before: ${load.toFixed(1)}`;
  return `${RENDER[part](data)}\n\n${circumstances}.`;
}

/** The document with the tables of all parts with results; text outside the marks is unchanged. */
export function fillIn(document: string, results: Results): string {
  return document.replace(
    /(<!-- bench: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, open: string, part: PartName, close: string) => {
      const result = results[part] as PartResult<never> | undefined;
      return `${open}${result ? renderPart(part, result) : 'Not measured yet.'}\n${close}`;
    },
  );
}
