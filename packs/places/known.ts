// The places known before a reading, from the dumps with ids and the extracts that came earlier: they lend later rows their identity.
import { readDump, type Town } from './dump.ts';
import { type Row, readExtract } from './extract.ts';
import { placeId } from './identity.ts';
import { type Match, match, type Spot } from './match.ts';
import { readPacked } from './packed.ts';
import { DUMP, DUMPS, EXTRACT, EXTRACTS, PACKED } from './pins.ts';

/** A place under its identity, where it was last seen. */
export interface Known extends Spot {
  placeId: string;
  /** Whether a dump gave it an id. */
  geonames: boolean;
}

type Folder = (name: string, version: string) => Promise<string>;

const versionOf = (name: string): string => DUMPS.find((pin) => pin.package === name)?.version ?? '';

function spot({ name, country, admin1, lat, lng }: Spot): Spot {
  return { name, country, admin1, lat, lng };
}

type Numbered = Spot & { id: number };

/** Places of a dump, without what joining does not need. */
async function* numbered(towns: AsyncIterable<Town>): AsyncGenerator<Numbered> {
  for await (const town of towns) yield { id: town.id, ...spot(town) };
}

interface Dumps {
  newer: Numbered[];
  /** Places of the older dump that the newer one does not have, under any id. */
  only: Numbered[];
  /**
   * Ids of the older dump under which the newer one has nothing, with the new id of the same place: GeoNames merges
   * duplicates, and a merged place must not stand twice.
   */
  renumbered: Map<number, number>;
}

async function readDumps(folder: Folder): Promise<Dumps> {
  const newer = await Array.fromAsync(numbered(readDump(await folder(DUMP, versionOf(DUMP)))));
  const added = new Map(newer.map((town) => [town.id, town]));
  const gone: Numbered[] = [];
  for await (const town of numbered(readPacked(await folder(PACKED, versionOf(PACKED))))) {
    if (!added.delete(town.id)) gone.push(town);
  }
  const fresh = [...added.values()];
  const matches = match(fresh, gone);
  const renumbered = new Map<number, number>();
  for (const [i, found] of matches.entries()) if (found) renumbered.set(gone[i]!.id, fresh[found.known]!.id);
  return { newer, only: gone.filter((_, i) => matches[i] === null), renumbered };
}

/** The ids by which the places of the older dump are known now, where they changed. */
export async function renumbered(folder: Folder): Promise<Map<number, number>> {
  return (await readDumps(folder)).renumbered;
}

async function knownFromDumps(folder: Folder): Promise<Known[]> {
  const { newer, only } = await readDumps(folder);
  return [...newer, ...only].map((town) => ({ ...spot(town), placeId: String(town.id), geonames: true }));
}

/** A row of an extract under its identity. `by` is null for a place not known before. */
export interface Placed {
  row: Row;
  placeId: string;
  by: Match['by'] | null;
}

/**
 * Gives every row its identity and `known` its newest positions; new places are added to it. Two new rows that would share
 * an identity are the same place, of which the first stays.
 */
export function place(known: Known[], rows: Row[]): Placed[] {
  const taken = new Set(known.filter((each) => !each.geonames).map((each) => each.placeId));
  const placed: Placed[] = [];
  for (const [i, found] of match(known, rows).entries()) {
    const row = rows[i]!;
    if (found) {
      const same = known[found.known]!;
      Object.assign(same, spot(row));
      placed.push({ row, placeId: same.placeId, by: found.by });
      continue;
    }
    const id = placeId(row);
    if (taken.has(id)) continue;
    taken.add(id);
    known.push({ ...spot(row), placeId: id, geonames: false });
    placed.push({ row, placeId: id, by: null });
  }
  return placed;
}

function before(a: string, b: string): boolean {
  return a.localeCompare(b, 'en', { numeric: true }) < 0;
}

/** Everything known before a version of the extract: both dumps and the pinned extracts that came earlier. */
export async function knownBefore(version: string, folder: Folder): Promise<Known[]> {
  const known = await knownFromDumps(folder);
  for (const pin of EXTRACTS.filter((each) => before(each.version, version))) {
    place(known, await readExtract(await folder(EXTRACT, pin.version)));
  }
  return known;
}
