// Writes the hand-written inputs as unpacked packages for the collector.
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { CollectContext, Reading } from '../../define/model.ts';

async function index(version: string): Promise<string> {
  const file = join(import.meta.dirname, `airport-data-js-${version}`);
  if (version !== '4.0.0') return readFile(`${file}.js.txt`, 'utf8');
  const rows = gzipSync(await readFile(`${file}.rows.json`)).toString('base64');
  return `(()=>{var e={38(e){e.exports=JSON.parse('{"gzip":"${rows}"}')}};module.exports=e})();`;
}

/** Temporary folders of the fixture versions, with a reading and its context. `logged` collects log lines. */
export async function readings() {
  const root = await mkdtemp(join(tmpdir(), 'airports-'));
  const logged: string[] = [];
  for (const version of ['1.0.6', '2.0.0', '3.0.1', '4.0.0']) {
    await mkdir(join(root, version, 'lib'), { recursive: true });
    await writeFile(join(root, version, 'lib', 'index.js'), await index(version));
  }
  const context: CollectContext = {
    folder: async (_, version) => join(root, version),
    log: (message) => void logged.push(message),
  };
  const reading = (version: string): Reading => ({
    source: 'airport-data-js',
    package: 'airport-data-js',
    version,
    observed_at: '2026-09-16T00:00:00Z',
    date_source: 'pin',
    folder: join(root, version),
  });
  return { context, reading, logged, root };
}
