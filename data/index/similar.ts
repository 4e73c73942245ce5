// Most similar records by word overlap: |A ∩ B| / |A ∪ B| over distinct words (Jaccard), exact, highest score first,
// ties by id.
//
// The rarest words of the subject are processed first. A candidate is scored when first met. The loop stops when the
// remaining words cannot raise a new candidate above the lowest score of the result.
import { fold } from '../../packs/define/text.ts';
import type { SimilarPlan, Visibility } from '../plan/plan.ts';
import { Bitset } from './bitset.ts';
import type { SideRecord, SideTable } from './changed-records.ts';
import type { Keys } from './keys.ts';
import type { Terms } from './terms.ts';

export interface Scored {
  ordinal: number;
  score: number;
}

/** The words of the subject that count. */
export interface SubjectWords {
  /** Codes of those that the index contains, ascending. */
  codes: Uint32Array;
  /** Number of all. */
  size: number;
  texts(): ReadonlySet<string>;
}

const FLAGS = { public: 'public', full: 'compared' } as const;

/** The words of a record of the index. */
export function storedSubject(terms: Terms, ordinal: number, scope: Visibility): SubjectWords {
  const codes = scope === 'public' ? Uint32Array.from(terms.publicWords(ordinal)) : terms.comparedByRecord.of(ordinal);
  return { codes, size: codes.length, texts: () => new Set(Array.from(codes, (code) => terms.words.at(code))) };
}

/** The words of a changed record. */
export function changedSubject(terms: Terms, changed: SideRecord, scope: Visibility): SubjectWords {
  const texts = countedWords(changed, scope);
  const codes = Uint32Array.from(texts, (word) => terms.words.find(word)).filter((code) => code !== MISSING);
  return { codes: codes.sort(), size: texts.size, texts: () => texts };
}

/** -1 of `find` as an unsigned number. */
const MISSING = 0xffff_ffff;

const countedWords = ({ terms }: SideRecord, scope: Visibility): Set<string> =>
  new Set([...terms].filter(([, flags]) => flags[FLAGS[scope]]).map(([word]) => word));

/** The `limit` most similar records to a subject among those that `allowed` accepts. */
export function similarRecords(
  terms: Terms,
  keys: Keys,
  { subject, limit, minScore = 0 }: Pick<SimilarPlan, 'subject' | 'limit' | 'minScore'>,
  { codes: mine, size }: SubjectWords,
  allowed: (ordinal: number) => boolean,
): Scored[] {
  const words = [...mine].sort((a, b) => terms.recordsByWord.count(a) - terms.recordsByWord.count(b));
  const seen = new Bitset(keys.size);
  seen.add(subject);
  const best: Scored[] = [];
  let worst = minScore;
  for (const [i, word] of words.entries()) {
    const left = words.length - i;
    // A record not met so far shares at most the words from here on.
    if (left / size < worst) break;
    const end = terms.recordsByWord.end(word);
    for (let p = terms.recordsByWord.start(word); p < end; p += 1) {
      const ordinal = terms.recordsByWord.list[p]! & 0x7fffffff;
      if (seen.has(ordinal)) continue;
      seen.add(ordinal);
      if (!possible(terms, ordinal, size, left, worst) || !allowed(ordinal)) continue;
      const score = overlap(terms, mine, size, ordinal);
      // The shared word may count for only one of the two records.
      if (score === 0 || score < minScore) continue;
      insert(best, { ordinal, score }, limit, keys);
      if (best.length === limit) worst = best[limit - 1]!.score;
    }
  }
  return best;
}

/**
 * The same with all words of public texts. The index marks public words by word, not by record, so all
 * postings of the subject's words are counted.
 */
export function similarByPublicWords(
  terms: Terms,
  keys: Keys,
  { subject, limit, minScore = 0 }: Pick<SimilarPlan, 'subject' | 'limit' | 'minScore'>,
  { codes, size }: SubjectWords,
  allowed: (ordinal: number) => boolean,
): Scored[] {
  const shared = new Map<number, number>();
  for (const word of codes)
    for (const ordinal of terms.publicRecords(word)) shared.set(ordinal, (shared.get(ordinal) ?? 0) + 1);
  shared.delete(subject);
  const counts = terms.publicCounts();
  const best: Scored[] = [];
  for (const [ordinal, common] of shared) {
    const score = common / (size + counts[ordinal]! - common);
    const least = best.length === limit ? best[limit - 1]!.score : minScore;
    if (score >= least && allowed(ordinal)) insert(best, { ordinal, score }, limit, keys);
  }
  return best;
}

/** Whether a record that shares at most `left` words with the subject can still reach a score. */
function possible(terms: Terms, ordinal: number, size: number, left: number, worst: number): boolean {
  const others = terms.comparedByRecord.count(ordinal);
  const shared = Math.min(left, others);
  return shared / (size + others - shared) >= worst;
}

/** Both word lists are ascending; `size` is the number of all words of the subject. */
function overlap({ comparedByRecord: of }: Terms, mine: Uint32Array, size: number, ordinal: number): number {
  const { list } = of;
  const start = of.start(ordinal);
  const end = of.end(ordinal);
  let shared = 0;
  for (let p = start, m = 0; p < end && m < mine.length; ) {
    const [theirs, ours] = [list[p]!, mine[m]!];
    if (theirs === ours) shared += 1;
    if (theirs <= ours) p += 1;
    if (theirs >= ours) m += 1;
  }
  return shared / (size + (end - start) - shared);
}

/** Inserts into the list sorted by score descending, then id, and cuts it to its limit. */
function insert(best: Scored[], scored: Scored, limit: number, keys: Keys): void {
  const before = (a: Scored, b: Scored) =>
    a.score > b.score || (a.score === b.score && keys.compare(a.ordinal, b.ordinal) < 0);
  let low = 0;
  let high = best.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(best[middle]!, scored)) low = middle + 1;
    else high = middle;
  }
  if (low >= limit) return;
  best.splice(low, 0, scored);
  if (best.length > limit) best.pop();
}

/**
 * Scores of matching changed records whose value of an attribute differs from `own`; records without a value
 * are left out.
 */
export function similarChanged(
  side: SideTable,
  { subject, where, differBy, scope = 'full', minScore = 0 }: SimilarPlan,
  { texts, size }: SubjectWords,
  text: string | null,
): Scored[] {
  const mine = texts();
  const differs = (value: unknown) => differBy === null || (value !== undefined && fold(String(value)) !== text);
  return side
    .matching(where)
    .filter(({ ordinal, record }) => ordinal !== subject && differs(record.attributes[differBy ?? '']))
    .map((changed) => {
      const theirs = countedWords(changed, scope);
      const shared = [...theirs].filter((word) => mine.has(word)).length;
      return { ordinal: changed.ordinal, score: shared / (size + theirs.size - shared) };
    })
    .filter(({ score }) => score > 0 && score >= minScore);
}
