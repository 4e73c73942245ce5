// Search: the input becomes one plan, the engine finds a page, the page is presented (specification section 4, "Search").
import { encodeCursor } from './cursor.ts';
import type { Found } from './found.ts';
import type { SearchInput } from './parse.ts';
import { questionOf } from './parse-selection.ts';
import type { Presenting } from './present.ts';
import type { Release } from './release.ts';

/** A page of records. `next_cursor` is null on the last one. */
export interface SearchPage {
  found: Found;
  next_cursor: string | null;
  total?: number;
}

/**
 * The release a search runs on: the one its cursor began on while that is kept, else the current one. On the current one
 * the walk goes on after the last record's sort value and id.
 */
export async function releaseFor(
  { cursor }: SearchInput,
  current: Release,
  earlier: (release: string) => Promise<Release | null>,
): Promise<Release> {
  if (cursor === null || cursor.release === current.manifest.release) return current;
  return (await earlier(cursor.release)) ?? current;
}

/** One page. A preview matches words of public attributes only and is shortened to the previews that are left. */
export async function search(release: Release, input: SearchInput, presenting: Presenting): Promise<SearchPage> {
  const { pack, engine, manifest } = release;
  const limit = Math.min(input.limit, presenting.previews ?? input.limit);
  const { sort, total } = input;
  const where = questionOf(input, presenting.visibility);
  const plan = { where, sort, after: input.cursor?.after ?? null, limit, total };
  const found = await engine.search(plan, presenting);
  const question = { dataset: pack.id, where: questionOf(input), sort };
  return {
    found: { release, ordinals: found.ordinals, fields: input.fields },
    next_cursor: found.next && encodeCursor(question, manifest.release, found.next),
    ...(found.total === null ? {} : { total: found.total }),
  };
}
