// Compares records on some columns (specification section 4, "Dataset-level endpoints").
import type { Value } from '../../packs/define/model.ts';
import type { CompareInput } from '../input/analysis-parameters.ts';
import { questionOf } from '../input/selection.ts';
import type { Provenance } from '../model/record.ts';
import type { QueryOptions } from '../plan/plan.ts';
import { momentOf } from '../plan/predicates.ts';
import type { Release } from '../releases/release.ts';
import { releaseAsOf, timeAsOf } from './as-of.ts';
import { type PresentOptions, presentRecord } from './present.ts';

/** One record of a comparison; `values` and `provenance` have the same keys. */
export interface ComparedRecord {
  id: string;
  slug: string;
  name: string;
  values: Record<string, Value>;
  provenance: Record<string, Provenance>;
}

export interface Comparison {
  columns: string[];
  /** In the order of the request. */
  items: ComparedRecord[];
  /** Unknown or filtered-out ids and slugs, as the client sent them. */
  missing: string[];
}

/** Returns the matching records with the requested columns. */
export async function compare(release: Release, input: CompareInput, presenting: PresentOptions): Promise<Comparison> {
  const { ids, columns } = input;
  const as_of = momentOf(input.where);
  const { pack, engine } = releaseAsOf(release, as_of);
  const then = { ...presenting, now: timeAsOf(as_of, presenting.now) };
  const options: QueryOptions = presenting.signal ? { signal: presenting.signal } : {};
  const refs = ids.map((id) => id.toLowerCase());
  const ordinals = await engine.resolve(refs, options);
  const matched = await matching(engine, refs, ordinals, input, options);
  const bodies = await engine.bodies(matched, options);
  const items = ordinals.flatMap((ordinal) => {
    const place = ordinal === null ? -1 : matched.indexOf(ordinal);
    if (place < 0) return [];
    const { id, slug, name, attributes, provenance } = presentRecord(bodies[place]!.body, pack, then, columns);
    return [{ id, slug, name, values: attributes, provenance }];
  });
  const missing = ids.filter((_, index) => !matched.includes(ordinals[index] ?? -1));
  return { columns, items, missing };
}

/** Ordinals of the requested records that match the filters. */
async function matching(
  engine: Release['engine'],
  refs: string[],
  ordinals: readonly (number | null)[],
  input: CompareInput,
  options: QueryOptions,
): Promise<number[]> {
  const matches = [...new Set(ordinals.filter((ordinal) => ordinal !== null))];
  const where = questionOf(input);
  if (where.length === 0 || matches.length === 0) return matches;
  const sort = { key: 'quality', descending: true };
  const ids = { kind: 'ids' as const, refs: [...refs].sort() };
  const page = await engine.search(
    { where: [...where, ids], sort, after: null, limit: refs.length, total: false },
    options,
  );
  return page.ordinals;
}
