// Paid values that no free answer may contain: values of attributes that are not public, of records that are no example,
// long enough that they appear nowhere by chance.
import { join } from 'node:path';
import { readLines } from '../../data/duckdb/lines.ts';
import { paths, RELEASE_FILES } from '../../data/model/layout.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Pack } from '../../packs/define/model.ts';

/** Fewest characters of a text, and of a number with its decimals. */
const LEAST = { text: 14, number: 7 };
/** Characters of a text by which it is found; a body is searched at each beginning of a word. */
const KEY = 14;
/** Records of a dataset whose values are searched. */
const RECORDS = 20_000;

/** The scalar values within a value: entries of lists, ends of ranges, coordinates. */
function scalars(value: unknown): (string | number)[] {
  if (typeof value === 'string' || typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(scalars) : [];
}

/** The forms in which a scalar is found in an answer of any format: no character that a format escapes. */
function keyOf(value: string | number): string | null {
  if (typeof value === 'number') {
    const text = String(value);
    return /^\d+\.?\d*$/.test(text) && text.length >= LEAST.number && !text.endsWith('000') ? text : null;
  }
  if (/^\d{4}-\d\d-\d\d/.test(value)) return null;
  const plain = /^[\p{L}\p{N} ,.:;()/-]+/u.exec(value)?.[0] ?? '';
  return plain.length >= LEAST.text ? plain.slice(0, KEY) : null;
}

/** Keys of all texts and numbers in a text that was sent. */
export function* keysIn(text: string): Generator<string> {
  for (const { index } of text.matchAll(/(?<![\p{L}\p{N}])[\p{L}\p{N}(]/gu)) yield text.slice(index, index + KEY);
  for (const [number] of text.matchAll(/(?<![\d.\w])\d+(?:\.\d+)?(?![\d.\w])/g)) yield number;
}

/**
 * Adds the paid values of a dataset that only one record has to `paid`, by their key, with the name of their attribute, and
 * everything that is free to `open`; `shown` are the texts of its free answers.
 */
export async function readValues(
  dataDir: string,
  pack: Pack,
  shown: readonly string[],
  { paid, open }: { paid: Map<string, string>; open: Set<string> },
): Promise<void> {
  const release = await currentRelease(dataDir, pack.id);
  if (release === null) throw new Error(`${pack.id} has no release`);
  const isPublic = new Map(pack.attributes.map((attribute) => [attribute.name, attribute.public]));
  let read = 0;
  for (const line of readLines(join(paths.release(dataDir, pack.id, release), RELEASE_FILES.jsonl))) {
    const { id, slug, name, attributes, provenance } = JSON.parse(line) as StoredRecord;
    const isShown = shown.some((text) => text.includes(id));
    for (const text of [id, slug, name]) for (const key of keysIn(String(text))) open.add(key);
    for (const [attribute, value] of Object.entries(attributes)) {
      const free = isShown || isPublic.get(attribute) === true;
      if (free) for (const key of keysIn(JSON.stringify([value, provenance[attribute] ?? null]))) open.add(key);
      else if (read < RECORDS)
        for (const scalar of scalars(value)) {
          const key = keyOf(scalar);
          // A value of several records, such as a time zone, is no secret of one.
          if (key !== null && paid.has(key)) open.add(key);
          else if (key !== null) paid.set(key, `${pack.id}.${attribute} of ${slug}`);
        }
    }
    read += 1;
  }
  for (const key of shown.flatMap((text) => [...keysIn(text)])) open.add(key);
}
