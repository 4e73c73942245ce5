// `npm run bench` on a small generated dataset: all engines find the same answers, and it prints ratios.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { scratch } from '../support/night-pack.ts';
import { verifies } from '../support/verifies.ts';

const run = promisify(execFile);

/** Runs a part of the bench on a generated dataset, and returns what it prints. */
async function bench(...options: string[]): Promise<string> {
  const folder = scratch();
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, DATA_DIR: join(folder, 'none'), TMPDIR: folder };
  const { stdout } = await run(process.execPath, ['bench/run.ts', ...options, '--records', '2000', '--rounds', '1'], {
    env,
  });
  return stdout;
}

test('a query and its peers, as ratios', { timeout: 240_000 }, async () => {
  verifies('command.bench');
  const stdout = await bench('questions', '--only', 'get', '--only', 'stats-again');
  expect(stdout).toMatch(/^`atlas`, [\d,]+ records:$/m);
  // On a busy machine a round of a second may have no answer, and then there is no ratio to print.
  const row = (name: string, same: string) =>
    new RegExp(`^\\| ${name}[^|]* \\| 16 (\\| [^|]+ ){3}(\\| [^|]* ){6}\\| ${same} \\|$`, 'm');
  expect(stdout).toMatch(row('get by id or slug', 'sqlite 40 of 40; duckdb 40 of 40'));
  expect(stdout).toMatch(row('statistics by group, repeated', 'sqlite 1 of 1; duckdb 1 of 1'));
});

test('processor time of a call beside bare Hono and SQLite', { timeout: 240_000 }, async () => {
  const stdout = await bench('cpu', '--only', 'get', '--only', 'mcp');
  const time = '[\\d.]+ us';
  expect(stdout).toMatch(new RegExp(`^get +atlas +\\d+ +${time} +${time} +[\\d.]+ +${time} +[\\d.]+$`, 'm'));
  expect(stdout).toMatch(new RegExp(`^get over MCP +atlas +\\d+ +${time} +${time} +[\\d.]+$`, 'm'));
});
