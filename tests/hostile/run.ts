// `npm run hostile -- --calls 100000 [--data <DATA_DIR>] [--seed 1] [--minutes 25]`: attacks a service with
// hostile calls and prints a table.
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { type AttackResult, attack, growth, TURN } from './attack.ts';
import { hostileData } from './data.ts';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '2000' },
    data: { type: 'string' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '25' },
  },
});
const print = (line: string) => void process.stdout.write(`${line}\n`);
const whole = (n: number) => Math.round(n).toLocaleString('en-US');

function table({ classes }: AttackResult): string[] {
  const kinds = ['2xx', '3xx', '4xx', '503', '5xx', 'none'];
  const sum = (kind: string) => Object.values(classes).reduce((total, row) => total + (row[kind] ?? 0), 0);
  const line = (name: string, of: (kind: string) => number) =>
    `| ${name} | ${kinds.map((kind) => whole(of(kind))).join(' | ')} |`;
  return [
    '| channel | 2xx | 3xx | 4xx | 503 | other 5xx | no answer |',
    '|---|---|---|---|---|---|---|',
    ...Object.entries(classes).map(([channel, row]) => line(channel, (kind) => row[kind] ?? 0)),
    line('all', sum),
  ];
}

/** The report as Markdown. */
function section(result: AttackResult, title: string, load: number): string {
  const { rss, heap } = growth(result);
  const most = result.turns[0]?.ms;
  return [
    '## Hostile calls',
    '',
    `\`npm run hostile -- --calls ${values.calls} --seed ${values.seed}\` on ${title}, ${new Date().toISOString().slice(0, 10)}: ${whole(result.calls)} calls in`,
    `${whole(result.seconds)} s, 16 at a time, on 2 processors with other work (load ${load.toFixed(1)}).`,
    '',
    ...table(result),
    '',
    `- Errors of the server other than 503: ${result.failures.length}.`,
    `- Leaks: ${result.leaks.length}. ${whole(result.values)} paid values were searched in ${whole(result.searched)} free answers; answers that were paid for had ${whole(result.paidFor)}.`,
    `- Memory after warming and at the end: ${whole(rss[0])} and ${whole(rss[1])} MB resident, ${whole(heap[0])} and ${whole(heap[1])} MB of heap after collections.`,
    `- Turns of the event loop with more than ${TURN} ms of processor time: ${result.turns.length}${most === undefined ? '' : ` (the longest ${whole(most)} ms)`}; calls that exceed it when they are repeated alone: ${result.slow.length}.`,
    `- Files written by statements or paths: ${result.written.length}.`,
    '',
    'No answer: raw requests without an end, and statements of SQL that were ended by the caller after 12 s.',
    ...(result.silent.length === 0 ? [] : [`Others without an answer: ${result.silent.length}.`]),
    '503 of SQL: its one process was busy. A turn is measured between two timers and may be several short ones.',
  ].join('\n');
}

const data = await hostileData(values.data);
try {
  const result = await attack({
    ...data,
    calls: Number(values.calls),
    seed: Number(values.seed),
    minutes: Math.min(25, Number(values.minutes)),
    note: print,
  });
  const text = section(result, data.title, loadavg()[1] ?? 0);
  print(text);
  const lists = {
    failures: result.failures,
    leaks: result.leaks,
    silent: result.silent,
    slow: result.slow.map(({ ms, call }) => `${ms} ms: ${call}`),
  };
  for (const [name, list] of Object.entries(lists)) {
    if (list.length > 0) print(`\n${name} (${list.length}):`);
    for (const line of list.slice(0, 40)) print(`  ${line}`);
  }
  print(`statuses: ${JSON.stringify(result.statuses)}`);
  print(
    `turns: ${result.turns
      .slice(0, 20)
      .map(({ ms }) => ms)
      .join(', ')}`,
  );
  print(`memory: ${result.samples.map(({ rss, heap }) => `${rss}/${heap}`).join(' ')}`);
  process.exitCode = result.failures.length + result.leaks.length + result.written.length > 0 ? 1 : 0;
} finally {
  data.remove();
}
