// Values as queries compare them: engine columns (data/model/layout.ts), and the words of searchable
// attributes.
import type { Attribute, Geo, Pack, Value } from '../../packs/define/model.ts';
import { fold, words } from '../../packs/define/text.ts';
import { comparedTime } from '../../packs/define/times.ts';
import type { ColumnPart } from '../model/layout.ts';
import type { ProvenanceStatus, StoredRecord } from '../model/record.ts';
import { bounds } from './compare.ts';

/** The engine columns of a value; data/write/record.ts writes them into a release. */
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
    case 'datetime':
      return { value: comparedTime(value as string) };
    default:
      return { value };
  }
}

/** Properties of a search term of a record. */
export interface TermFlags {
  /** A public text of the record contains it, so callers without a key can find the record by it. */
  public: boolean;
  /** It counts for similarity. */
  compared: boolean;
  /** Frequency of the word in the record, times the weight of each text, at most 255. */
  weight: number;
  /** The same in public texts alone. */
  public_weight: number;
}

/** Weight of a word of the displayed name; those of the slug repeat the name and count nothing. */
export const NAME_WEIGHT = 10;
const MAX_WEIGHT = 255;

/** The searchable texts of a record. `values` is in the order of the pack's attributes. */
export interface SearchTexts {
  name: string;
  slug: string;
  values: readonly (Value | undefined)[];
  /** List entries that are searchable and not published, by attribute name. */
  unpublished: Unpublished;
}

/** List entries after `published_entries`, by attribute name. */
export type Unpublished = Readonly<Record<string, readonly string[]>>;

/**
 * Folded words by which `q` finds a record: of its searchable attributes, and of its display name and slug,
 * which are public in every dataset.
 */
export function searchTerms(pack: Pack, { name, slug, values, unpublished }: SearchTexts): Map<string, TermFlags> {
  const terms = new Map<string, TermFlags>();
  let [first, last]: { text: string; list: string[] }[] = [];
  const add = (text: string, isPublic: boolean, compared: boolean, weight: number) => {
    // Names often repeat: the displayed one is mostly the first attribute.
    if (last?.text !== text) last = first?.text === text ? first : { text, list: words(text) };
    first ??= last;
    for (const word of last.list) {
      let term = terms.get(word);
      if (term === undefined) {
        term = { public: false, compared: false, weight: 0, public_weight: 0 };
        terms.set(word, term);
      }
      term.public ||= isPublic;
      term.compared ||= compared;
      term.weight = Math.min(MAX_WEIGHT, term.weight + weight);
      if (isPublic) term.public_weight = Math.min(MAX_WEIGHT, term.public_weight + weight);
    }
  };
  for (let i = 0; i < pack.attributes.length; i++) {
    const attribute = pack.attributes[i]!;
    const value = values[i];
    if (!attribute.searchable || value === undefined) continue;
    const compared = pack.serving.similar_by.includes(attribute.name);
    const { public: isPublic, search_weight: weight } = attribute;
    if (!Array.isArray(value)) add(String(value), isPublic, compared, weight);
    else for (const text of value) add(text, isPublic, compared, weight);
    for (const text of unpublished[attribute.name] ?? []) add(text, isPublic, compared, weight);
  }
  add(name, true, false, NAME_WEIGHT);
  add(slug, true, false, 0);
  return terms;
}

/** The words of a name as `sort=relevance` compares them with those of `q`. */
export function nameWords(name: string): string {
  return words(name).join(' ');
}

/** `searchTerms` of a stored record. */
export function recordTerms(pack: Pack, record: StoredRecord, unpublished: Unpublished): Map<string, TermFlags> {
  const values = pack.attributes.map((attribute) => record.attributes[attribute.name]);
  return searchTerms(pack, { name: record.name, slug: record.slug, values, unpublished });
}

/** A list value cut to its published entries, and the rest; null when all are published. */
export function unpublishedEntries(
  { published_entries: limit }: Attribute,
  value: Value | null,
): { published: string[]; rest: string[] } | null {
  if (limit === null || !Array.isArray(value) || value.length <= limit) return null;
  return { published: value.slice(0, limit), rest: value.slice(limit) };
}

/**
 * Visibility of the values of a record with a status: 2: a public attribute has it; 1: only a non-public one;
 * 0: none. `statusOf` returns the status of an attribute's value.
 */
export function statusReach(
  pack: Pack,
  status: ProvenanceStatus,
  statusOf: (attribute: string, position: number) => ProvenanceStatus | null | undefined,
): 0 | 1 | 2 {
  let reach: 0 | 1 | 2 = 0;
  for (const [i, { name, public: open }] of pack.attributes.entries()) {
    if (statusOf(name, i) !== status) continue;
    if (open) return 2;
    reach = 1;
  }
  return reach;
}
