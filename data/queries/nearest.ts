// The records that an unknown id, slug or key probably means.
import { words } from '../../packs/define/text.ts';
import { printable } from '../input/parse-values.ts';
import { searchParameters } from '../input/search-parameters.ts';
import { questionOf, visibleSort } from '../input/selection.ts';
import { DataError } from '../model/errors.ts';
import type { StoredRecord } from '../model/record.ts';
import { WorkBudget } from '../plan/budget.ts';
import type { QueryOptions } from '../plan/plan.ts';
import { keyConditions } from '../plan/record-keys.ts';
import type { Release } from '../releases/release.ts';
import { listedFilter } from './gone.ts';
import { suggestWords } from './suggestion.ts';

/** Most records that an error names. */
const MOST = 3;

/** A record as an error names it. */
type NearRecord = Pick<StoredRecord, 'id' | 'slug' | 'name'>;

/**
 * The 404 of a text that names no record. `detail.nearest`: at most 3 listed records that share the key, or have its
 * words in public text. `parameter` is where the text is from, if not the path.
 */
export async function unknownEntity(
  release: Pick<Release, 'engine' | 'pack'>,
  ref: string,
  options: QueryOptions,
  parameter?: string,
): Promise<DataError> {
  const nearest = await nearestRecords(release, ref, options).catch(() => []);
  const where = parameter === undefined ? '' : `${parameter}: `;
  const message = `${where}${release.pack.id} has no record "${printable(ref)}".`;
  return new DataError('unknown_entity', message, { nearest });
}

async function nearestRecords(
  { engine, pack }: Pick<Release, 'engine' | 'pack'>,
  ref: string,
  options: QueryOptions,
): Promise<NearRecord[]> {
  const budget = new WorkBudget();
  const shared = await budget.run(async () =>
    engine.matching({ ways: keyConditions(pack, ref), limit: MOST }, options),
  );
  const ordinals = new Set(shared);
  /** Adds the best matches; returns the conditions besides the words. */
  const add = async (q: string) => {
    const input = searchParameters.parse({ q, sort: 'relevance', ...listedFilter(pack) }, pack);
    const sort = visibleSort(input.sort, 'public', pack);
    const plan = { where: questionOf(input, 'public'), sort, after: null, limit: MOST, total: false };
    const page = await budget.run(() => engine.search(plan, options));
    for (const ordinal of page.ordinals) ordinals.add(ordinal);
    return input.where;
  };
  if (words(ref).length > 0 && !budget.spent) {
    const where = await add(ref);
    const other = ordinals.size === 0 ? await suggestWords({ engine }, ref, where, budget, options) : null;
    if (other !== null) await add(other.q);
  }
  const bodies = await engine.bodies([...ordinals].slice(0, MOST), options);
  return bodies.map(({ body }) => {
    const { id, slug, name } = JSON.parse(body) as StoredRecord;
    return { id, slug, name };
  });
}
