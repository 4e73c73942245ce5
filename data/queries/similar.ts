// Similar: the records whose words overlap most with those of one record (specification section 4, "Record endpoints").

import type { SimilarInput } from '../input/parse-analysis.ts';
import { questionOf } from '../input/parse-selection.ts';
import { shown } from '../input/parse-values.ts';
import { DataError } from '../model/errors.ts';
import type { PublicRecord } from '../model/record.ts';
import type { Release } from '../releases/release.ts';
import type { Found } from './found.ts';
import type { Presenting } from './present.ts';

/** A record with the share of words it has in common with the subject, above 0 and at most 1, to six decimals. */
export type SimilarRecord = PublicRecord & { score: number };

/**
 * Best first, ties by id: of the words that either record has in the attributes that the pack compares, the share that
 * both have (Jaccard); records below the pack's least score are left out. Exact: every record that the filters let through is compared. Throws `unknown_entity` (404).
 */
export async function similar(
  release: Release,
  ref: string,
  input: SimilarInput,
  presenting: Presenting,
): Promise<Found> {
  const { pack, engine } = release;
  const [subject] = await engine.resolve([ref.toLowerCase()], presenting);
  if (subject === null || subject === undefined)
    throw new DataError('unknown_entity', `${pack.id} has no record "${shown(ref)}".`);
  const { limit, differ_by, fields } = input;
  const scope = presenting.visibility;
  const minScore = pack.serving.similar_min_score;
  const plan = { subject, where: questionOf(input, scope), scope, differBy: differ_by, minScore, limit };
  const best = await engine.similar(plan, presenting);
  return {
    release,
    ordinals: best.map(({ ordinal }) => ordinal),
    fields,
    scores: best.map(({ score }) => Math.max(1e-6, Number(score.toFixed(6)))),
  };
}
