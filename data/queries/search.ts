// Search: the input becomes one plan, an engine selects a page, the page is rendered (specification section
// 4, "Search").

import { type Cursors, EXAMPLE_CURSORS } from '../input/cursor.ts';
import { FORMATS } from '../input/formats.ts';
import { printable } from '../input/parse-values.ts';
import type { SearchInput } from '../input/search-parameters.ts';
import { questionOf, visibleSort } from '../input/selection.ts';
import type { SearchAnswer } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';
import { orderHint, whyEmpty } from './hints.ts';
import type { PresentOptions } from './present.ts';
import type { RecordList } from './record-page.ts';

/** A page of records. `next_cursor` is null on the last one. */
export interface SearchPage {
  list: RecordList;
  next_cursor: string | null;
  total?: number;
  /**
   * Hint on a first page: why it is empty, or that more records match and the order is by quality, not
   * relevance.
   */
  hint?: string;
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
type SearchOptions = PresentOptions & { admin?: boolean; cursors?: Cursors };

/** One page. A preview matches words of public attributes only and is cut to the remaining previews. */
export async function search(release: Release, input: SearchInput, presenting: SearchOptions): Promise<SearchPage> {
  const { pack, engine, manifest } = release;
  const limit = Math.min(input.limit, presenting.previews ?? input.limit);
  const { sort, total } = input;
  const { cursors = EXAMPLE_CURSORS } = presenting;
  const where = questionOf(input, presenting.visibility);
  const order = visibleSort(sort, input.cursor?.scope === 'public' ? 'public' : presenting.visibility, pack);
  const plan = { where, sort: order, after: input.cursor?.after ?? null, limit, total };
  const page = await engine.search(plan, presenting);
  const hint = await hintOf(release, input, page, presenting);
  const question = { dataset: pack.id, where: questionOf(input), sort: order };
  return {
    list: { release, ordinals: page.ordinals, fields: input.fields, ...distances(page) },
    next_cursor: page.next && cursors.write(question, manifest.release, page.next),
    ...(page.total === null ? {} : { total: page.total }),
    ...(hint === undefined ? {} : { hint }),
  };
}

/** Distances in kilometres with three decimals, when the page is sorted by them. */
function distances({ metres }: SearchAnswer): Pick<RecordList, 'figures'> {
  return metres ? { figures: { member: 'distance_km', values: metres.map((each) => each / 1000) } } : {};
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
  return missing.length === 0 ? undefined : `No record has the id or slug ${missing.map(printable).join(', ')}.`;
}

/** Only formats with a place for it have a hint, and only on the first page. */
async function hintOf(release: Release, input: SearchInput, page: SearchAnswer, options: SearchOptions) {
  if (input.cursor !== null || !FORMATS[input.format].hint) return undefined;
  if (page.ordinals.length > 0)
    return (await missingHint(release, input, options)) ?? (page.next === null ? undefined : orderHint(input));
  // The page is complete: an error in the hint must not fail the search.
  return whyEmpty(release, input, { ...options, admin: options.admin ?? false }).catch(() => undefined);
}
