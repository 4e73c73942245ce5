// The packed index behind the Engine interface: gets, searches, radius, words and countable facets.
import { join } from 'node:path';
import type { Pack } from '../../packs/model.ts';
import type { FacetAnswer, FacetPlan, Predicate, SearchAnswer, SearchPlan } from '../plan.ts';
import type { Bitset } from './bitset.ts';
import { Bodies } from './bodies.ts';
import { INDEX_FILES, INDEX_FOLDER } from './build.ts';
import { Columns } from './columns.ts';
import { Container, IndexDamaged } from './container.ts';
import { countable, facets } from './facets.ts';
import { select, selection } from './select.ts';
import { type Scored, similar } from './similar.ts';

/** An open index. Every method may throw IndexDamaged; the caller then asks DuckDB. */
export class PackedIndex {
  readonly columns: Columns;
  readonly bodies: Bodies;
  /** Bytes that the index keeps in memory, without the bodies. */
  readonly bytes: number;
  readonly #removed: Bitset | null = null;

  /** Opens the index of a release folder. Throws IndexDamaged when it is missing, half written or changed. */
  constructor(release: string, pack: Pack, options: { bodiesInMemory?: number; records: number }) {
    const folder = join(release, INDEX_FOLDER);
    const container = new Container(join(folder, INDEX_FILES.columns));
    this.bytes = container.bytes;
    this.columns = new Columns(container, pack);
    if (this.columns.size !== options.records) {
      throw new IndexDamaged(`the index holds ${this.columns.size} records, the release ${options.records}`);
    }
    this.bodies = new Bodies(container, join(folder, INDEX_FILES.bodies), options.bodiesInMemory);
  }

  search(plan: SearchPlan): SearchAnswer {
    return select(this.columns, plan, this.#removed);
  }

  /** Null where the index does not keep the attribute's values by code. */
  facets(plan: FacetPlan): FacetAnswer | null {
    return countable(this.columns, plan.by) ? facets(this.columns, plan, this.#removed) : null;
  }

  resolve(refs: string[]): (number | null)[] {
    return refs.map((ref) => this.columns.keys.find(ref));
  }

  similar(subject: number, where: Predicate[], differBy: string | null, limit: number): Scored[] {
    const { test } = selection(this.columns, [...where], this.#removed);
    const differs = differBy === null ? () => true : this.#differs(subject, differBy);
    return similar(
      this.columns.terms,
      this.columns.keys,
      subject,
      limit,
      (ordinal) => differs(ordinal) && test(ordinal),
    );
  }

  /** Another value than the subject's; records without one are left out (contract section 2). */
  #differs(subject: number, name: string): (ordinal: number) => boolean {
    const { single, fold } = this.columns.values(name);
    if (!single) return () => true;
    const code = (ordinal: number) => (single[ordinal] === 0 ? -1 : fold[single[ordinal]! - 1]!);
    const own = code(subject);
    return (ordinal) => code(ordinal) !== -1 && code(ordinal) !== own;
  }

  close(): void {
    this.bodies.close();
  }
}
