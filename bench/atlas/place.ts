// One place of the atlas, computed only from its number, so that memory does not grow with the number of
// places.
import { slug } from '../../packs/places/identity.ts';
import { bell, pickFrom, stream } from './random.ts';
import { foreign, latin, SCRIPTS } from './scripts.ts';
import { type AtlasWorld, type Country, word } from './world.ts';

export interface AtlasPlace {
  id: string;
  /**
   * Index of the first reading with the place (see READINGS). Only places of a survey have a number,
   * population and height.
   */
  since: number;
  /** Whether the last extract no longer lists it. */
  vanished: boolean;
  country: Country;
  area: number;
  part: number | null;
  name: string;
  ascii: string;
  others: string[];
  lat: number;
  lng: number;
  feature: string;
  population: number | null;
  elevation: number | null;
  timezone: string;
  /** The values that differ in the second survey and in the later extracts; null: none. */
  later: { population: number | null; name: string | null; moved: boolean };
}

const BEFORE = ['San', 'Port', 'New', 'El', 'Upper', 'Santa', 'Villa', 'Bad', 'Novo', 'Saint'];
const FEATURES = ['PPLA', 'PPLA2', 'PPLA2', 'PPLA2', 'PPLA3', 'PPLA3', 'PPLA3', 'PPLA3', 'PPLX', 'PPLA4'];

export function placeAt(seed: number, { countryAt }: AtlasWorld, i: number): AtlasPlace {
  const draw = stream(seed, i);
  const country = countryAt(draw());
  const area = Math.floor(draw() * draw() * country.areas.length);
  const parts = country.areas[area]!.parts.length;
  const syllables = word(draw);
  const before = draw() < 0.3 ? `${pickFrom(draw, BEFORE)} ` : '';
  const surveyed = draw() < 0.78;
  const others = surveyed && draw() < 0.6 ? otherNames(draw, syllables) : [];
  const population = surveyed && draw() < 0.9 ? people(draw) : null;
  const renamed = draw() < 0.02;
  return {
    id: surveyed
      ? String(900_000_000 + i)
      : `cj:${country.code}.${area + 1}.${slug(before + latin(0, syllables))}.${i.toString(36).padStart(6, '0')}`,
    since: surveyed ? Number(draw() > 0.94) : 2 + Number(draw() > 0.55) + Number(draw() > 0.95),
    vanished: surveyed && draw() < 0.01,
    country,
    area,
    part: draw() < 0.85 ? Math.floor(draw() * parts) : null,
    name: before + latin(country.manner, syllables),
    ascii: before + latin(0, syllables),
    others,
    // Places cluster around a few towns, and areas are adjacent.
    ...spot(draw, country, area),
    feature: draw() < 0.55 ? 'PPL' : pickFrom(draw, FEATURES),
    population,
    elevation: surveyed && draw() < 0.995 ? Math.round(Math.abs(bell(draw)) * 500) : null,
    timezone: pickFrom(draw, country.timezones),
    later: {
      population:
        population !== null && draw() < 0.045 ? Math.max(1, Math.round(population * (0.7 + draw() * 0.9))) : null,
      name: renamed ? `${before}${latin(country.manner, word(draw))}` : null,
      moved: draw() < 0.11,
    },
  };
}

/** From one to forty, mostly few. */
function otherNames(draw: () => number, syllables: number[]): string[] {
  const many = Math.min(40, 1 + Math.floor(-Math.log(1 - draw()) * 4.2));
  const names = Array.from({ length: many }, (_, n) =>
    n < 3 && draw() < 0.4
      ? latin(n, [...syllables, Math.floor(draw() * 20)])
      : foreign(Math.floor(draw() * SCRIPTS), [...syllables, n % 7]),
  );
  return [...new Set(names)];
}

/** Median 3,400, a thousandth above two million. */
function people(draw: () => number): number {
  return Math.min(30_000_000, Math.max(1, Math.round(3400 * Math.exp(bell(draw) * 1.9))));
}

function spot(draw: () => number, { lat, lng, width }: Country, area: number): { lat: number; lng: number } {
  const turn = area * 2.4;
  const far = Math.sqrt(area + 1) * (width / 4);
  const north = lat + Math.sin(turn) * far + bell(draw) * (width / 6);
  const east = lng + Math.cos(turn) * far + bell(draw) * (width / 6);
  const five = (degrees: number) => Math.round(degrees * 1e5) / 1e5;
  return { lat: five(Math.max(-89, Math.min(89, north))), lng: five(((((east + 180) % 360) + 360) % 360) - 180) };
}
