// docs/authentication.md is correct: a shell runs its commands in order, and they print what the page shows.
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { newKey } from '../../support/money-on-stores.ts';
import { allow } from '../../support/oauth-person.ts';
import { listen } from '../../support/oauth-server.ts';

const PAGE = join(import.meta.dirname, '../../../docs/authentication.md');
const LOCAL = 'http://localhost:8787';

/** The parts that differ between runs, as in the page. */
function steady(text: string, base: string): string {
  const seen = new Map<string, string>();
  const id = (uuid: string) => {
    if (!seen.has(uuid)) seen.set(uuid, `00000000-0000-4000-8000-${String(seen.size + 1).padStart(12, '0')}`);
    return seen.get(uuid) ?? '';
  };
  return text
    .replaceAll(base, LOCAL)
    .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJ…')
    .replace(/("refresh_token":")[\w-]+/g, '$1…')
    .replace(/("client_id(?:_issued_at)?":)("?)[\w-]+/g, '$1$2…')
    .replace(/("dataset_version":")[0-9a-f]+/g, '$1…')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, id);
}

test('the commands print what the page shows', async (context) => {
  for (const program of ['bash', 'curl', 'openssl'])
    if (spawnSync(program, ['--version']).error) return context.skip(`there is no ${program}`);
  const { base, app, close } = await listen();
  context.onTestFinished(close);
  const { key } = await newKey(app, 1);
  const known = [`BASE=${base}`, `KEY=${key}`];
  const page = readFileSync(PAGE, 'utf8');
  let last = '';
  let made = '';
  let at = 0;
  for (const step of page.matchAll(/^\$ ([^\n]*)\n((?:(?!\$ |```)[^\n]*\n)*)/gm)) {
    const [whole, line = '', output = ''] = step;
    const [, name, field] = /^(\w+)=…(?: +# its "(\w+)")?$/.exec(line) ?? [];
    const isVariable = /^[A-Z]+=/.test(line);
    if (name === 'CODE') known.push(`CODE=${(await allow(base, last.trim(), key, '0.50')).searchParams.get('code')}`);
    else if (name !== undefined) known.push(`${name}=${(JSON.parse(last) as Record<string, string>)[field ?? '']}`);
    else if (isVariable && !/^(BASE|KEY)=/.test(line)) known.push(line);
    else if (!isVariable) last = (await promisify(execFile)('bash', ['-c', [...known, line].join('\n')])).stdout;
    expect(known.at(-1)).not.toContain('undefined');
    made += `${page.slice(at, step.index)}$ ${line}\n${output === '' ? '' : `${last.trim()}\n`}`;
    at = step.index + whole.length;
  }
  made += page.slice(at);
  expect(app.faults).toEqual([]);
  await expect(steady(made, base)).toMatchFileSnapshot(PAGE);
});
