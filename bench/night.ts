// How long a whole night takes on the fictional packs, beside a bare write of the very same files.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Runs a cold and an unchanged night in child processes, then writes the same bytes with nothing but writeFileSync. */
export async function benchNight(scratch: string): Promise<void> {
  const data = join(scratch, 'night-data');
  const dist = join(scratch, 'night-dist');
  const env = { ...process.env, DATA_DIR: data, DIST_DIR: dist, PACK_DIRS: './tests/packs' };
  const night = () => {
    const began = performance.now();
    const run = spawnSync(process.execPath, ['build/nightly.ts'], { env, encoding: 'utf8' });
    if (run.status !== 0) throw new Error(`the night failed: ${run.stderr}`);
    return performance.now() - began;
  };
  const cold = night();
  const unchanged = night();
  const files = [...walk(data), ...walk(dist)].map((path) => ({ path, bytes: readFileSync(path) }));
  const began = performance.now();
  for (const { path, bytes } of files) {
    const copy = join(scratch, 'copy', path.slice(scratch.length));
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, bytes);
  }
  const written = performance.now() - began;
  console.log('\nnight of the fictional packs | seconds | × a bare write of the same files');
  console.log(
    `cold | ${(cold / 1000).toFixed(2)} | ${(cold / written).toFixed(1)} of ${(written / 1000).toFixed(2)} s, ${files.length} files`,
  );
  console.log(`unchanged | ${(unchanged / 1000).toFixed(2)} | ${(unchanged / cold).toFixed(2)} of the cold night`);
}

function* walk(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* walk(path);
    else yield path;
  }
}
