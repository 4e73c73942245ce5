// Search across datasets by public names and keys (contract section 9, "Across datasets").
import type { Pack } from '../../packs/define/model.ts';
import { fold, words } from '../../packs/define/text.ts';
import { nameWords } from '../consolidate/engine-values.ts';
import { searchParameters } from '../input/search-parameters.ts';
import { questionOf, visibleSort } from '../input/selection.ts';
import type { StoredRecord } from '../model/record.ts';
import { WorkBudget } from '../plan/budget.ts';
import type { QueryOptions } from '../plan/plan.ts';
import { NAME_SCORES, nameScore } from '../plan/relevance.ts';
import type { Release } from '../releases/release.ts';
import { suggestWords } from './suggestion.ts';

/** A record, or a dataset (`slug` is null), that a search across datasets lists. */
export interface RegisterMatch {
  pack: Pack;
  id: string;
  slug: string | null;
  name: string;
}

/** Rank of a match: the class of its name, then its place in the search of its dataset. */
type Ranked = RegisterMatch & { score: number; place: number };

/** Above the scores of names: a key of the record, or the name of a dataset. */
const KEY_SCORE = NAME_SCORES.exact + 1;

/**
 * The best matches of all releases: keys, then exact names, other names, beginnings of names, and other public texts;
 * within these classes the datasets take turns.
 */
export async function searchAll(
  releases: readonly Release[],
  q: string,
  limit: number,
  options: QueryOptions,
): Promise<RegisterMatch[]> {
  const matches = await matchesOf(releases, q, limit, options);
  if (matches.length === 0) {
    const others = await otherWords(releases, q, options);
    for (const { release, text } of others) matches.push(...(await recordsOf(release, text, limit, options)));
  }
  return matches.sort((a, b) => b.score - a.score || a.place - b.place).slice(0, limit);
}

async function matchesOf(
  releases: readonly Release[],
  q: string,
  limit: number,
  options: QueryOptions,
): Promise<Ranked[]> {
  const matches: Ranked[] = [];
  for (const release of releases)
    matches.push(...datasetMatch(release.pack, q), ...(await recordsOf(release, q, limit, options)));
  return matches;
}

/** The suggested words of each dataset with the fewest words left out. */
async function otherWords(
  releases: readonly Release[],
  q: string,
  options: QueryOptions,
): Promise<{ release: Release; text: string }[]> {
  const suggestions: { release: Release; text: string; dropped: number }[] = [];
  for (const release of releases) {
    const suggestion = await suggestWords(release, q, [], new WorkBudget(), options);
    const dropped = suggestion?.changes.filter(({ use }) => use === undefined).length ?? 0;
    if (suggestion !== null) suggestions.push({ release, text: suggestion.q, dropped });
  }
  const least = Math.min(...suggestions.map(({ dropped }) => dropped));
  return suggestions.filter(({ dropped }) => dropped <= least);
}

/** The dataset, if its id, title and keywords have all words. */
function datasetMatch(pack: Pack, q: string): Ranked[] {
  const terms = new Set(words([pack.id, pack.title, ...pack.keywords].join(' ')));
  const all = words(q).every((word) => terms.has(word));
  return all ? [{ pack, id: pack.id, slug: null, name: pack.title, score: KEY_SCORE, place: 0 }] : [];
}

async function recordsOf(
  { engine, pack }: Release,
  q: string,
  limit: number,
  options: QueryOptions,
): Promise<Ranked[]> {
  const [named = null] = await engine.resolve([q.trim().toLowerCase()], options);
  const input = searchParameters.parse({ q, sort: 'relevance' }, pack);
  const sort = visibleSort(input.sort, 'public', pack);
  const page = await engine.search(
    { where: questionOf(input, 'public'), sort, after: null, limit, total: false },
    options,
  );
  const ordinals = [...new Set([...(named === null ? [] : [named]), ...page.ordinals])];
  const bodies = await engine.bodies(ordinals, options);
  return ordinals.map((ordinal, place) => {
    const record = JSON.parse(bodies[place]!.body) as StoredRecord;
    const { id, slug, name, attributes } = record;
    const texts = (sort.relevance?.names ?? []).flatMap((attribute) => attributes[attribute] ?? []);
    const other = texts.some((text) => fold(String(text)) === input.text);
    const prominent = attributes[pack.serving.prominence ?? ''] !== 0;
    const score = ordinal === named ? KEY_SCORE : (nameScore(nameWords(name), nameWords(q), other, prominent) ?? 0);
    return { pack, id, slug, name, score, place };
  });
}
