// The states of a record as lines: what `as_of` of lists needs besides the current engine rows and terms.
import { derive } from '../../packs/define/derive.ts';
import type { Identity, Pack, Value } from '../../packs/define/model.ts';
import { lineText } from '../../packs/define/text.ts';
import { nameWords, searchTerms, type TermFlags, unpublishedEntries } from '../consolidate/engine-values.ts';
import type { RecordState, SettledAttribute } from '../consolidate/states.ts';
import { NULL } from '../duckdb/lines.ts';
import { engineParts, type SettledRecord } from './record.ts';

/** A record over time: its settled attributes in the order of the pack, and its states, oldest first. */
export interface RecordPast {
  identity: Identity;
  courses: readonly SettledAttribute[];
  states: readonly RecordState[];
}

/** Cells of an attribute without a value, by its place in the pack. */
const absentParts = (pack: Pack) =>
  derive(pack, 'absent engine parts', () => pack.attributes.map((attribute) => engineParts(attribute, undefined)));

/** Positions of the settled attributes in the pack. */
const placesOf = (pack: Pack) =>
  derive(pack, 'places of attributes', () => new Map(pack.attributes.map((attribute, place) => [attribute, place])));

/**
 * Writes the lines of a record: MOMENT_LINES, where a value that the record still has is only marked, TERM_LINES with
 * the time since which they are unchanged, and PAST_TERM_LINES.
 */
export function writeMoments(
  pack: Pack,
  number: number,
  record: SettledRecord,
  { identity, courses, states }: RecordPast,
  line: (table: 'moments' | 'terms' | 'past_terms', text: string) => void,
): void {
  const places = placesOf(pack);
  const absent = absentParts(pack);
  const terms = new OpenTerms((term, { flags, since }, until) =>
    line('past_terms', `${number}\t${term}\t${flags}\t${since}\t${until}`),
  );
  const current = states.at(-1)!.winners;
  const nowWords = nameWords(record.name);
  let before: RecordState | null = null;
  for (const state of states) {
    const { since, until, updated, quality, winners } = state;
    const values = new Array<Value | undefined>(pack.attributes.length);
    const kept = new Array<string>(pack.attributes.length).fill('0');
    const parts = absent.slice();
    const unpublished: Record<string, readonly string[]> = {};
    const named: Record<string, Value> = {};
    for (const [k, { attribute, input }] of courses.entries()) {
      const statement = input.statements[winners[k]!];
      if (statement === undefined) continue;
      const place = places.get(attribute)!;
      const cut = unpublishedEntries(attribute, statement.value);
      if (cut) unpublished[attribute.name] = cut.rest;
      const value = cut?.published ?? (statement.value as Value);
      values[place] = value;
      named[attribute.name] = value;
      if (input.statements[current[k]!]?.json === statement.json) kept[place] = '1';
      else parts[place] = engineParts(attribute, value);
    }
    const { slug } = record;
    const name = until === null ? record.name : lineText(pack.identity.name(identity, named)) || slug;
    const words = nameWords(name);
    line(
      'moments',
      `${number}\t${since}\t${until ?? NULL}\t${updated}\t${quality}\t${words === nowWords ? NULL : words}\t${kept.join('')}${parts.join('')}`,
    );
    if (before?.until !== since) terms.end(before?.until ?? since);
    if (before?.until !== since || textsDiffer(courses, before.winners, winners))
      terms.next(searchTerms(pack, { name, slug, values, unpublished }), since);
    before = state;
  }
  for (const [term, { flags, since }] of terms.open) line('terms', `${number}\t${term}\t${flags}\t${since}`);
}

/** Whether a value differs that the search terms, or the name, may depend on. */
function textsDiffer(courses: readonly SettledAttribute[], a: readonly number[], b: readonly number[]): boolean {
  return courses.some(
    ({ input: { statements } }, k) => a[k] !== b[k] && statements[a[k]!]?.json !== statements[b[k]!]?.json,
  );
}

interface OpenTerm {
  /** The flags as cells of a line. */
  flags: string;
  since: number;
}

/** The terms of a record from state to state. */
class OpenTerms {
  readonly open = new Map<string, OpenTerm>();
  readonly #ended: (term: string, open: OpenTerm, until: number) => void;

  constructor(ended: (term: string, open: OpenTerm, until: number) => void) {
    this.#ended = ended;
  }

  /** Continues with the terms of the next state. */
  next(terms: ReadonlyMap<string, TermFlags>, since: number): void {
    for (const [term, open] of this.open) if (!terms.has(term)) this.#end(term, open, since);
    for (const [term, { public: isPublic, compared, weight, public_weight }] of terms) {
      const flags = `${isPublic}\t${compared}\t${weight}\t${public_weight}`;
      const open = this.open.get(term);
      if (open?.flags === flags) continue;
      if (open) this.#end(term, open, since);
      this.open.set(term, { flags, since });
    }
  }

  /** The record has no values from now on. */
  end(until: number): void {
    for (const [term, open] of this.open) this.#end(term, open, until);
  }

  #end(term: string, open: OpenTerm, until: number): void {
    this.open.delete(term);
    this.#ended(term, open, until);
  }
}
