// The section "Pay by x402 on a local chain" of docs/checkout.md is correct: its commands run in order and print what the page
// shows.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { noChain } from '../../chain/chain.ts';
import { CHILD_ENV } from '../../support/child-env.ts';
import { type Api, smallData, startApi } from '../../support/money-processes.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = join(ROOT, 'docs/checkout.md');
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Starts `npm run chain` and waits for its settings. */
async function chain(): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, [join(ROOT, 'tests/chain/serve.ts'), '--free']);
  const gone = new Promise((resolve) => child.once('exit', resolve));
  cleanups.push(() => child.kill('SIGTERM') && gone);
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the chain ended with ${code}: ${printed}`)));
    child.stderr?.on('data', (piece) => (printed += String(piece)));
    child.stdout?.on('data', (piece) => {
      printed += String(piece);
      if (/X402_RPC_URL=.*\n/.test(printed)) resolve();
    });
  });
  return printed;
}

test('it prints what the page shows', async (context) => {
  const why = noChain();
  if (why !== null) return context.skip(why);
  const page = readFileSync(PAGE, 'utf8');
  let env: Record<string, string> = {};
  let api: Api | undefined;
  const run = async (command: string): Promise<string> => {
    if (command === 'npm run --silent chain') {
      const printed = await chain();
      env = Object.fromEntries([...printed.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
      const { dataDir, remove } = await smallData();
      cleanups.push(remove);
      api = await startApi(dataDir, env);
      cleanups.push(() => api?.kill('SIGTERM'));
      return printed;
    }
    const args = command
      .replace('npm run --silent buy -- ', '')
      .replace('"$ASK"', `${api?.base}/v1/tools/stats?attribute=price.list`);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(ROOT, 'tests/chain/buy.ts'), ...args.split(' ')],
      {
        env: { ...CHILD_ENV, ...env },
      },
    );
    return stdout;
  };
  /** The parts that differ between runs, as in the page. */
  const steady = (text: string) =>
    text
      .replaceAll(api?.base ?? '', 'http://localhost:8787')
      .replaceAll(env['X402_FACILITATOR_URL'] ?? '', 'http://127.0.0.1:8546')
      .replaceAll(env['X402_RPC_URL'] ?? '', 'http://127.0.0.1:8545')
      .replace(/0x[0-9a-f]{64}/g, '0x…');
  const step = /^\$ (npm run --silent (?:chain|buy)[^\n]*)\n(?:(?!\$ |```)[^\n]*\n)+/gm;
  let made = '';
  let at = 0;
  let steps = 0;
  for (const match of page.matchAll(step)) {
    const printed = steady(await run(match[1] ?? ''));
    made += `${page.slice(at, match.index)}$ ${match[1]}\n${printed.trim()}\n`;
    at = match.index + match[0].length;
    steps += 1;
  }
  expect(steps).toBe(3);
  await expect(made + page.slice(at)).toMatchFileSnapshot(PAGE);
}, 180_000);
