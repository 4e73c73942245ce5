// What the page of a dataset shows about the rows of an address: lists of values with counts, and charts of columns.
import { type Attribute, DATED } from '../../packs/define/model.ts';
import { COUNTABLE, counted } from '../input/selection.ts';
import type { Predicate, QueryOptions } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';

/** Most attributes with a list, and values of one. */
const LISTS = { attributes: 8, values: 300 };
/** Parts of the chart of a column. */
const PARTS = { values: 6, bins: 20 };

const isListed = (attribute: Attribute): boolean =>
  attribute.public && counted(attribute) && ['enum', 'boolean'].includes(attribute.type);

type Source = Pick<Release, 'pack' | 'engine'>;

/**
 * The values of public attributes with few of them, most records first. Conditions on the values of an attribute do not
 * limit its own list.
 */
export async function choicesOf({ pack, engine }: Source, where: readonly Predicate[], options: QueryOptions = {}) {
  const choices: Record<string, [value: string, count: number][]> = {};
  const listed = pack.attributes.filter(isListed);
  for (const { name } of listed.slice(0, LISTS.attributes)) {
    const others = where.filter((condition) => condition.kind !== 'any' || condition.attribute !== name);
    const plan = { where: others, by: name, limit: LISTS.values, floor: 0 };
    const { values } = await engine.facets(plan, options);
    choices[name] = values.map(({ value, count }) => [String(value), count]);
  }
  return choices;
}

/** Distributions of public columns over the rows that match: bins of numbers, and the most common texts. */
export async function spreadsOf(
  { pack, engine }: Source,
  where: Predicate[],
  names: readonly string[],
  options: QueryOptions,
) {
  const spreads: Record<
    string,
    { count: number; distinct: null; bins?: [number, number, number][]; top?: [string, number][] }
  > = {};
  for (const attribute of pack.attributes.filter((column) => column.public && names.includes(column.name))) {
    const { name, type } = attribute;
    if (['integer', 'number', 'price'].includes(type)) {
      const plan = { where, attribute: name, by: [], groups: 1, buckets: PARTS.bins };
      const [group] = (await engine.stats(plan, options)).groups;
      const edge = (number: number) => (type === 'integer' ? Math.ceil(number) : number);
      const bins = (group?.histogram ?? []).flatMap(({ from, to, count }, at, all): [number, number, number][] =>
        count === 0 ? [] : [[edge(from), at === all.length - 1 && type === 'integer' ? to + 1 : edge(to), count]],
      );
      spreads[name] = { count: group?.figures.count ?? 0, distinct: null, ...(bins.length > 1 ? { bins } : {}) };
    } else if (DATED.includes(type)) {
      const plan = { where, by: `${name}:year`, limit: LISTS.values, floor: 0 };
      const { values, matched, missing } = await engine.facets(plan, options);
      const years = values.map(({ value, count }): [number, number, number] => [
        Number(value),
        Number(value) + 1,
        count,
      ]);
      const bins = years.sort(([a], [b]) => a - b);
      spreads[name] = { count: matched - missing, distinct: null, ...(bins.length > 1 ? { bins } : {}) };
    } else if (COUNTABLE.may(attribute) && type !== 'url') {
      const { values, matched, missing } = await engine.facets(
        { where, by: name, limit: PARTS.values, floor: 0 },
        options,
      );
      const top = values.map(({ value, count }): [string, number] => [String(value), count]);
      spreads[name] = { count: matched - missing, distinct: null, ...(top.length > 1 ? { top } : {}) };
    }
  }
  return spreads;
}
