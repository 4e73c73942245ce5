// Completeness and quality of a record, 0..1: the formula is in docs/releases.md, its weights in the pack.
import type { Attribute, Pack } from '../../packs/define/model.ts';

/**
 * A published value for the formula. `age`: hours between its confirmation and the dataset's newest reading.
 */
export interface ScoredValue {
  attribute: Attribute;
  confidence: number;
  age: number;
}

export interface Score {
  quality: number;
  completeness: number;
}

/**
 * Completeness: share of the total weight that attributes with a value have. Quality: completeness, mean
 * confidence and mean freshness of the values, both weighted by attribute, in the proportions of
 * `pack.quality`. Four decimals.
 */
export function scoreRecord(pack: Pack, present: readonly ScoredValue[]): Score {
  let all = 0;
  for (const { weight } of pack.attributes) all += weight;
  let weight = 0;
  let confidence = 0;
  let fresh = 0;
  for (const value of present) {
    weight += value.attribute.weight;
    confidence += value.attribute.weight * value.confidence;
    fresh += value.attribute.weight * freshness(value);
  }
  const completeness = all === 0 ? 0 : weight / all;
  const mean = (sum: number) => (weight === 0 ? 0 : sum / weight);
  const { quality } = pack;
  const total = quality.completeness + quality.confidence + quality.freshness;
  const score =
    quality.completeness * completeness + quality.confidence * mean(confidence) + quality.freshness * mean(fresh);
  return { quality: round(total === 0 ? 0 : score / total), completeness: round(completeness) };
}

/**
 * 1 up to the attribute's warning age, 0 from its error age on, linear between. The age is relative to the
 * dataset's newest reading, not the clock, so that a night without changes leaves it unchanged.
 */
function freshness({ attribute, age }: ScoredValue): number {
  const { warn, error } = attribute.sla;
  if (age <= warn) return 1;
  return age >= error ? 0 : (error - age) / (error - warn);
}

const round = (share: number) => Math.round(share * 10_000) / 10_000;
