// Hint on the first page of a search: why it is empty, or that its order is not by relevance.
import { setImmediate } from 'node:timers/promises';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { fold, words } from '../../packs/define/text.ts';
import { printable } from '../input/parse-values.ts';
import type { SearchInput } from '../input/search-parameters.ts';
import { counted, questionOf } from '../input/selection.ts';
import type {
  Engine,
  FacetAnswer,
  FacetPlan,
  Predicate,
  QueryOptions,
  SearchAnswer,
  SearchPlan,
  Visibility,
} from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';
import { FACET_FLOOR } from './facets.ts';
import { suggestValues } from './value-hints.ts';

/** The caller: a hint names nothing that facets would withhold from the caller. */
type HintOptions = QueryOptions & { visibility: Visibility; admin: boolean };
type Any = Extract<Predicate, { kind: 'any' }>;

/** Number of conditions to check one by one, and of those to name in the hint. */
const [LOOKED_AT, SHOWN] = [6, 3];
/** Number of values searched for the nearest one; number of common values named when none is near. */
const [KNOWN, COMMON] = [300, 6];

const QUALITY = { key: 'quality', descending: true };

/**
 * Why no record matches: conditions that no record meets, otherwise conditions whose removal gives results.
 * An empty page is free, so the work is limited: words first, then the first few conditions.
 */
export async function whyEmpty(
  release: Release,
  input: SearchInput,
  options: HintOptions,
): Promise<string | undefined> {
  const typed = input.words.map((word): Predicate => ({ kind: 'words', words: [word], scope: options.visibility }));
  const where = questionOf({ ...input, words: [] }, options.visibility);
  const all = [...typed, ...where];
  const budget = new QueryBudget(release.engine, options);
  const looked: Predicate[] = [];
  const lone: Predicate[] = [];
  for (const each of all.slice(0, LOOKED_AT)) {
    if (budget.spent) break;
    looked.push(each);
    if (!(await finds(budget, [each]))) lone.push(each);
  }
  if (lone.length > 0) {
    const parts: string[] = [];
    for (const each of lone.slice(0, SHOWN)) {
      const context = looked.filter((other) => !lone.includes(other) && isPublic(release.pack, other));
      parts.push(await blame(release.pack, budget, each, options, context));
    }
    const unmatched = lone.flatMap((each) => (each.kind === 'words' ? each.words : []));
    const corrected = unmatched.length > 0 ? await correctedWords(release, budget, input, unmatched, options) : null;
    const suggestion = corrected === null ? '' : ` Did you mean "${printable(corrected)}"?`;
    return `${capital(parts.join('; '))}.${suggestion}`;
  }
  if (all.length < 2) return undefined;
  const misplaced = await blameNames(release.pack, budget, typed, where);
  if (misplaced !== null) return misplaced;
  const known =
    looked.length === all.length
      ? 'Each condition matches records, but no record meets all of them'
      : 'No record meets all conditions';
  const spare = await spared(budget, all, looked);
  return spare.length > 0
    ? `${known}; remove one of these: ${spare.join(', ')}.`
    : `${known}; use fewer conditions, such as ${await rarest(budget, looked)} alone.`;
}

/** A condition on a public attribute: its matches may be counted for every caller. */
const isPublic = ({ attributes }: Pack, predicate: Predicate): boolean =>
  'attribute' in predicate && attributes.some((each) => each.public && each.name === predicate.attribute);

/**
 * Words and conditions that match separately but not together. Words are more often wrong than conditions, so
 * the hint suggests other words, and where public attributes contain them.
 */
