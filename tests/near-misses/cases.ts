// Draws near misses from every rule, dataset by dataset, equal for equal seeds.
import { random } from '../support/random-records.ts';
import { byName } from './by-name.ts';
import { comparisons, misspeltFilters, otherSpellings, synonyms } from './filter-names.ts';
import { elsewhere, foreignBoxes, foreignNames, foreignPlaces, misspeltParameters } from './foreign-names.ts';
import type { MissRule, NearMiss } from './model.ts';
import * as values from './values.ts';
import type { DatasetInfo } from './world.ts';

const RULES: readonly MissRule[] = [
  ...[foreignNames, foreignPlaces, foreignBoxes, elsewhere, misspeltParameters],
  ...[comparisons, otherSpellings, misspeltFilters, synonyms],
  ...[values.orders, values.selections, values.pages, values.wordMisses, values.times, values.places, values.ids],
  ...[values.scalars, values.misspeltValues, values.meantValues, values.misspeltWords],
  byName,
];

function shuffled<T>(list: readonly T[], next: () => number): T[] {
  const left = [...list];
  return list.map(() => left.splice(Math.floor(next() * left.length), 1)[0] as T);
}

/** `count` near misses of a register, or all: the rules take turns, so that each has its share. */
export function nearMisses(datasets: readonly DatasetInfo[], count: number, seed: number): NearMiss[] {
  const next = random(seed);
  const lists = RULES.map((rule) =>
    shuffled(
      datasets.flatMap((dataset) => rule(dataset, next)),
      next,
    ),
  );
  const drawn = new Map<string, NearMiss>();
  while (drawn.size < count && lists.some((list) => list.length > 0))
    for (const list of lists) {
      const near = list.pop();
      if (near && drawn.size < count) drawn.set(JSON.stringify([near.path, near.query, near.given]), near);
    }
  return [...drawn.values()];
}
