// The countries of the atlas and their areas: few are large and many small, as in reality.
import { pickFrom, stream } from './random.ts';
import { latin, SYLLABLES } from './scripts.ts';

export interface Country {
  code: string;
  name: string;
  /** How its names are spelled. */
  manner: number;
  lat: number;
  lng: number;
  /** Degrees that contain most of its places. */
  width: number;
  timezones: string[];
  areas: { name: string; parts: string[] }[];
}

const COUNTRIES = 246;
const KINDS = ['', '', ' Province', ' Region', ' State', ' District', ' Oblast', ' Prefecture'];

export interface AtlasWorld {
  countries: Country[];
  /** The country of a number in [0, 1): the largest has a tenth of all places. */
  countryAt: (share: number) => Country;
}

export function atlasWorld(seed: number): AtlasWorld {
  const countries = Array.from({ length: COUNTRIES }, (_, i) => country(seed, i));
  const weights = countries.map((_, i) => 1 / (i + 2.5));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const upTo = Float64Array.from(weights);
  for (let i = 0, sum = 0; i < upTo.length; i += 1) {
    sum += upTo[i]! / all;
    upTo[i] = sum;
  }
  const countryAt = (share: number) =>
    countries[
      Math.max(
        0,
        upTo.findIndex((each) => share < each),
      )
    ]!;
  return { countries, countryAt };
}

/** Words of two to four syllables. */
export function word(draw: () => number): number[] {
  return Array.from({ length: 2 + Math.floor(draw() * 3) }, () => Math.floor(draw() * SYLLABLES));
}

function country(seed: number, i: number): Country {
  const draw = stream(seed, i, 1);
  const manner = Math.floor(draw() * 3);
  // Two-letter codes in order: AA, AB and so on.
  const code = String.fromCharCode(65 + Math.floor(i / 26), 65 + (i % 26));
  const name = latin(0, word(draw));
  const areas = Array.from({ length: 4 + Math.floor(draw() * 24) }, () => ({
    name: latin(manner, word(draw)) + pickFrom(draw, KINDS),
    parts: Array.from({ length: 2 + Math.floor(draw() * 12) }, () => latin(manner, word(draw))),
  }));
  const timezones = Array.from({ length: i < 12 ? 4 : 1 }, () => `Nowhere/${latin(0, word(draw))}`);
  const [lat, lng] = [draw() * 130 - 60, draw() * 360 - 180];
  return { code, name, manner, lat, lng, width: i < 20 ? 12 : 3, timezones, areas };
}
