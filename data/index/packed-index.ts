// The packed index of a release: answers searches, facets, similar records and look-ups from memory.
// indexed-engine.ts combines it with DuckDB into an Engine.
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { recordTerms } from '../consolidate/engine-values.ts';
import { INDEX_FILE, INDEX_FOLDER, RELEASE_FILES } from '../model/layout.ts';
import type { StoredRecord } from '../model/record.ts';
import { isoTime, minuteOf } from '../model/time.ts';
import type { AppliedOverlay } from '../plan/applied-overlay.ts';
import type {
  Ages,
  FacetAnswer,
  FacetPlan,
  MatchPlan,
  Position,
  RecordHead,
  RecordPieces,
  RecordRenderer,
  RecordText,
  SearchAnswer,
  SearchPlan,
  SimilarPlan,
  SpellingPlan,
} from '../plan/plan.ts';
import { runSlices, type SliceOptions } from '../plan/slices.ts';
import { bestOfGroups } from './best-of-groups.ts';
import { Bitset } from './bitset.ts';
import { Bodies } from './bodies.ts';
import { comparePositions, type SideRecord, SideTable } from './changed-records.ts';
import { Columns, TEXTUAL } from './columns.ts';
import { Container, IndexDamaged } from './container.ts';
import { countFacets, isCountable } from './facets.ts';
import { GroupKeys } from './group-keys.ts';
import { matcherFor, visit } from './matcher.ts';
import { changedPositionsOf, positionsOf, select } from './select.ts';
import {
  changedSubject,
  type Scored,
  similarByPublicWords,
  similarChanged,
  similarRecords,
  storedSubject,
} from './similar.ts';

/** The text of one changed record; the last one that was rendered is kept for its minute. */
class ChangedText {
  readonly record: StoredRecord;
  readonly version: string;
  readonly #pack: Pack;
  #pieces: Omit<RecordPieces, 'ages'> | null = null;
  #ages: Ages = { names: [], times: [] };
  #sent: { minute: number; renderer: RecordRenderer; text: RecordText } | null = null;

  /** `version`: the hash of the content, for the ETag. */
  constructor(record: StoredRecord, version: string, pack: Pack) {
    this.record = record;
    this.version = version;
    this.#pack = pack;
  }

  /** The text as `renderer` renders it for a moment, without attributes that the pack does not have. */
  text(now: Date, renderer: RecordRenderer): RecordText {
    const minute = minuteOf(now);
    const sent = this.#sent;
    if (sent !== null && sent.minute === minute && sent.renderer === renderer) return sent.text;
    this.#pieces ??= this.#split();
    const ages = (write: (ages: Ages) => string) => Buffer.from(write(this.#ages));
    const text = { ...renderer.render({ ...this.#pieces, ages }, now), version: this.version };
    this.#sent = { minute, renderer, text };
    return text;
  }

  /** The JSON of the record in the pieces and the order of a stored one; notes its ages. */
  #split(): Omit<RecordPieces, 'ages'> {
    const { id, slug, name, dataset, updated_at, quality_score, completeness, verified_owner, ...of } = this.record;
    const members = this.#pack.attributes.flatMap((attribute) => {
      const [value, provenance] = [of.attributes[attribute.name], of.provenance[attribute.name]];
      return value === undefined || provenance === undefined ? [] : [{ name: attribute.name, value, provenance }];
    });
    const attributes = Object.fromEntries(members.map((member) => [member.name, member.value]));
    const provenance = Object.fromEntries(members.map((member) => [member.name, member.provenance]));
    this.#ages = {
      names: members.map((member) => member.name),
      times: members.map((member) => Date.parse(member.provenance.observed_at)),
    };
    return {
      head: Buffer.from(`${JSON.stringify({ id, slug, name, dataset }).slice(0, -1)},`),
      middle: Buffer.from(`${JSON.stringify({ updated_at, attributes, provenance }).slice(1, -1)},`),
      tail: Buffer.from(JSON.stringify({ quality_score, completeness, verified_owner }).slice(1)),
    };
  }
}

export interface IndexOptions {
  /** Number of records of the release. */
  records: number;
  /** The content of its file; absent: it is read from the disk. */
  content?: Buffer;
}

/**
 * An open index, for the plans that it answers faster than DuckDB. Every method may throw IndexDamaged; the
 * caller then uses DuckDB.
 *
 * @example
 * ```ts
 * const index = new PackedIndex(folder, pack, { records: 4_500 });
 * const answer = index.search({ where, sort, after: null, limit: 20, total: true });
 * ```
 */
export class PackedIndex {
  readonly columns: Columns;
  readonly bodies: Bodies;
  /** Bytes of memory that the index uses, without the bodies. */
  readonly bytes: number;
  readonly #pack: Pack;
  /**
   * Whether the pack still has every attribute of the texts; the visibility of removed attributes is unknown.
   */
  readonly #plain: boolean;
  /** Records that the index must not answer: removed records and those of the side table. */
  #removed: Bitset | null = null;
  #side: SideTable | null = null;
  readonly #changed = new Map<number, ChangedText>();
  readonly #opened: { release: string; options: IndexOptions };

