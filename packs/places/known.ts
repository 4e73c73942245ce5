// Places known before a reading, from the dumps with ids and earlier extracts: later rows get their identity
// from them.
import { readDump, type Town } from './dump.ts';
import { type PlaceRow, readExtract } from './extract.ts';
import { placeId } from './identity.ts';
import { type Match, match, type Spot } from './match.ts';
import { readPacked } from './packed.ts';
import { DUMP, DUMPS, EXTRACT, EXTRACTS, PACKED } from './pins.ts';

/** A place with its identity at its last position. */
export interface KnownPlace extends Spot {
  placeId: string;
  /** Whether its id is from a dump. */
  geonames: boolean;
}

type Folder = (name: string, version: string) => Promise<string>;

const versionOf = (name: string): string => DUMPS.find((pin) => pin.package === name)?.version ?? '';

function spot({ name, country, admin1, lat, lng }: Spot): Spot {
  return { name, country, admin1, lat, lng };
}

type Numbered = Spot & { id: number };

/** A place of a dump with the fields needed for matching. */
function numbered({ id, name, country, admin1, lat, lng }: Town): Numbered {
  return { id, name, country, admin1, lat, lng };
}

interface Dumps {
  newer: Numbered[];
  /** Places of the older dump that the newer one lacks under any id. */
  only: Numbered[];
  /**
   * Ids of the older dump that the newer one lacks, with the new id of the same place: GeoNames merges
   * duplicates, and a merged place must not be listed twice.
   */
  renumbered: Map<number, number>;
}

async function readDumps(folder: Folder): Promise<Dumps> {
  const newer = Array.from(await readDump(await folder(DUMP, versionOf(DUMP))), numbered);
  const added = new Map(newer.map((town) => [town.id, town]));
  const gone: Numbered[] = [];
  for (const town of await readPacked(await folder(PACKED, versionOf(PACKED)))) {
    if (!added.delete(town.id)) gone.push(numbered(town));
  }
  const fresh = [...added.values()];
  const matches = match(fresh, gone);
  const renumbered = new Map<number, number>();
  for (const [i, hit] of matches.entries()) if (hit) renumbered.set(gone[i]!.id, fresh[hit.index]!.id);
  return { newer, only: gone.filter((_, i) => matches[i] === null), renumbered };
}

/**
 * Cached results of the last call: a night reads the sources in order, and each reading needs the places of
 * the one before it.
 */
const latest: { dumps: { key: string; read: Dumps } | null; places: { key: string; list: KnownPlace[] } | null } = {
  dumps: null,
  places: null,
};

const sourcesOf = async (folder: Folder) =>
  `${await folder(DUMP, versionOf(DUMP))}\n${await folder(PACKED, versionOf(PACKED))}`;

async function dumpsOf(folder: Folder): Promise<Dumps> {
  const key = await sourcesOf(folder);
  if (latest.dumps?.key !== key) latest.dumps = { key, read: await readDumps(folder) };
  return latest.dumps.read;
}

/** New ids of renumbered places of the older dump. */
export async function renumberedIds(folder: Folder): Promise<Map<number, number>> {
  return (await dumpsOf(folder)).renumbered;
}

async function knownFromDumps(folder: Folder): Promise<KnownPlace[]> {
  const { newer, only } = await dumpsOf(folder);
  latest.dumps = null;
  return [...newer, ...only].map((town) => ({ ...spot(town), placeId: String(town.id), geonames: true }));
}

/** A row of an extract with its identity. `by` is null for a new place. */
export interface PlacedRow {
  row: PlaceRow;
  placeId: string;
  by: Match['by'] | null;
}

/**
 * Assigns an identity to every row and the newest positions to `places`; new places are added to it. Two new
 * rows with one identity are the same place, of which the first is kept.
 */
function place(places: KnownPlace[], rows: PlaceRow[]): PlacedRow[] {
  const taken = new Set(places.filter((knownPlace) => !knownPlace.geonames).map((knownPlace) => knownPlace.placeId));
  const placedRows: PlacedRow[] = [];
  for (const [i, hit] of match(places, rows).entries()) {
    const row = rows[i]!;
    if (hit) {
      const same = places[hit.index]!;
      Object.assign(same, spot(row));
      placedRows.push({ row, placeId: same.placeId, by: hit.by });
      continue;
    }
    const id = placeId(row);
    if (taken.has(id)) continue;
    taken.add(id);
    places.push({ ...spot(row), placeId: id, geonames: false });
    placedRows.push({ row, placeId: id, by: null });
  }
  return placedRows;
}

function before(a: string, b: string): boolean {
  return a.localeCompare(b, 'en', { numeric: true }) < 0;
}

/** Cache key: versions of the extract, oldest first, on top of the dumps. */
const keyOf = async (versions: readonly string[], folder: Folder) =>
  [await sourcesOf(folder), ...(await Promise.all(versions.map((version) => folder(EXTRACT, version))))].join('\n');

/** All places known before a version of the extract: both dumps and the earlier pinned extracts. */
async function knownBefore(versions: readonly string[], folder: Folder): Promise<KnownPlace[]> {
  const before = latest.places;
  latest.places = null;
  if (before?.key === (await keyOf(versions, folder))) return before.list;
  const places = await knownFromDumps(folder);
  for (const version of versions) place(places, await readExtract(await folder(EXTRACT, version)));
  return places;
}

/**
 * Matches the rows of a version of the extract with the places known before it; `known` are the ids of the
 * dumps.
 */
export async function placeExtract(
  version: string,
  rows: PlaceRow[],
  folder: Folder,
): Promise<{ placedRows: PlacedRow[]; ids: string[] }> {
  const versions = EXTRACTS.map((pin) => pin.version).filter((earlier) => before(earlier, version));
  const list = await knownBefore(versions, folder);
  const ids = list.filter(({ geonames }) => geonames).map(({ placeId }) => placeId);
  const placedRows = place(list, rows);
  const pinned = EXTRACTS.some((pin) => pin.version === version);
  if (pinned) latest.places = { key: await keyOf([...versions, version], folder), list };
  return { placedRows, ids };
}