async function blameNames(
  pack: Pack,
  budget: QueryBudget,
  typed: Predicate[],
  where: Predicate[],
): Promise<string | null> {
  if (typed.length === 0 || where.length === 0 || budget.spent || !(await finds(budget, where))) return null;
  if (!(await finds(budget, typed))) return null;
  const spelled = typed.flatMap((each) => (each.kind === 'words' ? each.words : [])).join(' ');
  const places: string[] = [];
  for (const each of where) {
    if (each.kind !== 'any' || !isPublic(pack, each) || budget.spent) continue;
    const open = typed.map((words) => ({ ...words, scope: 'public' }) as Predicate);
    const { values } = await budget.facets({ where: open, by: each.attribute, limit: SHOWN, floor: 0 });
    if (values.length > 0)
      places.push(`${each.attribute}=${values.map(({ value }) => printable(String(value))).join(',')}`);
  }
  const elsewhere = places.length === 0 ? '' : `; records with ${places.join(' and ')} have one`;
  return `No record with ${where.map(spelt).join(' and ')} has a word that begins with "${printable(spelled)}"${elsewhere}. Try another spelling.`;
}

/** Conditions whose removal gives results. */
async function spared(budget: QueryBudget, all: Predicate[], looked: Predicate[]): Promise<string[]> {
  const spare: string[] = [];
  for (const each of looked) {
    if (budget.spent || spare.length === SHOWN) break;
    const others = all.filter((other) => other !== each);
    if (await finds(budget, others)) spare.push(spelt(each));
  }
  return spare;
}

/** The most selective condition among those that can still be counted. */
async function rarest(budget: QueryBudget, looked: Predicate[]): Promise<string> {
  let best = { count: Number.POSITIVE_INFINITY, text: spelt(looked[0]!) };
  for (const each of looked) {
    if (budget.spent) break;
    const plan = { where: [each], sort: QUALITY, after: null, limit: 1, total: true };
    const count = (await budget.search(plan)).total ?? 0;
    if (count < best.count) best = { count, text: spelt(each) };
  }
  return best.text;
}