  /**
   * Opens the index of a release folder, or shares an open one. Throws IndexDamaged when it is missing,
   * incomplete or changed.
   */
  constructor(release: string, pack: Pack, options: IndexOptions, open?: PackedIndex) {
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
    const container = new Container(join(release, INDEX_FOLDER, INDEX_FILE), options.content);
    this.bytes = container.bytes;
    this.columns = new Columns(container, pack);
    if (this.columns.size !== options.records) {
      throw new IndexDamaged(`the index has ${this.columns.size} records (expected ${options.records})`);
    }
    const names = new Set(pack.attributes.map(({ name }) => name));
    this.bodies = new Bodies(container, join(release, RELEASE_FILES.jsonl));
    this.#plain = this.bodies.attributes().isSubsetOf(names);
  }

  /** A page of ordinals. Null when the index has no codes for the values to group by. */
  async search(plan: SearchPlan, options: SliceOptions = {}): Promise<SearchAnswer | null> {
    if (plan.group) {
      const keys = GroupKeys.of(this.columns, plan.group.by);
      return keys && runSlices(bestOfGroups(this.columns, keys, plan, this.#removed, this.#side, options), options);
    }
    const page = await runSlices(select(this.columns, plan, this.#removed, options), options);
    return this.#side ? merge(this.columns, this.#side, plan, page) : page;
  }

  spellings(plan: SpellingPlan): string[] {
    return this.columns.terms.spellings(plan);
  }

  /** Null when the index has no codes for the values of the attribute. */
  async facets(plan: FacetPlan, options: SliceOptions = {}): Promise<FacetAnswer | null> {
    if (!isCountable(this.columns, plan.by)) return null;
    return runSlices(countFacets(this.columns, plan, this.#removed, this.#side, options), options);
  }

  /** The same index with an overlay: removed ids and changed records. Unknown ids are ignored. */
  withOverlay({ removed, changed }: AppliedOverlay): PackedIndex {
    const { release, options } = this.#opened;
    const view = new PackedIndex(release, this.#pack, options, this);
    const hidden = new Bitset(this.columns.size);
    const side: SideRecord[] = [];
    for (const id of removed) {
      const ordinal = this.columns.keys.find(id);
      if (ordinal !== null) hidden.add(ordinal);
    }
    for (const { record, unpublished, version } of changed) {
      const ordinal = this.columns.keys.find(record.id);
      if (ordinal === null || hidden.has(ordinal)) continue;
      side.push({ ordinal, record, terms: recordTerms(this.#pack, record, unpublished) });
      view.#changed.set(ordinal, new ChangedText(record, version, this.#pack));
    }
    for (const { ordinal } of side) hidden.add(ordinal);
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

  /** The first ordinals that match, ascending. */
  matching({ ways, limit }: MatchPlan): number[] {
    const ordinals = new Set<number>();
    for (const where of ways) {
      visit(this.columns, matcherFor(this.columns, where, this.#removed), (ordinal) => ordinals.add(ordinal));
      for (const { ordinal } of this.#side?.matching(where) ?? []) ordinals.add(ordinal);
    }
    return [...ordinals].sort((a, b) => a - b).slice(0, limit);
  }

  /**
   * JSON texts of StoredRecords in the order of `ordinals`. `version`: the hash of the content, for the ETag.
   */
  stored(ordinals: number[]): { body: string; version: string }[] {
    return ordinals.map((ordinal) => {
      const changed = this.#changed.get(ordinal);
      if (changed) return { body: JSON.stringify(changed.record), version: changed.version };
      return { body: this.bodies.stored(ordinal).toString(), version: this.bodies.version(ordinal) };
    });
  }

  /** Slugs and dates in the order of `ordinals`, without a read from the disk. */
  heads(ordinals: number[]): RecordHead[] {
    const updated = this.columns.numbers('updated');
    return ordinals.map((ordinal) => {
      const { slug, updated_at } = this.#changed.get(ordinal)?.record ?? {
        slug: this.columns.keys.slug(ordinal),
        updated_at: isoTime(updated.at(ordinal)),
      };
      return { slug, updated_at };
    });
  }

  /**
   * The JSON of a record as it is sent at `now`. Null when the pack lost an attribute: the caller then renders the
   * stored body.
   */
  text(ordinal: number, now: Date, renderer: RecordRenderer): RecordText | null {
    if (!this.#plain) return null;
    return this.#changed.get(ordinal)?.text(now, renderer) ?? this.bodies.text(ordinal, now, renderer);
  }

  /** Highest score first. Null when `differBy` is not a text attribute. */
  similar(plan: SimilarPlan): Scored[] | null {
    const { subject, where, differBy, scope = 'full', limit } = plan;
    if (differBy !== null && !TEXTUAL.has(this.columns.attribute(differBy).type)) return null;
    const { test } = matcherFor(this.columns, where, this.#removed, 0);
    const text = differBy === null ? null : this.#folded(subject, differBy);
    const differs = differBy === null ? null : this.#differs(text, differBy);
    const { terms, keys } = this.columns;
    const changed = this.#side?.at(subject);
    const words = changed ? changedSubject(terms, changed, scope) : storedSubject(terms, subject, scope);
    const allowed = (ordinal: number) => (differs === null || differs(ordinal)) && (test === null || test(ordinal));
    const hits = (scope === 'public' ? similarByPublicWords : similarRecords)(terms, keys, plan, words, allowed);
    if (!this.#side) return hits;
    return [...hits, ...similarChanged(this.#side, plan, words, text)]
      .sort((a, b) => b.score - a.score || keys.compare(a.ordinal, b.ordinal))
      .slice(0, limit);
  }

  /** The folded text of a record; null without one, and for lists of texts. */
  #folded(ordinal: number, name: string): string | null {
    const values = this.columns.values(name);
    if (!values.single) return null;
    const changed = this.#changed.get(ordinal);
    if (changed) return this.#side!.sortValue(changed.record, name) as string | null;
    const code = values.code(ordinal);
    return code < 0 ? null : values.folded.at(code);
  }

  /**
   * Tests for another folded text than the subject's; records without a value are left out (contract section 2).
   */
  #differs(subject: string | null, name: string): (ordinal: number) => boolean {
    const values = this.columns.values(name);
    if (!values.single) return () => true;
    const code = subject === null ? -1 : values.folded.find(subject);
    return (ordinal) => values.code(ordinal) !== -1 && values.code(ordinal) !== code;
  }

  close(): void {
    this.bodies.close();
  }
}

/**
 * Merges a page of the index and the matching changed records in sort order. `found` is the answer to the
 * same plan without the changed records.
 */
function merge(columns: Columns, side: SideTable, plan: SearchPlan, searchAnswer: SearchAnswer): SearchAnswer {
  const matches = side.matching(plan.where);
  if (matches.length === 0) return searchAnswer;
  const position = positionsOf(columns, plan.sort);
  const changedPosition = changedPositionsOf(columns, side, plan.sort);
  const changed = matches
    .map((match) => ({ ordinal: match.ordinal, ...changedPosition(match) }))
    .filter((entry) => plan.after === null || comparePositions(plan.sort, entry, plan.after) > 0);
  const page = searchAnswer.ordinals.map((ordinal) => ({ ordinal, ...position(ordinal) }));
  // When the index has more pages, changed records after its last record belong to a later page.
  const last = searchAnswer.next && page.at(-1);
  const here = last ? changed.filter((entry) => comparePositions(plan.sort, entry, last) < 0) : changed;
  const merged = [...page, ...here].sort((a, b) => comparePositions(plan.sort, a, b));
  const kept = merged.slice(0, plan.limit);
  const more = searchAnswer.next !== null || merged.length > plan.limit || here.length < changed.length;
  return {
    ordinals: kept.map(({ ordinal }) => ordinal),
    next: more ? endOf(kept.at(-1)) : null,
    total: searchAnswer.total === null ? null : searchAnswer.total + matches.length,
    ...(searchAnswer.metres ? { metres: kept.map(({ value }) => Number(value)) } : {}),
  };
}

function endOf(entry: (Position & { ordinal: number }) | undefined): Position | null {
  if (!entry) return null;
  const { ordinal: _, ...position } = entry;
  return position;
}
