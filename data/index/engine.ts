// The packed index behind the Engine interface: gets, searches, radius, words and countable facets.
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { recordTerms } from '../consolidate/engine-values.ts';
import type { StoredRecord } from '../model/record.ts';
import type { Applied } from '../plan/applied-overlay.ts';
import type {
  Dress,
  FacetAnswer,
  FacetPlan,
  Position,
  RecordText,
  SearchAnswer,
  SearchPlan,
  SimilarPlan,
} from '../plan/plan.ts';
import { Bitset } from './bitset.ts';
import { Bodies } from './bodies.ts';
import { INDEX_FILES, INDEX_FOLDER } from './build.ts';
import { Columns, TEXTUAL } from './columns.ts';
import { Container, IndexDamaged } from './container.ts';
import { countable, facets } from './facets.ts';
import { select, selection, sortValue } from './select.ts';
import { inOrder, type SideRecord, SideTable } from './side.ts';
import { alike, type Scored, similar, similarInPublic } from './similar.ts';

/** An open index. Every method may throw IndexDamaged; the caller then asks DuckDB. */
export class PackedIndex {
  readonly columns: Columns;
  readonly bodies: Bodies;
  /** Bytes that the index keeps in memory, without the bodies. */
  readonly bytes: number;
  readonly #pack: Pack;
  /** Whether the pack still has every attribute that the texts have; nobody says who may see the others. */
  readonly #plain: boolean;
  /** Records that the index must not answer by itself: removed ones and those of the side table. */
  #removed: Bitset | null = null;
  #side: SideTable | null = null;
  readonly #changed = new Map<number, { record: StoredRecord; version: string }>();
  readonly #opened: { release: string; options: { bodiesInMemory?: number; records: number } };
  /** Version of the overlay that this index is under; 0: none. */
  overlay = 0;

  /** Opens the index of a release folder, or shares one that is open. Throws IndexDamaged when it is missing, half written or changed. */
  constructor(release: string, pack: Pack, options: { bodiesInMemory?: number; records: number }, open?: PackedIndex) {
    this.#pack = pack;
    if (open) {
      this.bytes = open.bytes;
      this.columns = open.columns;
      this.bodies = open.bodies;
      this.#plain = open.#plain;
      this.#opened = open.#opened;
      return;
    }
    this.#opened = { release, options };
    const folder = join(release, INDEX_FOLDER);
    const container = new Container(join(folder, INDEX_FILES.columns));
    this.bytes = container.bytes;
    this.columns = new Columns(container, pack);
    if (this.columns.size !== options.records) {
      throw new IndexDamaged(`the index holds ${this.columns.size} records, the release ${options.records}`);
    }
    const known = new Set(pack.attributes.map(({ name }) => name));
    this.bodies = new Bodies(container, join(folder, INDEX_FILES.bodies), options.bodiesInMemory);
    this.#plain = this.bodies.attributes().isSubsetOf(known);
  }

