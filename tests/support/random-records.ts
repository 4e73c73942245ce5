// Seeded fictional records of any pack with edge cases: accents, scripts, ties, ranges, poles and the date
// line.

import type { ProvenanceStatus, StoredRecord } from '../../data/model/record.ts';
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import { byCodePoint, words } from '../../packs/define/text.ts';

/** Numbers in [0, 1) that repeat for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type Random = () => number;

export const pickOne = <T>(next: Random, from: readonly T[]): T => from[Math.floor(next() * from.length)]!;

const WORDS = [
  ...['Zürich', 'zurich', 'ZURICH', 'Straße', 'strasse', 'Œuvre', 'oeuvre', 'Łódź', 'naïve', 'Ångström', 'ǅ'],
  ...['東京', '東', 'Москва', 'моск', 'Ωμέγα', 'العربية', 'हिन्दी', '한국', '🙂', 'ﬁne', 'fine'],
  ...['a', 'ab', 'abc', 'b', 'alpha', 'beta', 'x1', '1x', '42', '4', "O'Brien", "'; DROP TABLE records; --"],
  ...['100%', '_', 'a_b', 'back\\slash', '"quoted"', 'a,b', 'comma, and', '\u{10fffd}end', 'i', 'İ', 'null', 'NaN'],
];

/** A text of one to three tricky words. */
export function tricky(next: Random, most = 3): string {
  return Array.from({ length: 1 + Math.floor(next() * most) }, () => pickOne(next, WORDS)).join(' ');
}

const PLACES = [
  ...[
    [90, 0],
    [90, 135],
    [-90, 10],
    [89.99, -179],
    [0, 180],
    [0, -180],
    [0.01, 179.99],
    [-0.01, -179.98],
  ],
  ...[
    [47.3769, 8.5417],
    [47.377, 8.542],
    [-33.5, 151.3],
    [0, 0],
    [1, 1],
    [-16.9, 179.9],
    [-17, -179.9],
  ],
] as const;

function randomValue(next: Random, attribute: Attribute): Value {
  switch (attribute.type) {
    case 'enum':
      return attribute.values ? pickOne(next, attribute.values) : pickOne(next, WORDS);
    case 'text':
      return tricky(next, 8);
    case 'url':
      return `https://${pickOne(next, ['a', 'b', 'Zürich', 'c-d'])}.example/${Math.floor(next() * 9)}`;
    case 'boolean':
      return next() < 0.5;
    case 'integer':
      return Math.floor(next() * 12) - 3;
    case 'number':
      return pickOne(next, [0, -1.5, 0.1, 0.2, 12345678901.55, 1e-9, 1e15, Math.floor(next() * 100) / 8]);
    case 'date':
      return new Date(Date.UTC(2024, 0, 1 + Math.floor(next() * 900))).toISOString().slice(0, 10);
    case 'strings':
      return [...new Set(Array.from({ length: 1 + Math.floor(next() * 4) }, () => tricky(next, 2)))];
    case 'geo': {
      const [lat, lng] = pickOne(next, PLACES);
      return next() < 0.6 ? { lat, lng } : { lat: next() * 180 - 90, lng: next() * 360 - 180 };
    }
    case 'price': {
      const min = Math.floor(next() * 40) / 8;
      const max = min + Math.floor(next() * 24) / 8;
      return next() < 0.5 || min === max ? min : { min, max, currency: attribute.currency ?? 'EUR' };
    }
    default:
      return tricky(next);
  }
}

/** Some values are held and some contested, independent of the random numbers. */
function statusOf(index: number, attribute: string): { status?: ProvenanceStatus } {
  const n = (index * 31 + attribute.length * 7) % 41;
  return n === 0 ? { status: 'held' } : n === 1 ? { status: 'contested' } : {};
}

/** Records as a release stores them, best first: their index is their ordinal. */
export function randomRecords(pack: Pack, count: number, seed: number): StoredRecord[] {
  const next = random(seed);
  const records = Array.from({ length: count }, (_, index): StoredRecord => {
    const filled = pack.attributes.filter(() => next() < 0.7);
    const attributes = Object.fromEntries(filled.map((attribute) => [attribute.name, randomValue(next, attribute)]));
    const observed = new Date(Date.UTC(2026, 10, 1 + Math.floor(next() * 19), Math.floor(next() * 24))).toISOString();
    const provenance = Object.fromEntries(
      filled.map(({ name }) => [
        name,
        {
          source_url: 'https://source.example/',
          observed_at: observed,
          confidence: 0.9,
          evidence: '',
          source: { kind: 'collector' as const },
          ...statusOf(index, name),
        },
      ]),
    );
    return {
      id: `r-${Math.floor(next() * 2 ** 32)
        .toString(16)
        .padStart(8, '0')}${index.toString(16).padStart(8, '0')}`,
      slug: `record-${index}`,
      name: `Record ${index}`,
      dataset: pack.id,
      updated_at: new Date(Date.UTC(2026, 0, 1 + Math.floor(next() * 300))).toISOString(),
      attributes,
      provenance,
      quality_score: Math.floor(next() * 20) / 20,
      completeness: filled.length / pack.attributes.length,
      verified_owner: false,
    };
  });
  return records.sort((a, b) => b.quality_score - a.quality_score || byCodePoint(a.id, b.id));
}

/** A search term of a record, as the release stores it. */
interface Term {
  public: boolean;
  compared: boolean;
  weight: number;
  public_weight: number;
}

/** Search terms of a record: in public texts or not, compared for similarity or not, and weighted frequencies. */
export function searchTermsOf(pack: Pack, record: StoredRecord): Map<string, Term> {
  const terms = new Map<string, Term>();
  const add = (text: string, open: boolean, compared: boolean, weight: number) => {
    for (const word of words(text)) {
      const before = terms.get(word);
      terms.set(word, {
        public: open || before?.public === true,
        compared: compared || before?.compared === true,
        weight: Math.min(255, (before?.weight ?? 0) + weight),
        public_weight: Math.min(255, (before?.public_weight ?? 0) + (open ? weight : 0)),
      });
    }
  };
  for (const attribute of pack.attributes.filter((one) => one.searchable))
    for (const entry of [record.attributes[attribute.name] ?? []].flat())
      add(String(entry), attribute.public, pack.serving.similar_by.includes(attribute.name), attribute.search_weight);
  add(record.name, true, false, 10);
  add(record.slug, true, false, 0);
  return terms;
}
