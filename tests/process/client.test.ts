// A TypeScript client from /openapi.json by a third-party generator: it compiles, and its calls are answered.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { generateApi } from 'swagger-typescript-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN, BASE, type TestApp, testApp } from '../support/app.ts';

let app: TestApp;
let folder: string;
beforeAll(async () => {
  app = await testApp({ nights: true });
  folder = mkdtempSync(join(tmpdir(), 'client-'));
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Typical use of the client: the compiler checks the types of parameters and answers. */
const USE = `
import { Api, type ToolsRecord } from ${JSON.stringify('./client.ts')};
export async function use(fetch: typeof globalThis.fetch, key: string, slug: string) {
  const api = new Api({ customFetch: fetch, baseApiParams: { headers: { Authorization: 'Bearer ' + key } } });
  const found = await api.v1.toolsSearch({ kind: ['drill'], 'max_price.list': 1000, fields: ['maker'], total: true });
  const first: ToolsRecord | undefined = found.data.items[0];
  const maker: string | undefined = first?.attributes.maker;
  const facets = await api.v1.toolsFacets({ by: 'kind', limit: 3 });
  const counts: number[] = facets.data.values.map(({ count }) => count);
  const stats = await api.v1.datasetStats('tools', { attribute: 'price.list' });
  const median: number | undefined = stats.data.rows[0]?.median;
  const one = await api.v1.entityGet('tools', slug);
  // @ts-expect-error: no such filter
  const wrong = () => api.v1.toolsSearch({ colour: 'red' });
  // @ts-expect-error: a number is wanted
  const typed = () => api.v1.toolsSearch({ 'max_price.list': 'cheap' });
  return { total: found.data.total, maker, counts, median, slug: one.data.slug, unused: [wrong, typed].length };
}
`;

test('compiles, and its calls are answered', async () => {
  const document = (await app.json('/openapi.json')).body;
  const { files } = await generateApi({ spec: document as never, output: false, silent: true });
  writeFileSync(join(folder, 'client.ts'), files.map(({ fileContent }) => fileContent).join('\n'));
  writeFileSync(join(folder, 'use.ts'), USE);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const options = { strict: true, target: 'esnext', module: 'nodenext', rewriteRelativeImportExtensions: true };
  const compilerOptions = {
    ...options,
    lib: ['esnext', 'dom', 'dom.iterable'],
    types: [],
    outDir: 'made',
    skipLibCheck: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(
    dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    join(folder, 'node_modules/typescript'),
  );
  const compiler = join(folder, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', folder], {
    encoding: 'utf8',
    stdio: ['ignore', 'inherit', 'inherit'],
  });

  const { use } = (await import(/* @vite-ignore */ pathToFileURL(join(folder, 'made/use.js')).href)) as {
    use(fetch: unknown, key: string, slug: string): Promise<Record<string, unknown>>;
  };
  const fetched: string[] = [];
  const fetch = (url: string, init: RequestInit) => {
    fetched.push(url);
    return app.ask(url.replace(BASE, ''), init);
  };
  const slug = app.records['tools']![0]!.slug;
  const used = await use(fetch, ADMIN, slug);
  const drills = (await app.json('/v1/tools/entities?kind=drill&max_price.list=1000&total=true', { admin: true })).body;
  expect(used).toMatchObject({ total: drills['total'], slug });
  expect((used['counts'] as number[]).length).toBe(3);
  expect(used['median']).toBeGreaterThan(0);
  expect(fetched[0]).toMatch(`${BASE}/v1/tools/entities?kind=drill&`);
});
