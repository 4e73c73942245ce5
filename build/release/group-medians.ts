// The group median for each first value that is far from it, computed from the values of the group at that
// moment.
import { type Duck, quotedText } from '../../data/duckdb/duck.ts';
import type { Attribute, Pack } from '../../packs/define/model.ts';

/** Other records that a group needs before it has a median. */
const GROUP_LEAST = 5;

/**
 * Key `entity attribute at` (milliseconds), value the median; only for values that may be further than `jump`
 * from it.
 */
export type GroupMedians = ReadonlyMap<string, number>;

export const medianKey = (entity: string, attribute: string, at: number): string => `${entity} ${attribute} ${at}`;

/** Attributes whose first values are compared with their group. */
const compared = ({ attributes }: Pack): Attribute[] =>
  attributes.filter(({ jump, group_jump, once }) => jump !== null && group_jump && !once);

/**
 * Compares every first value with its group at the moment of its observation, so that later values change
 * nothing. `facts` is a query with FACT_COLUMNS. A record belongs to the first group that a fact gave it; the
 * lower end of a range counts; a median of 0 bounds nothing.
 */
export async function groupMedians(duck: Duck, pack: Pack, facts: string): Promise<GroupMedians> {
  const attributes = compared(pack);
  if (attributes.length === 0) return new Map();
  const jumps = attributes.map(({ name, jump }) => `(${quotedText(name)}, ${jump}::DOUBLE)`).join(', ');
  const rows = await duck.rows(`
    WITH facts AS (
      SELECT entity, attribute, value, observed_at AS observed, run, source FROM ${facts}
      WHERE source_kind = 'collector' AND value IS NOT NULL AND confidence >= ${pack.consolidation.floor}
    ), bounds AS (
      SELECT * FROM (VALUES ${jumps}) AS bounds(attribute, jump)
    ), members AS (
      SELECT entity, arg_min(value, ROW(observed, run, source)) AS grp FROM facts
      WHERE attribute = ${quotedText(pack.group_by)} GROUP BY entity
    ), numbers AS (
      SELECT entity, attribute, observed, run, source, coalesce(TRY_CAST(value AS DOUBLE), TRY_CAST(value->>'$.min' AS DOUBLE)) AS n
      FROM facts WHERE attribute IN (SELECT attribute FROM bounds)
    ), firsts AS (
      SELECT entity, attribute, min(observed) AS observed FROM numbers WHERE n IS NOT NULL GROUP BY ALL
    ), moments AS (
      SELECT DISTINCT grp, attribute, observed FROM firsts JOIN members USING (entity)
    ), known AS (
      SELECT grp, m.attribute, m.observed, x.entity, arg_max(n, ROW(x.observed, x.run, x.source)) AS n
      FROM moments m JOIN members USING (grp) JOIN numbers x ON x.entity = members.entity AND x.attribute = m.attribute AND x.observed <= m.observed
      WHERE n IS NOT NULL GROUP BY ALL
    ), sorted AS (
      SELECT grp, attribute, observed, list_sort(list(n)) AS all_n FROM known GROUP BY ALL HAVING count(*) > ${GROUP_LEAST}
    ), others AS (
      -- Places of the two middle ones among the others, of which there is one less than in the list.
      SELECT entity, attribute, observed, all_n, list_position(all_n, known.n) AS own, len(all_n) // 2 AS low, (len(all_n) + 1) // 2 AS high
      FROM firsts JOIN known USING (entity, attribute, observed) JOIN sorted USING (grp, attribute, observed)
    ), medians AS (
      SELECT entity, attribute, observed, (all_n[low + (low >= own)::INT] + all_n[high + (high >= own)::INT]) / 2 AS median FROM others
    )
    SELECT DISTINCT entity, attribute, epoch_ms(observed), median FROM medians JOIN bounds USING (attribute) JOIN numbers USING (entity, attribute, observed)
    WHERE median <> 0 AND NOT coalesce(n / median BETWEEN 1.000001 / jump AND jump / 1.000001, false)`);
  return new Map(
    rows.map(([entity, attribute, at, median]) => [
      medianKey(String(entity), String(attribute), Number(at)),
      Number(median),
    ]),
  );
}
