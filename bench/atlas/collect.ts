// Yields the observations of each reading of the atlas, in the order of place numbers.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCollector, type Observed, type Reading } from 'dataset-register/pack';
import { type AtlasPlace, placeAt } from './place.ts';
import { ISSUE, type Issue, READINGS } from './readings.ts';
import { atlasWorld } from './world.ts';

/** Values of both kinds of readings. Names and positions may differ from the second reading on. */
function common({ country, area, name, lat, lng, later }: AtlasPlace, turn: number): Observed['values'] {
  const moved = later.moved && turn > 1;
  return {
    name: turn > 1 && later.name !== null ? later.name : name,
    status: 'listed',
    country: country.code,
    admin1_code: String(area + 1).padStart(2, '0'),
    location: { lat: moved ? Math.round((lat + 0.00213) * 1e5) / 1e5 : lat, lng },
  };
}

function surveyed(place: AtlasPlace, turn: number): Observed {
  const { id, country, part, feature, population, elevation, timezone, later, ascii, others } = place;
  const both = {
    ...common(place, turn),
    place_id: id,
    geonames_id: Number(id),
    country_name: country.name,
    admin2_code: part === null ? undefined : String(part + 1).padStart(3, '0'),
    feature,
    population: (turn > 0 ? later.population : null) ?? population ?? undefined,
  };
  // The first survey has fewer values.
  const values =
    turn === 0
      ? both
      : {
          ...both,
          ascii_name: ascii,
          alternate_names: others.length > 0 ? others : undefined,
          timezone,
          elevation: elevation ?? undefined,
        };
  return {
    identity: { place_id: id },
    values,
    source_url: `https://survey.example/${id}`,
    evidence: `survey ${turn + 1}`,
  };
}

function extracted(place: AtlasPlace, turn: number): Observed {
  const { id, country, area, part } = place;
  const { name, parts } = country.areas[area]!;
  const own = place.since > 1;
  const values = {
    ...common(place, turn),
    ...(own && { place_id: id, country_name: country.name }),
    admin1: name,
    admin2: part === null ? undefined : parts[part],
  };
  return {
    identity: { place_id: id },
    values,
    source_url: 'https://extract.example/',
    evidence: `extract ${turn - 1}`,
  };
}

function vanished({ id }: AtlasPlace): Observed {
  return { identity: { place_id: id }, values: { status: 'unlisted' }, source_url: 'https://extract.example/' };
}

async function* read(reading: Reading): AsyncGenerator<Observed> {
  const { seed, records } = JSON.parse(await readFile(join(reading.folder, ISSUE), 'utf8')) as Issue;
  const turn = READINGS.findIndex(
    ({ package: name, version }) => name === reading.package && version === reading.version,
  );
  const nowhere = atlasWorld(seed);
  for (let i = 0; i < records; i += 1) {
    const place = placeAt(seed, nowhere, i);
    if (turn < 2 ? place.since <= turn : place.since <= turn && !place.vanished)
      yield turn < 2 ? surveyed(place, turn) : extracted(place, turn);
    else if (turn > 1 && place.vanished) yield vanished(place);
  }
}

export default defineCollector({ read });
