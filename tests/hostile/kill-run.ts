// `npm run hostile:kills -- --kills 100 [--seed 1] [--minutes 25] [--kind ledger]`: kills processes at random moments of
// their work and prints a table.
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { KINDS, type KillResult, killAll } from './kills.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '25' },
    kind: { type: 'string', multiple: true },
  },
});
const print = (line: string) => void process.stdout.write(`${line}\n`);

/** What is checked after the same work ran again, by kind. */
const CHECKS: Record<string, string> = {
  'nightly run': 'every file of facts and release is that of an undisturbed run',
  'release switch': 'the pointer names a complete release, the old or the new one; the next run makes the new one',
  ledger: 'every answered call is charged once; the ledger adds up',
  claim: "the owner's last confirmed edit is in the record",
  mail: 'every confirmed mail was sent or waits in the store; none that was not requested',
  publishing: 'the target has every file of an undisturbed run',
  payment: 'the same x402 payment with its Idempotency-Key, sent again, is answered and paid once',
  webhook: 'the change arrives, under one id',
};

function section(results: readonly KillResult[], load: number): string {
  const sum = (of: (result: KillResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const row = ({ kind, killed, attempts, problems }: KillResult) =>
    `| ${kind} | ${killed} of ${attempts} | ${CHECKS[kind]} | ${problems.length} |`;
  return [
    '## Kills',
    '',
    `\`npm run hostile:kills -- --kills ${values.kills} --seed ${values.seed}\` on the fictional packs, ${new Date().toISOString().slice(0, 10)}, in ${Math.round((performance.now() - began) / 1000)} s`,
    `(load ${load.toFixed(1)} on 2 processors): SIGKILL at a random moment of the work, then the work runs again. Attempts without`,
    'a kill had ended before their moment.',
    '',
    '| work | killed | afterwards | lost, invented or damaged |',
    '|---|---|---|---|',
    ...results.map(row),
    `| all | ${sum(({ killed }) => killed)} of ${sum(({ attempts }) => attempts)} | | ${sum(({ problems }) => problems.length)} |`,
  ].join('\n');
}

const began = performance.now();
const kinds = values.kind ?? KINDS;
const results = await killAll(
  {
    times: Math.ceil(Number(values.kills) / kinds.length),
    minutes: Math.min(25, Number(values.minutes)),
    seed: Number(values.seed),
    kinds,
  },
  print,
);
const text = section(results, loadavg()[1] ?? 0);
print(text);
process.exitCode = results.some(({ problems }) => problems.length > 0) ? 1 : 0;
