// What questions compare of one value: its engine columns (data/layout.ts), and the words of a record's searchable attributes.
import type { Attribute, Geo, Pack, Value } from '../packs/model.ts';
import { fold, words } from '../packs/text.ts';
import { bounds } from './consolidate-compare.ts';
import type { ColumnPart } from './layout.ts';
import type { StoredRecord } from './model.ts';

/** The parts of a value; data/write/record.ts writes the same into a release. */
export function engineValues(attribute: Attribute, value: Value): Partial<Record<ColumnPart, unknown>> {
  switch (attribute.type) {
    case 'string':
    case 'text':
    case 'url':
    case 'enum':
      return { value, fold: fold(value as string) };
    case 'strings':
      return { value, fold: (value as string[]).map(fold) };
    case 'price':
      return bounds(value) ?? {};
    case 'geo':
      return { lat: (value as Geo).lat, lng: (value as Geo).lng };
    default:
      return { value };
  }
}

/** Folded words of a record that `q` finds, each with whether a public attribute holds it. */
export function searchWords(pack: Pack, record: StoredRecord): Map<string, boolean> {
  const found = new Map<string, boolean>();
  for (const attribute of pack.attributes) {
    const value = record.attributes[attribute.name];
    if (!attribute.searchable || value === undefined) continue;
    for (const text of Array.isArray(value) ? value : [String(value)])
      for (const word of words(text)) found.set(word, attribute.public || found.get(word) === true);
  }
  return found;
}
