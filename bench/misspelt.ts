// Misspelt and combined searches of people who type quickly, equal for equal seeds.
import { misspelt } from '../tests/near-misses/foreign-names.ts';
import { pickOne, random } from '../tests/support/random-records.ts';
import type { Drawn } from './draw.ts';
import type { Subject } from './subject.ts';

/** Searches of one part of the stalls. */
export const MISSPELT = { count: 200, seed: 41, aSecond: 20 };

/** `count` addresses of searches, most of which find nothing. */
export function misspeltSearches(
  { dataset, shape }: Pick<Subject, 'dataset' | 'shape'>,
  { names, areas, points }: Pick<Drawn, 'names' | 'areas' | 'points'>,
  { count, seed }: { count: number; seed: number } = MISSPELT,
): string[] {
  const next = random(seed);
  const word = () => pickOne(next, pickOne(next, names).split(' '));
  const wrong = () => misspelt(word().padEnd(3, 'a'), next);
  const area = () => pickOne(next, areas);
  const point = () => pickOne(next, points);
  const several = (most: number, make: () => string) => Array.from({ length: 1 + Math.floor(next() * most) }, make);
  const conditions: (() => [name: string, value: string])[] = [
    () => [shape.group, pickOne(next, ['xx', 'zz,yy', wrong(), area().group])],
    () => [shape.area, several(3, () => misspelt(area().area.toLowerCase(), next)).join()],
    () => [`not_${shape.area}`, area().area],
    () => ['name', pickOne(next, [wrong(), several(100, wrong).join()])],
    () => ['like_name', pickOne(next, ['a', 'an', 'zqx', wrong(), word()])],
    () => [`min_${shape.number}`, pickOne(next, ['1', '100000', '1000000000'])],
    () => [`max_${shape.number}`, pickOne(next, ['-5', '1000'])],
    () => [`has_${shape.number}`, pickOne(next, ['true', 'false'])],
    () => ['near', `${point().lat},${point().lng},${pickOne(next, [1, 100, 5000, 20_000])}`],
    () => ['bbox', pickOne(next, ['-180,-90,180,90', '179,-80,-179,-79', '5,45,15,55'])],
    () => ['min_quality', pickOne(next, ['0.2', '0.9999'])],
    () => ['match', 'any'],
    () => ['group_by', shape.group],
    () => [
      'filter',
      pickOne(next, [
        `CASEI(name) LIKE '%${word().toLowerCase().replaceAll("'", "''")}%'`,
        `${shape.number} > 2 * ${shape.number}`,
        `NOT ${shape.group} = 'xx'`,
      ]),
    ],
    () => ['total', 'true'],
  ];
  return Array.from({ length: count }, (_, i) => {
    const query = new URLSearchParams();
    if (i % 8 > 0) query.set('q', several(i % 8 === 1 ? 12 : 3, () => (next() < 0.8 ? wrong() : word())).join(' '));
    const combined = 1 + Math.floor(next() * (i % 4 === 1 ? 5 : 2));
    for (let added = 0; added < combined; added += 1) query.set(...pickOne(next, conditions)());
    if (!query.has('q')) query.delete('match');
    const orders = ['', '', 'relevance', 'name', ...(query.has('near') ? ['distance'] : [])];
    const sort = pickOne(next, query.has('q') ? orders : orders.filter((order) => order !== 'relevance'));
    if (sort !== '') query.set('sort', sort);
    return `/v1/${dataset}/entities?${query}`;
  });
}
