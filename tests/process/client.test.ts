// TypeScript clients from /openapi.json by third-party generators: they compile, and calls are answered.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { ADMIN, appOfAll, BASE } from '../support/app.ts';
import { scratchOfAll } from '../support/night-pack.ts';
import { compileClients, lintProblems } from '../support/openapi-programs.ts';

const app = await appOfAll({ nights: true, packs: ['app/static/lanterns/input/lanterns'] });
const folder = scratchOfAll();

/** Typical use of the client: the compiler checks the types of parameters and answers. */
const USE = `
import * as oazapfts from ${JSON.stringify('./oazapfts.ts')};
import { Api, type ToolsRecord } from ${JSON.stringify('./swagger.ts')};
export async function use(fetch: typeof globalThis.fetch, key: string, slug: string) {
  const api = new Api({ customFetch: fetch, baseApiParams: { headers: { Authorization: 'Bearer ' + key } } });
  const found = await api.v1.toolsSearch({ kind: ['drill'], 'max_price.list': 1000, fields: ['maker'], total: true });
  const first: ToolsRecord | undefined = found.data.items[0];
  const maker: string | undefined = first?.attributes.maker;
  const facets = await api.v1.toolsFacets({ by: ['kind'], limit: 3 });
  const counts: number[] = (facets.data.values ?? []).map(({ count }) => count);
  const stats = await api.v1.datasetStats('tools', { attribute: ['price.list'] });
  const median: number | undefined = stats.data.rows?.[0]?.median;
  const one = await api.v1.entityGet('tools', slug);
  // @ts-expect-error: no such filter
  const wrong = () => api.v1.toolsSearch({ colour: 'red' });
  // @ts-expect-error: a number is wanted
  const typed = () => api.v1.toolsSearch({ 'max_price.list': 'cheap' });
  return { total: found.data.total, maker, counts, median, slug: one.data.slug, unused: [wrong, typed, oazapfts.toolsSearch].length };
}
`;

test('has no problem for a linter with its strictest rules', async () => {
  expect(lintProblems((await app.json('/openapi.json')).body, folder)).toEqual([]);
});

test('compiles, and its calls are answered', async () => {
  const document = (await app.json('/openapi.json')).body;
  writeFileSync(join(folder, 'use.ts'), USE);
  await compileClients(document, folder);

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