  search(plan: SearchPlan): SearchAnswer {
    const found = select(this.columns, plan, this.#removed);
    return this.#side ? merge(this.columns, this.#side, plan, found) : found;
  }

  /** Null where the index does not keep the attribute's values by code. */
  facets(plan: FacetPlan): FacetAnswer | null {
    return countable(this.columns, plan.by) ? facets(this.columns, plan, this.#removed, this.#side) : null;
  }

  /** The same index under an overlay: ids that are gone, and records as they now are. Ids that it does not hold are ignored. */
  under({ version, removed, changed }: Applied): PackedIndex {
    const { release, options } = this.#opened;
    const view = new PackedIndex(release, this.#pack, options, this);
    const hidden = new Bitset(this.columns.size);
    const side: SideRecord[] = [];
    for (const id of removed) {
      const ordinal = this.columns.keys.find(id);
      if (ordinal !== null) hidden.add(ordinal);
    }
    for (const { record, unpublished, version: text } of changed) {
      const ordinal = this.columns.keys.find(record.id);
      if (ordinal === null || hidden.has(ordinal)) continue;
      side.push({ ordinal, record, terms: recordTerms(this.#pack, record, unpublished) });
      view.#changed.set(ordinal, { record, version: text });
    }
    for (const { ordinal } of side) hidden.add(ordinal);
    view.overlay = version;
    view.#removed = hidden.count() > 0 ? hidden : null;
    view.#side = side.length > 0 ? new SideTable(this.#pack, side) : null;
    return view;
  }

  /** Ordinals of ids or slugs; null where unknown or removed. */
  resolve(refs: string[]): (number | null)[] {
    return refs.map((ref) => {
      const ordinal = this.columns.keys.find(ref);
      return ordinal === null || (this.#removed?.has(ordinal) && !this.#changed.has(ordinal)) ? null : ordinal;
    });
  }

  /** Stored bodies with their versions, in the order asked. */
  stored(ordinals: number[]): { body: string; version: string }[] {
    return ordinals.map((ordinal) => {
      const changed = this.#changed.get(ordinal);
      if (changed) return { body: JSON.stringify(changed.record), version: changed.version };
      return { body: this.bodies.stored(ordinal).toString(), version: this.bodies.version(ordinal) };
    });
  }

  /** A record as it is sent; null where the overlay or a changed pack has to be heard first. */
  text(ordinal: number, now: Date, dress: Dress): RecordText | null {
    return this.#plain && !this.#changed.has(ordinal) ? this.bodies.text(ordinal, now, dress) : null;
  }

  /** Best first; null where the subject was changed, so that its words are not those of the index, and where `differBy` is no text. */
  similar(plan: SimilarPlan): Scored[] | null {
    const { subject, where, differBy, scope, limit } = plan;
    if (this.#changed.has(subject) || (differBy !== null && !TEXTUAL.has(this.columns.attribute(differBy).type)))
      return null;
    const { test } = selection(this.columns, where, this.#removed, false);
    const differs = differBy === null ? null : this.#differs(subject, differBy);
    const { terms, keys } = this.columns;
    const allowed = (ordinal: number) => (differs === null || differs(ordinal)) && (test === null || test(ordinal));
    const found = (scope === 'public' ? similarInPublic : similar)(terms, keys, plan, allowed);
    if (!this.#side) return found;
    const own = differBy === null ? null : this.#folded(subject, differBy);
    const beside = alike(terms, this.#side, plan, own);
    return [...found, ...beside]
      .sort((a, b) => b.score - a.score || keys.compare(a.ordinal, b.ordinal))
      .slice(0, limit);
  }

  #folded(ordinal: number, name: string): string | null {
    const values = this.columns.values(name);
    const code = values.single ? values.code(ordinal) : -1;
    return code < 0 ? null : values.folded.at(code);
  }

  /** Another value than the subject's; records without one are left out (contract section 2). */
  #differs(subject: number, name: string): (ordinal: number) => boolean {
    const values = this.columns.values(name);
    if (!values.single) return () => true;
    const own = values.code(subject);
    return (ordinal) => values.code(ordinal) !== -1 && values.code(ordinal) !== own;
  }

  close(): void {
    this.bodies.close();
  }
}

/** A page of the index and the changed records that match, in one order. `found` comes from the same plan without the changed records. */
function merge(columns: Columns, side: SideTable, plan: SearchPlan, found: SearchAnswer): SearchAnswer {
  const matches = side.matching(plan.where);
  if (matches.length === 0) return found;
  const key = plan.sort.key;
  const beside = matches
    .map(({ ordinal, record }) => ({ ordinal, value: side.sortValue(record, key), id: record.id }))
    .filter((entry) => plan.after === null || inOrder(plan.sort, entry, plan.after) > 0);
  const page = found.ordinals.map((ordinal) => ({
    ordinal,
    value: sortValue(columns, key, ordinal),
    id: columns.keys.id(ordinal),
  }));
  // Where the index has more pages, what sorts behind its last record belongs to a later one.
  const last = found.next && page.at(-1);
  const here = last ? beside.filter((entry) => inOrder(plan.sort, entry, last) < 0) : beside;
  const merged = [...page, ...here].sort((a, b) => inOrder(plan.sort, a, b));
  const kept = merged.slice(0, plan.limit);
  const more = found.next !== null || merged.length > plan.limit || here.length < beside.length;
  return {
    ordinals: kept.map(({ ordinal }) => ordinal),
    next: more ? position(kept.at(-1)) : null,
    total: found.total === null ? null : found.total + matches.length,
  };
}

function position(entry: Position | undefined): Position | null {
  return entry ? { value: entry.value, id: entry.id } : null;
}
