// `node bench/size.ts 2000000` or `node bench/size.ts 100x10000`: one dataset of so many records of the fictional atlas, or
// so many datasets: the night with its static files, then the service over them. Prints rows of a table.
// `--folder`: keeps all files there, and goes on with those that are there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { atlasPack } from './atlas.ts';
import { privateMemory } from './memory.ts';
import { OPERATOR_HEADERS, startService } from './service.ts';

const GB = 2 ** 30;
const SEED = 20_261_121;
/** Calls of each kind, each with values of its own. */
const CALLS = 20;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { folder: { type: 'string' } } });
const [, first = '', each] = /^(\d+)(?:x(\d+))?$/.exec(positionals[0] ?? '') ?? [];
if (first === '') throw new Error('usage: node bench/size.ts <records> | <datasets>x<records>');
const [datasets, records] = each === undefined ? [1, Number(first)] : [Number(first), Number(each)];

const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'size-'));
const packs = join(folder, 'packs');
const env = { PACK_DIRS: packs, DATA_DIR: join(folder, 'data'), DIST_DIR: join(folder, 'dist') };
const row = (what: string, figure: string) => console.log(`| ${what} | ${figure} |`);
const gigabytes = (bytes: number) => `${(bytes / GB).toFixed(2)} GB`;

/** The packs: a dataset each, with a seed of its own. */
function writePacks(): void {
  for (let i = 0; i < datasets; i++) {
    const made = atlasPack(join(folder, 'made'), { seed: SEED + i, records });
    renameSync(made, join(packs, datasets === 1 ? 'atlas' : `atlas-${String(i + 1).padStart(3, '0')}`));
  }
}