async function finds(budget: QueryBudget, where: Predicate[]): Promise<boolean> {
  const plan = { where, sort: QUALITY, after: null, limit: 1, total: false };
  return (await budget.search(plan)).ordinals.length > 0;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A condition in request syntax. */
function spelt(predicate: Predicate): string {
  const list = (values: readonly unknown[]) => printable(values.join(','));
  switch (predicate.kind) {
    case 'any':
      return `${predicate.attribute}=${list(predicate.values)}`;
    case 'none':
      return `not_${predicate.attribute}=${list(predicate.values)}`;
    case 'like':
      return `like_${predicate.attribute}=${printable(predicate.needle)}`;
    case 'min':
    case 'max':
      return `${predicate.kind}_${predicate.attribute}=${predicate.value}`;
    case 'has':
      return `has_${predicate.attribute}=${predicate.present}`;
    case 'words':
      return `the word "${list(predicate.words)}" in q`;
    case 'near':
      return `near=${predicate.lat},${predicate.lng},${predicate.km}`;
    case 'bbox':
      return `bbox=${predicate.west},${predicate.south},${predicate.east},${predicate.north}`;
    case 'ids':
      return `ids=${list(predicate.refs)}`;
    case 'updated_since':
      return `updated_since=${new Date(predicate.at).toISOString()}`;
    case 'status':
      return `provenance_status=${predicate.statuses.join()}`;
    case 'min_quality':
      return `min_quality=${predicate.value}`;
  }
}

/**
 * The hint for a condition that no record meets; `context`: public conditions under which other values are
 * suggested.
 */
async function blame(
  pack: Pack,
  budget: QueryBudget,
  predicate: Predicate,
  options: HintOptions,
  context: Predicate[],
) {
  if (predicate.kind === 'words')
    return `no record has a word that begins with "${printable(predicate.words.join(' '))}"`;
  if (predicate.kind === 'near') return `no record is within ${predicate.km} km of ${predicate.lat},${predicate.lng}`;
  if (predicate.kind === 'bbox') return `no record is in ${spelt(predicate)}`;
  if (predicate.kind === 'ids') return `no record has the id or slug ${printable(predicate.refs.join(' or '))}`;
  const attribute = pack.attributes.find(({ name }) => 'attribute' in predicate && name === predicate.attribute);
  if (predicate.kind !== 'any' || !attribute) return `no record has ${spelt(predicate)}`;
  return blameValues(pack, budget, attribute, predicate, options, attribute.public ? context : []);
}

/**
 * For values that no record has: the likely intended values, another attribute that has them, or existing
 * values.
 */
async function blameValues(
  pack: Pack,
  budget: QueryBudget,
  attribute: Attribute,
  predicate: Any,
  options: HintOptions,
  where: Predicate[],
): Promise<string> {
  const problem = `no record has ${spelt(predicate)}`;
  const { values, whole } = await knownValues(budget, attribute, predicate, options, where);
  const facets = values.length > 0 ? [`${facetsOf(attribute, where)} lists them`] : [];
  const choices = values.length > 0 ? values : listed(predicate, attribute);
  const near: string[] = [];
  for (const value of predicate.values) near.push(...(await suggestValues(attribute, String(value), choices)));
  const elsewhere = await otherAttribute(pack, budget, predicate);
  if (near.length > 0) {
    // A country with another name is the likely intention; a match like `iata=usa` is a coincidence.
    const other = elsewhere === null || attribute.vocabulary !== null ? [] : [`${elsewhere} matches some`];
    return [problem, `nearest: ${[...new Set(near)].map(printable).join(', ')}`, ...other, ...facets].join('; ');
  }
  const alternative = elsewhere ?? (whole ? null : await asWords(budget, predicate, options));
  if (alternative !== null) return `${problem}, but ${alternative} matches some`;
  // Common values among very many are no help.
  if (choices.length === 0 || !whole) return problem;
  const which = values.length > COMMON ? 'commonest' : 'known';
  const condition = where.length === 0 ? '' : ` with ${where.map(spelt).join(' and ')}`;
  return [problem, `${which}${condition}: ${choices.slice(0, COMMON).map(printable).join(', ')}`, ...facets].join('; ');
}

const facetsOf = ({ name }: Attribute, where: Predicate[]): string =>
  ['facets?by=' + name, ...where.map(spelt)].join('&');

/** Values of the pack's closed list, without the requested ones, which match nothing. */
function listed({ values }: Any, attribute: Attribute): string[] {
  const wanted = new Set(values.map((value) => fold(String(value))));
  return (attribute.values ?? []).map(String).filter((value) => !wanted.has(fold(value)));
}

/**
 * Values of records, most common first, and whether the list is complete. For a non-public attribute only
 * those that facets show to every caller with a key. With very many values, also those with a word that
 * begins like a requested value.
 */
async function knownValues(
  budget: QueryBudget,
  attribute: Attribute,
  wanted: Any,
  { admin }: HintOptions,
  where: Predicate[],
): Promise<{ values: string[]; whole: boolean }> {
  if (!counted(attribute) || budget.spent) return { values: [], whole: true };
  const floor = attribute.public || admin ? 0 : FACET_FLOOR;
  const counts = async (conditions: Predicate[]) => {
    const { values } = await budget.facets({ where: conditions, by: attribute.name, limit: KNOWN, floor });
    return values.map(({ value }) => String(value));
  };
  const values = await counts(where);
  const whole = values.length < KNOWN;
  const [first = ''] = words(String(wanted.values[0]));
  if (whole || first.length < 3 || !attribute.public || !attribute.searchable || budget.spent) return { values, whole };
  const alike = await counts([...where, { kind: 'words', words: [first.slice(0, 3)], scope: 'public' }]);
  return { values: [...new Set([...values, ...alike])], whole };
}

/** Suggests e.g. `country_name=germany` when another public attribute has the value. */
async function otherAttribute(pack: Pack, budget: QueryBudget, { attribute, values }: Any): Promise<string | null> {
  if (!values.every((value) => typeof value === 'string')) return null;
  const others = worded(pack).filter((name) => name !== attribute);
  // An attribute with a related name is the likelier intention.
  const kin = (name: string) => Number(name.includes(attribute) || attribute.includes(name));
  for (const name of others.sort((a, b) => kin(b) - kin(a))) {
    if (budget.spent) return null;
    const same: Predicate = { kind: 'any', attribute: name, values };
    if (await finds(budget, [same])) return spelt(same);
  }
  return null;
}

/** Suggests e.g. `q=geneva` when records contain the words of the value but not the whole value. */
async function asWords(budget: QueryBudget, { values }: Any, { visibility }: HintOptions): Promise<string | null> {
  const typed = words(String(values[0]));
  if (budget.spent || values.length !== 1 || typed.length === 0) return null;
  const matches = await finds(budget, [{ kind: 'words', words: typed, scope: visibility }]);
  return matches ? `q=${printable(String(values[0]))}` : null;
}

const worded = ({ attributes }: Pack): string[] =>
  attributes
    .filter((each) => each.public && each.filterable && ['string', 'enum', 'strings'].includes(each.type))
    .map(({ name }) => name);

/** For a search by words or place in the usual order, when more records match than the page shows. */
export function orderHint({ words, where, ordered }: SearchInput): string | undefined {
  const ways = [
    ...(words.length > 0 ? ['sort=relevance lists the best matches first'] : []),
    ...(where.some(({ kind }) => kind === 'near') ? ['sort=distance lists the nearest first'] : []),
  ];
  return ordered || ways.length === 0 ? undefined : `Results are sorted by quality: ${ways.join(', ')}.`;
}

/** Letters of the shortest word that is corrected, and spellings to try for each word. */
const [SHORTEST, SPELLINGS] = [5, 3];

/** The words of `q` with a spelling that records have for each word without matches; null: there is none. */
async function correctedWords(
  { engine }: Release,
  budget: QueryBudget,
  { text }: SearchInput,
  unmatched: readonly string[],
  options: HintOptions,
): Promise<string | null> {
  const typed = words(text);
  for (const word of unmatched) {
    if ([...word].length < SHORTEST || budget.spent) return null;
    const spellings = await budget.ask(() =>
      engine.spellings({ word, scope: options.visibility, limit: SPELLINGS }, options),
    );
    let known: string | null = null;
    for (const spelling of spellings) {
      const others = typed.map((each) => (each === word ? spelling : each)).filter((each) => !unmatched.includes(each));
      if (!(await finds(budget, [{ kind: 'words', words: others, scope: options.visibility }]))) continue;
      known = spelling;
      break;
    }
    if (known === null) return null;
    typed.splice(0, typed.length, ...typed.map((each) => (each === word ? known : each)));
  }
  return typed.join(' ');
}

/**
 * Budget in milliseconds: time on this thread, which blocks other requests, and time waiting for other
 * threads. Only the work of the queries counts, not the load of the machine between them.
 */
const SPENT = { thread: 20, waiting: 250 };

/** Runs queries one by one, with a turn of the event loop before each. Callers stop when `spent` is true. */
class QueryBudget {
  readonly #engine: Engine;
  readonly #options: QueryOptions;
  #thread = 0;
  #waiting = 0;

  constructor(engine: Engine, options: QueryOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /** Whether the budget is used up. */
  get spent(): boolean {
    return this.#thread >= SPENT.thread || this.#waiting >= SPENT.waiting;
  }

  search(plan: SearchPlan): Promise<SearchAnswer> {
    return this.ask(() => this.#engine.search(plan, this.#options));
  }

  facets(plan: FacetPlan): Promise<FacetAnswer> {
    return this.ask(() => this.#engine.facets(plan, this.#options));
  }

  async ask<T>(question: () => Promise<T>): Promise<T> {
    await setImmediate();
    const thread = threadTime();
    const began = performance.now();
    // The packed index answers synchronously, DuckDB in its own threads.
    const answer = question();
    this.#thread += threadTime() - thread;
    try {
      return await answer;
    } finally {
      this.#waiting += performance.now() - began;
    }
  }
}

function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
