// The independent evaluator of the changelog: changes of records that match now, by plain loops over the
// history of their values.
import type { PublishedInterval, StoredRecord } from '../../data/model/record.ts';
import type { Pack, PriceRange, Value } from '../../packs/define/model.ts';
import { matching, type SearchQuery } from './evaluate.ts';
import { compare, keysOf } from './evaluate-analysis.ts';

const DAY = 86_400_000;

/** The two ends of a number or a range; null for other values and none. */
const ends = (value: Value | null): [number, number] | null => {
  if (typeof value === 'number') return [value, value];
  const { min, max } = (value ?? {}) as Partial<PriceRange>;
  return min === undefined || max === undefined ? null : [min, max];
};

/** A number in units of 1e-12, which subtract without rounding. */
function exact(value: number): bigint {
  const text = Math.abs(value) < 1 ? value.toFixed(12) : String(value);
  const [whole, fraction = ''] = text.split('.');
  return BigInt(`${whole}${fraction.padEnd(12, '0')}`);
}

/**
 * Items of the changelog in its order, all pages together. `order` is the ids of the release by ordinal;
 * `publicOnly`: words and statuses of public values only.
 */
export function evaluateChangelog(
  pack: Pack,
  records: StoredRecord[],
  order: readonly string[],
  history: readonly PublishedInterval[],
  query: SearchQuery,
  now: Date,
  publicOnly: boolean,
): object[] {
  const { days = '30', from, to, attribute, type = 'all', direction, min_change_percent: least, ...further } = query;
  const { entity, group_by: _, ...filters } = further;
  const start = (from ?? to) ? Date.parse(String(from ?? '1900-01-01')) : now.getTime() - Number(days) * DAY;
  const end = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(String(to));
  const only = attribute === undefined ? null : String(attribute).split(',');
  const open = new Set(pack.attributes.filter((each) => each.public).map(({ name }) => name));
  const chosen = new Set(matching(pack, records, filters, { publicOnly }).map(({ id }) => id));
  const names = new Map(records.map(({ id, slug, name }) => [id, { slug, name }]));
  const places = new Map(order.map((id, place) => [id, place]));
  const values = Map.groupBy(history, (one) => `${one.entity} ${one.attribute}`);
  const narrowed = Object.keys(filters).length > 0;
  const items: { at: number; place: number; item: Record<string, unknown> & { entity_id: string } }[] = [];
  for (const { entity: entity_id, attribute, value, from: since, source_url } of history) {
    const earlier = values.get(`${entity_id} ${attribute}`)!.filter((one) => one.from < since);
    const old = earlier.sort((a, b) => (a.from < b.from ? -1 : 1)).at(-1)?.value ?? null;
    const at = Date.parse(since);
    const kind = old === null ? 'added' : 'changed';
    // A record that is no longer published has no name.
    const { slug, name } = names.get(entity_id) ?? { slug: entity_id, name: entity_id };
    if (narrowed && !chosen.has(entity_id)) continue;
    if (entity !== undefined && slug !== String(entity).toLowerCase()) continue;
    if (at < start || at >= end || (type !== 'all' && type !== kind)) continue;
    if (only !== null && !only.includes(attribute)) continue;
    const [before, after] = open.has(attribute) ? [ends(old), ends(value)] : [null, null];
    const moved = [0, 1].map((i) => (before && after ? exact(after[i]!) - exact(before[i]!) : 0n)) as [bigint, bigint];
    // The end that moved less, of those that moved; none where they moved in opposite directions.
    const isTogether = moved[0] * moved[1] >= 0n;
    const isSmaller = moved[1] !== 0n && (moved[0] === 0n || moved[0] * moved[0] > moved[1] * moved[1]);
    const side = isTogether && isSmaller ? 1 : 0;
    const was = before === null ? null : before[side];
    const difference = before === null || after === null ? null : isTogether ? Number(`${moved[side]}e-12`) : 0;
    const sign = difference === null ? 0 : Math.sign(difference);
    const withdrawn = open.has(attribute) && old !== null && value === null;
    const moves = ['fall', isTogether ? undefined : 'range', 'rise'] as const;
    const move = withdrawn ? 'withdrawn' : moves[sign + 1];
    if (direction !== undefined && move !== String(direction).toLowerCase()) continue;
    const item: Record<string, unknown> & { entity_id: string } = { entity_id, slug, name, attribute, type: kind };
    if (open.has(attribute) && old !== null) item['old_value'] = old;
    if (open.has(attribute) && value !== null) item['new_value'] = value;
    if (move !== undefined) item['kind'] = move;
    if (difference !== null) item['change'] = difference;
    if (difference !== null && was !== 0)
      item['change_percent'] = Number(((100 * difference) / Math.abs(was!)).toFixed(2)) + 0;
    const percent = item['change_percent'] as number | undefined;
    if (least !== undefined && !(percent !== undefined && Math.abs(percent) >= Number(least))) continue;
    Object.assign(item, { observed_at: new Date(at).toISOString().replace('.000Z', 'Z'), source_url });
    items.push({ at, place: places.get(entity_id) ?? Number.POSITIVE_INFINITY, item });
  }
  const text = ({ item }: (typeof items)[number]) => `${item.entity_id} ${item['attribute']}`;
  /** At one time the compare columns come first, in their order. */
  const rank = ({ item }: (typeof items)[number]) => {
    const place = pack.compare.indexOf(item['attribute'] as string);
    return place < 0 ? pack.compare.length : place;
  };
  const first = (a: (typeof items)[number], b: (typeof items)[number]) =>
    b.at - a.at || rank(a) - rank(b) || (a.place === b.place ? 0 : a.place - b.place) || (text(a) < text(b) ? -1 : 1);
  return items.sort(first).map(({ item }) => item);
}

/** Items of the changelog counted by a key of their records, as `group_by` answers them. */
export function evaluateChangeGroups(items: readonly object[], records: readonly StoredRecord[], by: string): object[] {
  type Item = { entity_id: string; kind?: string; change_percent?: number };
  const groups = new Map<Value, Item[]>();
  const recordById = new Map(records.map((record) => [record.id, record]));
  for (const item of items as Item[])
    for (const key of keysOf(recordById.get(item.entity_id), by)) {
      const members = groups.get(key);
      if (members) members.push(item);
      else groups.set(key, [item]);
    }
  return [...groups]
    .sort(([a, itemsOfA], [b, itemsOfB]) => itemsOfB.length - itemsOfA.length || compare(a, b))
    .map(([group, members]) => {
      const percents = members.flatMap(({ change_percent: percent }) => percent ?? []).sort((a, b) => a - b);
      const middle = percents.length / 2;
      const [below, above] = [percents[Math.ceil(middle) - 1], percents[Math.floor(middle)]];
      return {
        ...{ group, items: members.length },
        rises: members.filter(({ kind }) => kind === 'rise').length,
        falls: members.filter(({ kind }) => kind === 'fall').length,
        ranges: members.filter(({ kind }) => kind === 'range').length,
        withdrawn: members.filter(({ kind }) => kind === 'withdrawn').length,
        ...(percents.length === 0 ? {} : { median_change_percent: (below! + above!) / 2 }),
      };
    });
}
