// Search: the input becomes one plan, an engine selects a page, the page is rendered (specification section
// 4, "Search").

import type { Value } from '../../packs/define/model.ts';
import { type Cursors, EXAMPLE_CURSORS } from '../input/cursor.ts';
import { FORMATS } from '../input/formats.ts';
import { printable } from '../input/parse-values.ts';
import type { SearchInput } from '../input/search-parameters.ts';
import { questionOf, visibleSort } from '../input/selection.ts';
import type { GroupPlan, SearchAnswer } from '../plan/plan.ts';
import { momentOf } from '../plan/predicates.ts';
import type { Release } from '../releases/release.ts';
import { releaseAsOf } from './as-of.ts';
import { goneHint } from './gone.ts';
import { orderHint, whyEmpty } from './hints.ts';
import type { PresentOptions } from './present.ts';
import type { RecordList } from './record-page.ts';
import type { Suggestion } from './suggestion.ts';

/** A page of records. `next_cursor` is null on the last one. */
export interface SearchPage {
  list: RecordList;
  next_cursor: string | null;
  total?: number;
  /**
   * Hint on a first page: why it is empty, that more records match and the order is by quality, not
   * relevance, or that records without a listing may be among them.
   */
  hint?: string;
  /** Other words for a first page without records, whose conditions are public. */
  suggestion?: Suggestion;
}

/**
 * The release that a search runs on: the one of its cursor while it is available, else the current one. On
 * the current one the search continues after the cursor's sort value and id.
 */
export async function releaseFor(
  { cursor }: SearchInput,
  current: Release,
  earlier: (release: string) => Promise<Release | null>,
): Promise<Release> {
  if (cursor === null || cursor.release === current.manifest.release) return current;
  return (await earlier(cursor.release)) ?? current;
}

/** The caller. Hints contain nothing that facets withhold, except for admins. */
type SearchOptions = PresentOptions & { admin: boolean; cursors?: Cursors };

/**
 * One page. A preview matches words of public attributes only and is cut to the remaining previews.
 *
 * @example
 * ```ts
 * const page = await search(release, input, { visibility: 'public', admin: false, now: new Date(), base_url });
 * page.next_cursor; // null: the last page
 * ```
 */
export async function search(release: Release, input: SearchInput, presenting: SearchOptions): Promise<SearchPage> {
  const { pack, engine, manifest } = release;
  const { sort, total, group } = input;
  const most = presenting.previews ?? Number.POSITIVE_INFINITY;
  const { cursors = EXAMPLE_CURSORS } = presenting;
  const where = questionOf(input, presenting.visibility);
  const order = visibleSort(sort, input.cursor?.scope === 'public' ? 'public' : presenting.visibility, pack);
  const limit = Math.min(input.limit, most);
  const plan = { where, sort: order, after: input.cursor?.after ?? null, limit, total, ...(group ? { group } : {}) };
  let page = await engine.search(plan, presenting);
  if (page.groups && page.ordinals.length > most)
    page = await engine.search({ ...plan, limit: wholeGroups(page.groups, most) }, presenting);
  const hints = await hintsOf(release, input, page, presenting);
  const question = { dataset: pack.id, where: questionOf(input), sort: order, group_by: group?.by ?? null };
  const as_of = momentOf(where);
  return {
    list: {
      release: releaseAsOf(release, as_of),
      as_of,
      ordinals: page.ordinals,
      fields: input.fields,
      members: membersOf(page, group),
    },
    next_cursor: page.next && cursors.write(question, manifest.release, page.next),
    ...(page.total === null ? {} : { total: page.total }),
    ...hints,
  };
}

/** Number of groups of which the first `most` records of a longer list have all. */
const wholeGroups = (groups: readonly Value[], most: number): number => new Set(groups.slice(0, most + 1)).size - 1;

/** Distances in kilometres with three decimals, when the page is sorted by them, and groups. */
function membersOf({ ordinals, metres, groups }: SearchAnswer, group: GroupPlan | null): RecordList['members'] {
  if (!metres && !group) return undefined;
  return ordinals.map((_, i) => ({
    ...(metres ? { distance_km: metres[i]! / 1000 } : {}),
    ...(group ? { group: { [group.by]: groups![i]! } } : {}),
  }));
}

/** Hint that lists unknown ids and slugs when others match. The existence of a record is public. */
async function missingHint(
  { engine }: Release,
  { where }: SearchInput,
  options: SearchOptions,
): Promise<string | undefined> {
  const ids = where.find((condition) => condition.kind === 'ids');
  if (ids === undefined) return undefined;
  const ordinals = await engine.resolve(ids.refs, options);
  const missing = ids.refs.filter((_, i) => ordinals[i] === null);
  return missing.length === 0 ? undefined : `No record has the id, slug or key ${missing.map(printable).join(', ')}.`;
}

/** Only formats with a place for it have a hint, and only on the first page. */
async function hintsOf(
  release: Release,
  input: SearchInput,
  page: SearchAnswer,
  options: SearchOptions,
): Promise<Pick<SearchPage, 'hint' | 'suggestion'>> {
  if (input.cursor !== null || !FORMATS[input.format].hint) return {};
  if (page.ordinals.length > 0) {
    const missing = await missingHint(release, input, options);
    if (missing !== undefined) return { hint: missing };
    // A record with this attribute shows whether it is listed.
    const isShown = input.fields?.includes(release.pack.gone?.attribute ?? '') ?? true;
    const gone = isShown ? undefined : await goneHint(release, input);
    const hints = [orderHint(input, page), gone].filter((hint) => hint !== undefined);
    return hints.length === 0 ? {} : { hint: hints.join(' ') };
  }
  // The page is complete: an error in the hint must not fail the search.
  return whyEmpty(release, input, options).catch(() => ({}));
}
