// `node bench/capacity.ts 60000x40 --memory 4`: a generated table goes through `pack from` and its first night within so
// many GB. Prints a row of a table. Shapes: `<rows>x<columns>`, `texts` and `lists`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { privateMemory } from './memory.ts';

const GB = 2 ** 30;
const WORDS = Array.from({ length: 20_000 }, (_, i) => `w${(i * 7919).toString(36)}`);
const word = (n: number) => WORDS[n % WORDS.length]!;
/** Cells of a wide table by the place of their column: identity, name, group, then six kinds in turn. */
const CELLS: ((row: number, column: number) => string)[] = [
  (row, column) => String((row * 31 + column * 17) % 9973),
  (row, column) => ((row * 13 + column) / 7).toFixed(2),
  (row, column) => `kind ${(row + column) % 12}`,
  (row, column) =>
    `2026-${String(1 + ((row + column) % 12)).padStart(2, '0')}-${String(1 + (row % 28)).padStart(2, '0')}`,
  (row, column) => `${word(row + column)} ${word(row * 3)} ${word(column * 5 + row)}`,
  (row, column) => ((row + column) % 3 === 0 ? '' : String((row + column) % 2 === 0)),
];

function* wideTable(rows: number, columns: number): Generator<string> {
  const names = Array.from({ length: columns - 3 }, (_, i) => `field_${i + 1}`);
  yield `id,name,town,${names.join(',')}\n`;
  for (let row = 0; row < rows; row++) {
    const cells = names.map((_, column) => CELLS[column % CELLS.length]!(row, column));
    yield `K${row},Kiosk ${row},Town ${row % 40},${cells.join(',')}\n`;
  }
}

function* longRecords(rows: number, member: (row: number) => object): Generator<string> {
  for (let row = 0; row < rows; row++)
    yield `${JSON.stringify({ id: `K${row}`, name: `Kiosk ${row}`, town: `Town ${row % 40}`, ...member(row) })}\n`;
}

/** 49,990 characters of words. */
const longText = (row: number) =>
  Array.from({ length: 12_000 }, (_, i) => word(row * 17 + i * i))
    .join(' ')
    .slice(0, 49_990);
const longList = (row: number) => Array.from({ length: 200 }, (_, i) => word(row * 7 + i * 11));

/** The file of a shape: its suffix and lines. Throws for an unknown shape. */
function tableOf(shape: string): { suffix: string; lines: Iterable<string> } {
  const [, rows, columns] = /^(\d+)x(\d+)$/.exec(shape) ?? [];
  if (columns !== undefined) return { suffix: 'csv', lines: wideTable(Number(rows), Number(columns)) };
  if (shape === 'texts') return { suffix: 'jsonl', lines: longRecords(2_000, (row) => ({ story: longText(row) })) };
  if (shape === 'lists') return { suffix: 'jsonl', lines: longRecords(100_000, (row) => ({ tags: longList(row) })) };
  throw new Error(`${shape}: expected <rows>x<columns>, texts or lists`);
}

/** Runs a program that takes its machine to have `limit` bytes of memory, and kills it when it uses more. */
async function bounded(args: string[], env: Record<string, string>, limit: number | null) {
  // What Node reads of the cgroup of a container, and the heap that V8 makes of it.
  const container = `--import=data:text/javascript,process.constrainedMemory=()=>${limit} --max-old-space-size=${Math.min(4096, (limit ?? 0) / 2 ** 21)}`;
  const options = limit === null ? {} : { NODE_OPTIONS: container };
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env, ...options },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [peak, last, text] = [0, '', ''];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk;
      last = String(chunk).trim().split('\n').at(-1)!;
    });
  const sampler = setInterval(() => {
    const bytes = privateMemory(child.pid!);
    peak = Math.max(peak, bytes);
    if (limit !== null && bytes > limit) child.kill('SIGKILL');
  }, 50);
  const [code, signal] = await once(child, 'close');
  clearInterval(sampler);
  const seconds = (performance.now() - began) / 1000;
  const warnings = text.split('\n').filter((line) => /memory|! /.test(line));
  return { seconds, peak, end: code === 0 ? 'fits' : `${signal ?? code}: ${last}`, warnings };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { memory: { type: 'string' }, keep: { type: 'boolean' } },
});
const limit = values.memory === undefined ? null : Number(values.memory) * GB;
const count = (n: number) => n.toLocaleString('en-US', { maximumFractionDigits: 1 });
for (const shape of positionals) {
  const folder = mkdtempSync(join(tmpdir(), 'capacity-'));
  const { suffix, lines } = tableOf(shape);
  const file = join(folder, `table.${suffix}`);
  await pipeline(Readable.from(lines), createWriteStream(file));
  const env = { PACK_DIRS: join(folder, 'packs'), DATA_DIR: join(folder, 'data'), DIST_DIR: join(folder, 'dist') };
  const legal = ['--license', 'CC0-1.0', '--attribution', 'Capacity', '--yes'];
  const from = await bounded(['build/cli/pack.ts', 'from', file, '--id', 'table', ...legal], env, limit);
  const night = await bounded(['build/nightly.ts', '--only', 'table'], env, limit);
  const parts = [from, night].map(({ seconds, peak, end }) => `${count(peak / GB)} GB, ${count(seconds)} s, ${end}`);
  const bound = values.memory === undefined ? 'none' : `${values.memory} GB`;
  console.log(
    `| ${shape} | ${count(statSync(file).size / 1e6)} MB | ${bound} | ${parts.join(' | ')} | ${loadavg()[0]!.toFixed(1)} |`,
  );
  for (const warning of [...from.warnings, ...night.warnings].slice(0, 12)) console.log(`  ${warning}`);
  if (values.keep) console.log(`  ${folder}`);
  else rmSync(folder, { recursive: true });
}
