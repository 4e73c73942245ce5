// Clients of /openapi.json by five generators, from the npm registry: they compile, and their calls are answered.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN, testApp } from '../support/app.ts';
import { served } from '../support/served.ts';

const ROOT = join(import.meta.dirname, '../..');
const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  devDependencies: Record<string, string>;
};

interface Generator {
  /** Packages with exact versions; those of this repository without. */
  packages: string[];
  /** Reads openapi.json and writes the client. */
  command: string[];
  /** The body of a program that gets a record with the key, searches with a filter, and gets no record. */
  program: string;
}

const GENERATORS: Record<string, Generator> = {
  'openapi-typescript': {
    packages: ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0'],
    command: ['openapi-typescript', 'openapi.json', '-o', 'openapi-typescript.ts'],
    program: `
import createClient from 'openapi-fetch';
import type { paths } from ${JSON.stringify('./openapi-typescript.ts')};
const client = createClient<paths>({ baseUrl, headers: { Authorization: authorization } });
const path = '/v1/tools/entities/{entity_id}';
const one = await client.GET(path, { params: { path: { entity_id: slug } } });
const drills = await client.GET('/v1/tools/entities', { params: { query: { kind: ['drill'], total: true } } });
const none = await client.GET(path, { params: { path: { entity_id: 'nobody' } } });
export const result = {
  slug: typeof one.data === 'object' ? one.data.slug : undefined,
  total: typeof drills.data === 'object' && 'total' in drills.data ? drills.data.total : undefined,
  error: none.error?.error,
};
`,
  },
  'hey-api': {
    packages: ['@hey-api/openapi-ts@0.99.0'],
    command: ['openapi-ts', '-i', 'openapi.json', '-o', 'hey-api-client'],
    program: `
import { client } from ${JSON.stringify('./hey-api-client/client.gen.ts')};
import { toolsGet, toolsSearch } from ${JSON.stringify('./hey-api-client/sdk.gen.ts')};
client.setConfig({ baseUrl, headers: { Authorization: authorization } });
const one = await toolsGet({ path: { entity_id: slug } });
const drills = await toolsSearch({ query: { kind: ['drill'], total: true } });
const none = await toolsGet({ path: { entity_id: 'nobody' } });
export const result = { slug: one.data?.slug, total: drills.data?.total, error: none.error?.error };
`,
  },
  'swagger-typescript-api': {
    packages: ['swagger-typescript-api'],
    command: ['swagger-typescript-api', 'generate', '-p', 'openapi.json', '-o', '.', '-n', 'swagger.ts'],
    program: `
import { Api, type ApiError, type HttpResponse } from ${JSON.stringify('./swagger.ts')};
const api = new Api({ baseUrl, baseApiParams: { headers: { Authorization: authorization } } });
const one = await api.v1.toolsGet(slug);
const drills = await api.v1.toolsSearch({ kind: ['drill'], total: true });
const none = await api.v1.toolsGet('nobody').catch((answer: HttpResponse<unknown, ApiError>) => answer);
export const result = { slug: one.data.slug, total: drills.data.total, error: none.error?.error };
`,
  },
  oazapfts: {
    packages: ['oazapfts', '@oazapfts/runtime'],
    command: ['oazapfts', 'openapi.json', 'oazapfts-client.ts'],
    program: `
import { defaults, toolsGet, toolsSearch } from ${JSON.stringify('./oazapfts-client.ts')};
defaults.baseUrl = baseUrl;
defaults.headers = { Authorization: authorization };
const one = await toolsGet(slug);
const drills = await toolsSearch({ kind: ['drill'], total: true });
const none = await toolsGet('nobody');
export const result = {
  slug: one.status === 200 ? one.data.slug : undefined,
  total: drills.status === 200 ? drills.data.total : undefined,
  error: none.status === 404 ? none.data.error : undefined,
};
`,
  },
  orval: {
    packages: ['orval@8.38.0'],
    command: ['orval', '--config', 'orval.config.mjs'],
    program: `
import { type ToolsEntitySearch, toolsGet, toolsSearch } from ${JSON.stringify('./orval-client.ts')};
const options = { headers: { Authorization: authorization } };
const one = await toolsGet(slug, undefined, options);
const drills = await toolsSearch({ kind: ['drill'], total: true }, options);
const none = await toolsGet('nobody', undefined, options);
export const result = {
  slug: one.status === 200 && typeof one.data === 'object' ? one.data.slug : undefined,
  // A search has lines as one of its formats: the client returns the stream of all.
  total: 'stream' in drills ? (JSON.parse(await drills.stream.text()) as ToolsEntitySearch).total : undefined,
  error: none.status === 404 ? none.data.error : undefined,
};
`,
  },
};

const folder = mkdtempSync(join(tmpdir(), 'generators-'));
const server = await served((base) => testApp({ base }));
const run = (program: string, args: string[]) =>
  promisify(execFile)(program, args, {
    cwd: folder,
    env: { ...process.env, PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) },
    maxBuffer: 2 ** 28,
  }).catch((failure: { stdout: string; stderr: string }) => {
    throw new Error(`${program} ${args.join(' ')}: ${failure.stdout}${failure.stderr}`);
  });

const CONFIG = {
  compilerOptions: {
    ...{ strict: true, target: 'esnext', module: 'nodenext', rewriteRelativeImportExtensions: true },
    ...{ lib: ['esnext', 'dom', 'dom.iterable'], types: [], outDir: 'made', rootDir: '.', skipLibCheck: true },
  },
};

beforeAll(async () => {
  const packages = Object.values(GENERATORS).flatMap((generator) => generator.packages);
  const document = await (await fetch(`${server.base}/openapi.json`)).text();
  writeFileSync(join(folder, 'openapi.json'), document);
  writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG));
  const output = { target: 'orval-client.ts', client: 'fetch', baseUrl: server.base };
  const orval = { client: { input: 'openapi.json', output } };
  writeFileSync(join(folder, 'orval.config.mjs'), `export default ${JSON.stringify(orval)};`);
  const exact = packages.map((name) => (devDependencies[name] ? `${name}@${devDependencies[name]}` : name));
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...exact]);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.close();
});

test.for(Object.entries(GENERATORS))('the client of %s compiles, and its calls are answered', async ([name, row]) => {
  const [program = '', ...args] = row.command;
  await run(join(folder, 'node_modules/.bin', program), args);
  const slug = server.app.records['tools']![0]!.slug;
  const values = { baseUrl: server.base, authorization: `Bearer ${ADMIN}`, slug };
  const constants = Object.entries(values).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`);
  writeFileSync(join(folder, `${name}.call.ts`), [...constants, row.program].join('\n'));
  const config = { extends: './tsconfig.json', files: [`${name}.call.ts`] };
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(config));
  await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', `${name}.json`]);
  const called = (await import(/* @vite-ignore */ pathToFileURL(join(folder, `made/${name}.call.js`)).href)) as {
    result: object;
  };
  const drills = await server.app.json('/v1/tools/entities?kind=drill&total=true', { admin: true });
  expect(drills.body['total']).toBeGreaterThan(0);
  expect(called.result).toEqual({ slug, total: drills.body['total'], error: 'unknown_entity' });
});
