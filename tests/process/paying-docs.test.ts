// The walk in docs/checkout.md is correct: its commands run in order and print what the page shows. docs/paying.md
// has the plans and kinds of movement of the program.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { SUBSCRIPTIONS } from '../../data/model/subscriptions.ts';
import { LEDGER_KINDS } from '../../data/state/money/ledger.ts';
import { ADMIN, appOfAll } from '../support/app.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { verifies } from '../support/verifies.ts';

verifies('auth.charged', 'auth.must-pay', 'charge.headers', 'charge.max-price', 'code.insufficient-credits');
verifies('plan.grant');

const ROOT = join(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'docs/checkout.md');
const CUSTOMERS = readFileSync(join(ROOT, 'docs/paying.md'), 'utf8');
const LOCAL = 'http://localhost:8787';

const app = await appOfAll({ calls: { free: 300, paid: 60 }, base: LOCAL });

/** The parts that differ between runs, as in the page. */
function steady(text: string): string {
  const seen = new Map<string, string>();
  const id = (uuid: string) => {
    if (!seen.has(uuid)) seen.set(uuid, `00000000-0000-4000-8000-${String(seen.size + 1).padStart(12, '0')}`);
    return seen.get(uuid) ?? '';
  };
  // Keys of calls that are made twice are part of the page's commands.
  const made = /(?<!--key )[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
  return text
    .replace(/dsr_[0-9A-Za-z]{43}/g, 'dsr_…')
    .replace(/sandbox_[\w-]{43}/g, 'sandbox_…')
    .replace(made, id);
}

/** Runs one curl command of the page against the app. */
async function curl(command: string, known: Record<string, string>): Promise<string> {
  // Closes and reopens single quotes, as a shell needs to insert a value.
  const filled = command.replace(/'?\$(\w+)'?/g, (whole, name: string) => known[name] ?? whole);
  const option = (name: string) =>
    [...filled.matchAll(new RegExp(` ${name} (?:"([^"]*)"|'([^']*)'|(\\S+))`, 'g'))].map(
      (m) => m[1] ?? m[2] ?? m[3] ?? '',
    );
  const url = /"(http:[^"]+)"/.exec(filled.replace(/ -[Hwd] ("[^"]*"|'[^']*')/g, ''))?.[1] ?? '';
  const headers = Object.fromEntries(option('-H').map((line) => line.split(': ', 2) as [string, string]));
  const [body] = option('-d');
  const [format] = option('-w');
  const init = { method: option('-X')[0] ?? 'GET', headers, ...(body === undefined ? {} : { body }) };
  const response = await app.ask(url.slice(LOCAL.length), init);
  if (format === undefined) return response.text();
  await response.body?.cancel();
  return format
    .replace('%{http_code}', String(response.status))
    .replace('%{redirect_url}', new URL(response.headers.get('location') ?? '', url).href)
    .replace(/%header\{([^}]+)\}/g, (_, name: string) => response.headers.get(name) ?? '')
    .replace('\\n', '\n');
}

test('the commands print what the page shows', async () => {
  const known: Record<string, string> = { BASE: LOCAL, ADMIN, ASK: `${LOCAL}/v1/tools/stats?attribute=price.list` };
  const page = readFileSync(PAGE, 'utf8');
  // The x402 part has its own test (tests/process/x402/walk.test.ts).
  const step = /^\$ ((?:curl|for|npm run --silent ledger)[^\n]*)\n(?:(?!\$ |```)[^\n]*\n)+/gm;
  let made = '';
  let at = 0;
  const printed: string[] = [];
  for (const match of page.matchAll(step)) {
    const [whole, command = ''] = match;
    let output = '';
    const loop = /^for i in \$\(seq (\d+)\); do (.*); done$/.exec(command);
    if (loop) for (let i = 0; i < Number(loop[1]); i++) output += await curl(loop[2] ?? '', known);
    else if (command.startsWith('npm'))
      output = (
        await promisify(execFile)(process.execPath, [join(ROOT, 'build/cli/ledger.ts'), 'verify'], {
          env: { ...CHILD_ENV, DATA_DIR: app.dataDir },
        })
      ).stdout.replaceAll(app.dataDir, '/srv/register/data');
    else output = await curl(command, known);
    if (known['KEY'] === undefined && output.includes('"key":')) {
      const { key, id } = JSON.parse(output) as { key: string; id: string };
      Object.assign(known, { KEY: key, ID: id });
    }
    if (output.includes('"checkout_url":'))
      known['PAY_URL'] = (JSON.parse(output) as { checkout_url: string }).checkout_url;
    printed.push(output);
    made += `${page.slice(at, match.index)}$ ${command}\n${output.trim()}\n`;
    at = match.index + whole.length;
  }
  made += page.slice(at);
  expect(printed).toHaveLength(17);
  expect(app.faults).toEqual([]);
  await expect(steady(made).replaceAll(ADMIN, '$ADMIN')).toMatchFileSnapshot(PAGE);
});

test('the plans are those of the program', () => {
  verifies('plan.one-file', 'plan.payg', 'plan.pro', 'plan.scale', 'plan.internal');
  const rows = [...CUSTOMERS.matchAll(/^\| `(\w+)` \| ([^|]*) \| (yes|no) \| ([^|]*)\|$/gm)];
  const told = rows.map(([, plan, calls, bulk, eur]) => [
    plan,
    Number(calls) || null,
    bulk === 'yes',
    Number(eur) || null,
  ]);
  const real = Object.entries(SUBSCRIPTIONS).map(([plan, each]) => [plan, each.calls, each.bulk, each.eur_per_month]);
  expect(told).toEqual(real);
});

test('the kinds of movement are those of the program', () => {
  const rows = [...CUSTOMERS.matchAll(/^\| `(\w+)` \| ([-+ or]+) \|/gm)];
  expect(rows.map(([, kind]) => kind)).toEqual(LEDGER_KINDS);
});
