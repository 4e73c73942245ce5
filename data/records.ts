// Single records and batches, by id or slug (specification section 4, "Record endpoints").
import { DataError } from './errors.ts';
import type { PublicRecord } from './model.ts';
import type { BatchInput, GetInput } from './parse.ts';
import { shown } from './parse-values.ts';
import type { Asking } from './plan.ts';
import { type Presenting, present } from './present.ts';
import type { Release } from './release.ts';

/** Stored bodies of refs in the order asked; null where unknown. Letter case does not matter. */
async function find({ engine }: Release, refs: readonly string[], asking: Asking) {
  const ordinals = await engine.resolve(
    refs.map((ref) => ref.toLowerCase()),
    asking,
  );
  const known = [...new Set(ordinals.filter((ordinal) => ordinal !== null))];
  const bodies = await engine.bodies(known, asking);
  const byOrdinal = new Map(known.map((ordinal, index) => [ordinal, bodies[index]!]));
  return ordinals.map((ordinal) => (ordinal === null ? null : byOrdinal.get(ordinal)!));
}

const askingOf = ({ signal }: { signal?: AbortSignal }): Asking => (signal ? { signal } : {});

/** What changes when the record does, for its ETag; null: there is no such record. */
export async function recordVersion(release: Release, ref: string, signal?: AbortSignal): Promise<string | null> {
  const [stored] = await find(release, [ref], signal ? { signal } : {});
  return stored?.version ?? null;
}

/** One record with its version. Throws `unknown_entity` (404). */
export async function getRecord(
  release: Release,
  ref: string,
  { fields }: Pick<GetInput, 'fields'>,
  presenting: Presenting,
): Promise<{ record: PublicRecord; version: string }> {
  const [stored] = await find(release, [ref], askingOf(presenting));
  if (!stored) throw new DataError('unknown_entity', `${release.pack.id} has no record "${shown(ref)}".`);
  return { record: present(stored.body, release.pack, presenting, fields), version: stored.version };
}

/** Records in the order asked; ids and slugs that are unknown are listed in `missing`, as they were written. */
export async function getBatch(
  release: Release,
  { ids, fields }: Pick<BatchInput, 'ids' | 'fields'>,
  presenting: Presenting,
): Promise<{ items: PublicRecord[]; missing: string[] }> {
  const found = await find(release, ids, askingOf(presenting));
  return {
    items: found.filter((stored) => stored !== null).map(({ body }) => present(body, release.pack, presenting, fields)),
    missing: ids.filter((_, index) => found[index] === null),
  };
}