/** The nightly run as a process: seconds, and the most private memory that it and its children held at once. */
async function night(): Promise<void> {
  const began = performance.now();
  const child = spawn(process.execPath, ['build/nightly.ts'], {
    env: { ...process.env, ...env, SOURCE_DATE_EPOCH: String(Date.parse('2026-11-20T00:00:00Z') / 1000) },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  let peak = 0;
  const sampler = setInterval(() => {
    peak = Math.max(peak, privateMemory(child.pid!));
  }, 200);
  const [code] = await once(child, 'close');
  clearInterval(sampler);
  row('night', `${((performance.now() - began) / 1000).toFixed(0)} s, ${gigabytes(peak)}, exit ${code}`);
  for (const part of ['data', 'dist']) row(`${part} after the night`, sizeOf(part));
  row('load of the machine at its end', loadavg()[0]!.toFixed(1));
}

interface Page {
  items: { slug: string; id: string }[];
}

/** Median and slowest milliseconds, and the bytes of the largest answer. */
async function measure(base: string, what: string, request: (i: number) => { path: string; init?: RequestInit }) {
  const times: number[] = [];
  let bytes = 0;
  for (let i = 0; i < CALLS; i++) {
    const { path, init = {} } = request(i);
    const began = performance.now();
    const answer = await fetch(base + path, { ...init, headers: { ...OPERATOR_HEADERS, ...init.headers } });
    const body = await answer.arrayBuffer();
    times.push(performance.now() - began);
    bytes = Math.max(bytes, body.byteLength);
    if (answer.status !== 200)
      throw new Error(`${path}: ${answer.status} ${Buffer.from(body).toString().slice(0, 300)}`);
  }
  times.sort((a, b) => a - b);
  const [median, slowest] = [times[CALLS / 2]!, times.at(-1)!];
  row(what, `${median.toFixed(1)} ms, at most ${slowest.toFixed(1)} ms, ${(bytes / 1000).toFixed(1)} kB`);
}

/** The service over all datasets. */
async function serve(): Promise<void> {
  const names = readdirSync(packs).sort();
  const scratch = mkdtempSync(join(tmpdir(), 'size-service-'));
  const subject = { dataDir: env.DATA_DIR, dataset: names[0]!, packDirs: packs };
  const service = await startService(subject, scratch, { dist: env.DIST_DIR });
  try {
    const { base } = service;
    row('start to the first answer', `${(service.started / 1000).toFixed(1)} s`);
    row('start until all is loaded', `${(service.warm / 1000).toFixed(1)} s`);
    row('memory after the start, resident with mapped files', `${service.memory()?.now} MB`);
    const at = (i: number) => names[(i * 37) % names.length]!;
    const listed = (await (
      await fetch(`${base}/v1/${names[0]}/entities?limit=100&fields=name`, { headers: OPERATOR_HEADERS })
    ).json()) as Page;
    const slugs = await Promise.all(
      Array.from({ length: CALLS }, async (_, i) => {
        const query = `min_population=${1 + i * 997}&limit=1&sort=-population`;
        const found = await fetch(`${base}/v1/${at(i)}/entities?${query}`, { headers: OPERATOR_HEADERS });
        return ((await found.json()) as Page).items[0]!.slug;
      }),
    );
    const word = (i: number) => encodeURIComponent(listed.items[i]!.slug.split('-')[0]!);
    await measure(base, 'get', (i) => ({ path: `/v1/${at(i)}/entities/${slugs[i]}` }));
    await measure(base, 'search by a word', (i) => ({ path: `/v1/${at(i)}/entities?q=${word(i)}&limit=10` }));
    await measure(base, 'search by two filters', (i) => ({
      path: `/v1/${at(i)}/entities?country=A${'ABCDEFGHIJKLMNOPQRST'[i]}&min_population=${100 + i}&limit=10`,
    }));
    await measure(base, 'search by distance', (i) => ({
      path: `/v1/${at(i)}/entities?near=${(i - 10) * 3.1},${i * 7.3},200&limit=10`,
    }));
    await measure(base, 'facets of all records', (i) => ({
      path: `/v1/${at(i)}/facets?by=country&min_quality=0.0${i + 1}`,
    }));
    await measure(base, 'statistics by country', (i) => ({
      path: `/v1/${at(i)}/stats?attribute=population&group_by=country&min_quality=0.0${i + 1}`,
    }));
    await measure(base, 'search as of 2025', (i) => ({
      path: `/v1/${at(i)}/entities?as_of=2025-0${1 + (i % 9)}-01&country=A${'ABCDEFGHIJKLMNOPQRST'[i]}&limit=10`,
    }));
    await measure(base, 'page of a dataset with a filter', (i) => ({
      path: `/datasets/${at(i)}/?country=A${'ABCDEFGHIJKLMNOPQRST'[i]}`,
      init: { headers: { Accept: 'text/html' } },
    }));
    await measure(base, 'page of a record', (i) => ({
      path: `/datasets/${at(i)}/${slugs[i]}`,
      init: { headers: { Accept: 'text/html' } },
    }));
    await measure(base, 'Markdown of a record', (i) => ({ path: `/datasets/${at(i)}/${slugs[i]}.md` }));
    await measure(base, '/v1/datasets', () => ({ path: '/v1/datasets' }));
    await measure(base, 'tools/list', (i) => ({
      path: '/mcp',
      init: {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: i, method: 'tools/list', params: {} }),
      },
    }));
    await measure(base, 'sitemap.xml', () => ({ path: '/sitemap.xml' }));
    await measure(base, 'a part of the sitemap', (i) => ({ path: `/sitemap/${at(i)}-1.xml` }));
    row(
      'memory at the end, resident with mapped files',
      `${service.memory()?.now} MB, at most ${service.memory()?.peak} MB`,
    );
  } finally {
    await service.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Files below a folder of the run, and their bytes. */
function sizeOf(name: string): string {
  const files = readdirSync(join(folder, name), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const bytes = files.reduce((sum, { parentPath, name: file }) => sum + statSync(join(parentPath, file)).size, 0);
  return `${files.length.toLocaleString('en-US')} files, ${gigabytes(bytes)}`;
}

if (!existsSync(packs)) {
  mkdirSync(packs, { recursive: true });
  writePacks();
  await night();
}
await serve();
if (values.folder === undefined) rmSync(folder, { recursive: true });
else console.log(`kept: ${folder}`);
