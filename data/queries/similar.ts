// Similar records by overlap of words (specification section 4, "Record endpoints").

import type { SimilarInput } from '../input/analysis-parameters.ts';
import { printable } from '../input/parse-values.ts';
import { questionOf } from '../input/selection.ts';
import { DataError } from '../model/errors.ts';
import type { PublicRecord } from '../model/record.ts';
import { isoTime } from '../model/time.ts';
import { momentOf } from '../plan/predicates.ts';
import type { Release } from '../releases/release.ts';
import { recordsAsOf, releaseAsOf } from './as-of.ts';
import { unknownEntity } from './nearest.ts';
import type { PresentOptions } from './present.ts';
import type { RecordList } from './record-page.ts';

/** A record with its share of common words, above 0 and at most 1, six decimals. */
export type SimilarRecord = PublicRecord & { score: number };

/**
 * Similar records, highest score first, ties by id. The score is the Jaccard index over the words in the
 * attributes that the pack compares; scores below the pack's minimum are left out. Exact: every record that
 * matches the filters is compared. Throws `unknown_entity` (404).
 */
export async function getSimilar(
  release: Release,
  ref: string,
  input: SimilarInput,
  presenting: PresentOptions,
): Promise<RecordList> {
  const { pack, engine } = release;
  const [subject] = await engine.resolve([ref.toLowerCase()], presenting);
  if (subject === null || subject === undefined) throw await unknownEntity(release, ref, presenting);
  const as_of = momentOf(input.where);
  if (as_of !== null && (await recordsAsOf(release, [subject], as_of, presenting))[0] === null)
    throw new DataError('unknown_entity', `${pack.id} has no record "${printable(ref)}" as of ${isoTime(as_of)}.`);
  const { limit, differ_by, fields } = input;
  const scope = presenting.visibility;
  const minScore = pack.serving.similar_min_score;
  const plan = { subject, where: questionOf(input, scope), scope, differBy: differ_by, minScore, limit };
  const best = await engine.similar(plan, presenting);
  return {
    release: releaseAsOf(release, as_of),
    as_of,
    ordinals: best.map(({ ordinal }) => ordinal),
    fields,
    members: best.map(({ score }) => ({ score: Math.max(1e-6, Number(score.toFixed(6))) })),
  };
}
