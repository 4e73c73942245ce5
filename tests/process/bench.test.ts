// `npm run bench` on a small generated dataset: all engines find the same answers, and it prints ratios.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { scratch } from '../support/night-pack.ts';
import { verifies } from '../support/verifies.ts';

const run = promisify(execFile);

test('a query and its baselines, as ratios', { timeout: 240_000 }, async () => {
  verifies('command.bench');
  const folder = scratch();
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, DATA_DIR: join(folder, 'none'), TMPDIR: folder };
  const asked = ['questions', '--records', '2000', '--rounds', '1', '--only', 'get', '--only', 'stats-again'];
  const { stdout } = await run(process.execPath, ['bench/run.ts', ...asked], { env });
  expect(stdout).toMatch(/^`atlas`, [\d,]+ records, 16 connections:$/m);
  // On a busy machine a round of a second may have no answer, and then there is no ratio to print.
  const number = '[^|]+';
  const row = (name: string, same: string) =>
    new RegExp(`^\\| ${name}[^|]* ${'\\| [^|]+ '.repeat(3)}(\\| ${number} ){6}\\| ${same} \\|$`, 'm');
  expect(stdout).toMatch(row('get by id or slug', 'sqlite 40 of 40; duckdb 40 of 40'));
  expect(stdout).toMatch(row('statistics by group, repeated', 'sqlite 1 of 1; duckdb 1 of 1'));
});
