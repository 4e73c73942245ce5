// An engine that takes keys of records wherever it takes ids and slugs (contract section 9, "Keys in place of ids").
import type { Pack } from '../../packs/define/model.ts';
import type { Engine, Predicate, QueryOptions } from '../plan/plan.ts';
import { hasKeys, keyConditions, listedCondition } from '../plan/record-keys.ts';

const ID = /^r-[0-9a-f]{16}$/;

/** The queries whose conditions may name records. */
const SELECTING = ['search', 'facets', 'similar', 'stats', 'timeseries', 'changelog'] as const;

/**
 * The engine with keys. An id or slug comes first, also that of a removed record, which names none; then the only
 * record with the key, or the only listed one.
 *
 * @example
 * ```ts
 * const [ordinal] = await acceptKeys(engine, airports).resolve(['zrh']); // null: none, or several listed airports
 * ```
 */
export function acceptKeys(engine: Engine, pack: Pack, release: Engine = engine): Engine {
  if (!hasKeys(pack)) return engine;
  const listed = listedCondition(pack);

  const only = (ref: string, also: Predicate[], options?: QueryOptions): Promise<number[]> =>
    engine.matching({ ways: keyConditions(pack, ref).map((where) => [...where, ...also]), limit: 2 }, options);

  const byKey = async (ref: string, options?: QueryOptions): Promise<number | null> => {
    const matches = await only(ref, [], options);
    if (matches.length < 2 || listed.length === 0) return matches.length === 1 ? matches[0]! : null;
    const live = await only(ref, listed, options);
    return live.length === 1 ? live[0]! : null;
  };

  const resolve: Engine['resolve'] = async (refs, options) => {
    const ordinals = await engine.resolve(refs, options);
    const unknown = refs.filter((ref, i) => ordinals[i] === null && !ID.test(ref));
    if (unknown.length === 0) return ordinals;
    const removed = await release.resolve(unknown, options);
    const ordinalOf = new Map<string, number | null>();
    // One after another, so that many keys wait in the queue of an engine once.
    for (const [i, key] of unknown.entries()) if (removed[i] === null) ordinalOf.set(key, await byKey(key, options));
    return refs.map((ref, i) => ordinals[i] ?? ordinalOf.get(ref) ?? null);
  };

  /** The plan with slugs in place of keys. */
  const named = async <P extends { where: Predicate[] }>(plan: P, options?: QueryOptions): Promise<P> => {
    const where = plan.where.map(async (condition): Promise<Predicate> => {
      if (condition.kind !== 'ids') return condition;
      const ordinals = await resolve(condition.refs, options);
      const matches = [...new Set(ordinals.filter((ordinal) => ordinal !== null))];
      const heads = await engine.heads(matches, options);
      const slugOf = new Map(matches.map((ordinal, i) => [ordinal, heads[i]!.slug]));
      return { kind: 'ids', refs: condition.refs.map((ref, i) => slugOf.get(ordinals[i] ?? -1) ?? ref) };
    });
    return { ...plan, where: await Promise.all(where) };
  };
  const selecting = SELECTING.map((query) => {
    const run = engine[query] as (plan: { where: Predicate[] }, options?: QueryOptions) => Promise<unknown>;
    const runNamed: typeof run = (plan, options) =>
      plan.where.some(({ kind }) => kind === 'ids')
        ? named(plan, options).then((resolved) => run(resolved, options))
        : run(plan, options);
    return [query, runNamed];
  });
  return {
    ...engine,
    ...(Object.fromEntries(selecting) as Pick<Engine, (typeof SELECTING)[number]>),
    resolve,
    withOverlay: (overlay) => acceptKeys(engine.withOverlay(overlay), pack, release),
  };
}
