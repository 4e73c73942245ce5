// The programs of the API reference run as they are: with curl, the clients for TypeScript and Python, and MCP.
import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { OPERATIONS } from '../../api/operations/table.ts';
import type { SiteReference } from '../../api/pages/site.ts';
import { type OpenApi, siteReference } from '../../build/static/site-reference.ts';
import { openRelease } from '../../data/releases/release.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Language } from '../../site/lib/snippets.ts';
import { callOfCommand, fillRequest, modelOfReference, programOf } from '../../site/reference/model.ts';
import { testApp } from '../support/app.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { newKey } from '../support/money-on-stores.ts';
import { scratchOfAll } from '../support/night-pack.ts';
import { served } from '../support/served.ts';

const server = await served((base) => testApp({ base }));
const folder = scratchOfAll();
const now = new Date('2026-11-20T00:00:00Z');
const { dataDir, releases: ids } = server.app;
const releases = await Promise.all(
  Object.entries(ids).map(async ([id, release]) =>
    openRelease(dataDir, await loadPack(join(import.meta.dirname, '../packs', id)), release),
  ),
);
const document = (await (await fetch(`${server.base}/openapi.json`)).json()) as OpenApi;
const view = { releases, base_url: server.base, eur_usd: 1.1, operations: OPERATIONS, now };
const reference: SiteReference = await siteReference(view, document);
for (const release of releases) await release.engine.close();
const { key } = await newKey(server.app, 1);
afterAll(() => server.close());

/** A search, a paid record, a text, and a call with a body. */
const PROGRAMS = ['entity_search', 'entity_batch', 'dataset_guide', 'keys_topup'];
const ROOT = join(import.meta.dirname, '../..');
/** The client of this repository in place of the installed one. */
const CLIENT = join(ROOT, 'clients/typescript/index.ts');
const RUNS: Record<Exclude<Language, 'MCP'>, [file: string, command: string, check: string[]]> = {
  curl: ['program.sh', 'bash', ['curl', '--version']],
  TypeScript: ['program.mts', process.execPath, [process.execPath, '--version']],
  Python: ['program.py', 'python3', ['python3', '--version']],
};

test.for(Object.keys(RUNS) as (keyof typeof RUNS)[])(
  'programs in %s run and print the answer',
  async (language, context) => {
    const [file, command, [program = '', ...check]] = RUNS[language];
    if (spawnSync(program, check).status !== 0) return context.skip(`there is no ${[program, ...check].join(' ')}`);
    const dataset = reference.dataset!;
    const model = modelOfReference(reference, server.base, [{ id: dataset, prices: [] }]);
    for (const name of PROGRAMS) {
      const operation = model.operations[name]!;
      const request = operation.requests[dataset] ?? operation.requests['']!;
      const text = programOf(language, operation, fillRequest(request, dataset, reference.slugs), server.base);
      writeFileSync(join(folder, file), text.replace('dataset-register-client', CLIENT));
      const { stdout } = await promisify(execFile)(command, [join(folder, file)], {
        env: { ...CHILD_ENV, REGISTER_KEY: key, PYTHONPATH: join(ROOT, 'clients/python') },
      });
      expect(stdout, `${name}: ${text}`).toMatch(name === 'dataset_guide' ? /^# / : /slug|checkout_url/);
    }
  },
);

test('calls of tools are answered by MCP', async () => {
  const dataset = reference.dataset!;
  const model = modelOfReference(reference, server.base, [{ id: dataset, prices: [] }]);
  for (const name of ['entity_search', 'entity_batch', 'dataset_stats']) {
    const request = fillRequest(model.operations[name]!.requests[dataset]!, dataset, reference.slugs);
    const params = JSON.parse(programOf('MCP', model.operations[name]!, request, server.base)) as object;
    const response = await fetch(`${server.base}/mcp`, {
      method: 'POST',
      headers: {
        ...{ Authorization: `Bearer ${key}`, Accept: 'application/json, text/event-stream' },
        ...{ 'Content-Type': 'application/json', 'MCP-Protocol-Version': '2025-06-18' },
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    const answer = await response.text();
    expect(answer, name).toContain('"result"');
    expect(answer, name).not.toContain('"isError":true');
  }
});

test('commands of the guides are calls of operations, with the same request', () => {
  const base = 'http://localhost:8787';
  const commands = readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) => [...readFileSync(join(ROOT, 'docs', name), 'utf8').matchAll(/^```sh\n(curl [^`]*)```/gm)])
    .map(([, command = '']) => command.trim());
  const calls = commands.flatMap((command) => callOfCommand(command, reference.operations, base) ?? []);
  expect(calls.length).toBeGreaterThan(25);
  const search = callOfCommand(
    `curl -G "${base}/v1/airports/entities" -d country=CH -d limit=2`,
    reference.operations,
    base,
  );
  expect(search).toMatchObject({
    operation: 'entity_search',
    input: { dataset: 'airports', limit: 2 },
    filters: { country: 'CH' },
    keyed: false,
  });
  expect(
    callOfCommand(`curl -H "X-Max-Price-EUR: 1" ${base}/v1/airports/entities`, reference.operations, base),
  ).toBeNull();
  expect(callOfCommand(`curl ${base}/files/a/public.parquet`, reference.operations, base)).toBeNull();
  expect(callOfCommand(`curl "${base}/v1/airports/facets.md?by=type"`, reference.operations, base)).toMatchObject({
    operation: 'dataset_facets',
    format: 'md',
  });
});

test('every operation has an answer or is a text, and no answer names a real record', async () => {
  const names = Object.values(server.app.records).flatMap((records) => records.map((record) => record.name));
  for (const { name, answer, formats } of reference.operations) {
    expect(answer === null, name).toBe(!formats.includes('json'));
    for (const record of names) expect(answer?.json ?? '', name).not.toContain(`"${record}"`);
  }
});
