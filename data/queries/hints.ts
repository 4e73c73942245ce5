// Hint on the first page of a search: why it is empty, or that its order is not by relevance.
import type { Attribute } from '../../packs/define/model.ts';
import { fold, words } from '../../packs/define/text.ts';
import { printable } from '../input/parse-values.ts';
import type { SearchInput } from '../input/search-parameters.ts';
import { counted, isPublicQuestion, questionOf } from '../input/selection.ts';
import { nearestValues } from '../input/suggester.ts';
import { WorkBudget } from '../plan/budget.ts';
import type { Predicate, QueryOptions, SearchAnswer, Visibility } from '../plan/plan.ts';
import { spellCondition } from '../plan/predicates.ts';
import { nextTurn } from '../plan/slices.ts';
import type { Release } from '../releases/release.ts';
import { FACET_FLOOR } from './facets.ts';
import { type Suggestion, suggestWords } from './suggestion.ts';

/** The caller: a hint names nothing that facets would withhold from the caller. */
type HintOptions = QueryOptions & { visibility: Visibility; admin: boolean };
type Any = Extract<Predicate, { kind: 'any' }>;
type Word = Extract<Predicate, { kind: 'words' }>;

/** Number of conditions, or values of one, to check, and to name in the hint. */
const [CHECKED, SHOWN] = [6, 3];
/** Number of values searched for the nearest one; number of common values named when none is near. */
const [COMPARED, COMMON] = [300, 6];
const QUALITY = { key: 'quality', descending: true };

/**
 * Why no record matches: conditions that no record meets, otherwise conditions whose removal gives results.
 * An empty page is free, so the work has a budget: words first, then the first few conditions.
 */
export async function whyEmpty(
  release: Release,
  input: SearchInput,
  options: HintOptions,
): Promise<{ hint?: string; suggestion?: Suggestion }> {
  const page = new EmptyPage(release, input, options);
  const hint = await page.explain();
  const suggestion = input.words.length > 0 && isOpen(input, release) ? await page.suggestion() : null;
  return { ...(hint === undefined ? {} : { hint }), ...(suggestion === null ? {} : { suggestion }) };
}

/** Whether the conditions besides the words are public. */
const isOpen = (input: SearchInput, { pack }: Release): boolean => isPublicQuestion({ ...input, words: [] }, pack);

/** An empty page and what is known about its conditions. */
class EmptyPage {
  readonly #release: Release;
  readonly #options: HintOptions;
  readonly #budget = new WorkBudget();
  readonly #text: string;
  /** A condition for each word of `q`, and the other conditions. */
  readonly #words: Word[];
  readonly #where: Predicate[];
  readonly #isOpen: boolean;
  #suggestion: Promise<Suggestion | null> | null = null;

  constructor(release: Release, input: SearchInput, options: HintOptions) {
    this.#release = release;
    this.#options = options;
    this.#text = input.text;
    const words = input.any ? [input.words] : input.words.map((word) => [word]);
    const any = input.any ? { any: true as const } : {};
    this.#words =
      input.words.length === 0
        ? []
        : words.map((list) => ({ kind: 'words', words: list, scope: options.visibility, ...any }));
    this.#isOpen = isOpen(input, release);
    this.#where = questionOf({ ...input, words: [] }, options.visibility);
  }

  async explain(): Promise<string | undefined> {
    const all = [...this.#words, ...this.#where];
    const checked: Predicate[] = [];
    const unmet: Predicate[] = [];
    for (const condition of all.slice(0, CHECKED)) {
      if (this.#budget.spent) break;
      checked.push(condition);
      if (!(await this.#finds([condition]))) unmet.push(condition);
    }
    if (unmet.length > 0) return this.#explainUnmet(checked, unmet);
    if (all.length < 2) return undefined;
    const misplaced = await this.#explainWords();
    if (misplaced !== null) return misplaced;
    const problem =
      checked.length === all.length
        ? 'Each condition matches records, but no record meets all of them'
        : 'No record meets all conditions';
    const removable: string[] = [];
    for (const condition of checked) {
      if (this.#budget.spent || removable.length === SHOWN) break;
      if (await this.#finds(all.filter((other) => other !== condition))) removable.push(spelt(condition));
    }
    return removable.length > 0
      ? `${problem}; remove one of these: ${removable.join(', ')}.`
      : `${problem}; use fewer conditions, such as ${spelt(checked[0]!)} alone.`;
  }

  async #explainUnmet(checked: Predicate[], unmet: Predicate[]): Promise<string> {
    const context = checked.filter((condition) => !unmet.includes(condition) && this.#isPublic(condition));
    const parts: string[] = [];
    for (const condition of unmet.slice(0, SHOWN)) parts.push(await this.#problemOf(condition, context));
    const unmatched = unmet.flatMap((condition) => (condition.kind === 'words' ? condition.words : []));
    const other = unmatched.length > 0 ? await this.suggestion() : null;
    const isRespelled = other?.changes.every(({ use }) => use !== undefined) === true;
    const suggestion = isRespelled ? ` Did you mean "${printable(other.q)}"?` : '';
    const text = parts.join('; ');
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.${suggestion}`;
  }

  /**
   * Words and conditions that match separately but not together. Words are more often wrong than conditions, so
   * the hint suggests other words, and where public attributes contain them.
   */
  async #explainWords(): Promise<string | null> {
    const [typed, where] = [this.#words, this.#where];
    if (typed.length === 0 || where.length === 0 || this.#budget.spent || !(await this.#finds(where))) return null;
    if (!(await this.#finds(typed))) return null;
    const publicWords = typed.map((condition): Predicate => ({ ...condition, scope: 'public' }));
    const places: string[] = [];
    for (const condition of where) {
      if (condition.kind !== 'any' || !this.#isPublic(condition) || this.#budget.spent) continue;
      const values = await this.#values(condition.attribute, publicWords, SHOWN, 0);
      if (values.length > 0) places.push(`${condition.attribute}=${values.map(printable).join(',')}`);
    }
    const elsewhere = places.length === 0 ? '' : `; records with ${places.join(' and ')} have one`;
    const spelled = typed.flatMap((condition) => condition.words).join(' ');
    return `No record with ${where.map(spelt).join(' and ')} has a word that begins with "${printable(spelled)}"${elsewhere}. Try another spelling.`;
  }

  /** The problem of a condition that no record meets; `context`: conditions under which other values are suggested. */
  async #problemOf(condition: Predicate, context: Predicate[]): Promise<string> {
    const problem = problemOf(condition);
    return condition.kind === 'any' ? problem + (await this.#alternatives(condition, context)) : problem;
  }

  /**
   * For values that no record has: the likely intended values, another attribute that has them, or existing
   * values; empty without any.
   */
  async #alternatives(condition: Any, context: Predicate[]): Promise<string> {
    const attribute = this.#release.pack.attributes.find(({ name }) => name === condition.attribute);
    if (attribute === undefined) return '';
    const listed = await this.#asList(condition);
    if (listed !== null) return `; did you mean ${listed}? A comma means "or"`;
    const where = attribute.public ? context : [];
    const { values, complete } = await this.#existingValues(attribute, condition, where);
    const facets = `; ${[`facets?by=${attribute.name}`, ...where.map(spelt)].join('&')} lists them`;
    const lists = values.length > 0 ? facets : '';
    const sent = new Set(condition.values.map((value) => fold(String(value))));
    const choices =
      values.length > 0 ? values : (attribute.values ?? []).map(String).filter((value) => !sent.has(fold(value)));
    const near = new Set<string>();
    for (const value of condition.values.slice(0, CHECKED))
      for (const nearest of await this.#nearest(attribute, String(value), choices)) near.add(printable(nearest));
    const elsewhere = await this.#otherAttribute(condition);
    if (near.size > 0) {
      // A country with another name is the likely intention; a match like `iata=usa` is a coincidence.
      const other = elsewhere === null || attribute.vocabulary !== null ? '' : `; ${elsewhere} matches some`;
      return `; nearest: ${[...near].join(', ')}${other}${lists}`;
    }
    const alternative = elsewhere ?? (complete ? null : await this.#asWords(condition));
    if (alternative !== null) return `, but ${alternative} matches some`;
    // Common values among very many are no help.
    if (choices.length === 0 || !complete) return '';
    const which = values.length > COMMON ? 'commonest' : 'known';
    const under = where.length === 0 ? '' : ` with ${where.map(spelt).join(' and ')}`;
    return `; ${which}${under}: ${choices.slice(0, COMMON).map(printable).join(', ')}${lists}`;
  }

  /** Values nearest to a typed one: another name of the same country, or a similar text. */
  async #nearest(attribute: Attribute, typed: string, values: readonly string[]): Promise<string[]> {
    if (this.#budget.spent) return [];
    if (attribute.vocabulary === 'country') {
      const codeOf = await this.#budget.run(countryReader);
      const code = codeOf(typed);
      const same = code === null ? [] : values.filter((value) => codeOf(value) === code);
      if (same.length > 0) return same.slice(0, SHOWN);
    }
    return nearestValues(typed, values, this.#budget);
  }

  /**
   * Values of records, most common first, and whether the list is complete. For a non-public attribute only
   * those that facets show to every caller with a key. With very many values, also those with a word that
   * begins like a requested value.
   */
  async #existingValues(attribute: Attribute, { values: typed }: Any, where: Predicate[]) {
    if (!counted(attribute) || this.#budget.spent) return { values: [], complete: true };
    const floor = attribute.public || this.#options.admin ? 0 : FACET_FLOOR;
    const values = await this.#values(attribute.name, where, COMPARED, floor);
    const complete = values.length < COMPARED;
    const [first = ''] = words(String(typed[0]));
    const worded = first.length >= 3 && attribute.public && attribute.searchable;
    if (complete || !worded || this.#budget.spent) return { values, complete };
    const prefix: Predicate = { kind: 'words', words: [first.slice(0, 3)], scope: 'public' };
    const alike = await this.#values(attribute.name, [...where, prefix], COMPARED, floor);
    return { values: [...new Set([...values, ...alike])], complete };
  }

  /** Suggests e.g. `country=de,fr` for `de or fr`. */
  async #asList(condition: Any): Promise<string | null> {
    const values = condition.values.flatMap((value) => String(value).split(/\s+or\s+|\s*\|+\s*/u));
    const list: Predicate = { ...condition, values };
    const isList = values.length > condition.values.length && this.#isPublic(condition) && !this.#budget.spent;
    return isList && (await this.#finds([list])) ? spelt(list) : null;
  }

  /** Suggests e.g. `country_name=germany` when another public attribute has the value. */
  async #otherAttribute({ attribute, values }: Any): Promise<string | null> {
    if (!values.every((value) => typeof value === 'string')) return null;
    const texts = this.#release.pack.attributes.filter(({ type }) => ['string', 'enum', 'strings'].includes(type));
    const others = texts.filter((other) => other.public && other.filterable && other.name !== attribute);
    // An attribute with a related name is the likelier intention.
    const related = ({ name }: Attribute) => Number(name.includes(attribute) || attribute.includes(name));
    for (const { name } of others.sort((a, b) => related(b) - related(a))) {
      if (this.#budget.spent) return null;
      const same: Predicate = { kind: 'any', attribute: name, values };
      if (await this.#finds([same])) return spelt(same);
    }
    return null;
  }

  /** Suggests e.g. `q=geneva` when records contain the words of the value but not the whole value. */
  async #asWords({ values }: Any): Promise<string | null> {
    const typed = words(String(values[0]));
    if (this.#budget.spent || values.length !== 1 || typed.length === 0) return null;
    const matches = await this.#finds([{ kind: 'words', words: typed, scope: this.#options.visibility }]);
    return matches ? `q=${printable(String(values[0]))}` : null;
  }

  /** Other words that match in public text; under the other conditions if they are public. */
  suggestion(): Promise<Suggestion | null> {
    this.#suggestion ??= suggestWords(
      this.#release,
      this.#text,
      this.#isOpen ? this.#where : [],
      this.#budget,
      this.#options,
    );
    return this.#suggestion;
  }

  async #finds(where: Predicate[]): Promise<boolean> {
    const plan = { where, sort: QUALITY, after: null, limit: 1, total: false };
    return (await this.#budget.run(() => this.#release.engine.search(plan, this.#options))).ordinals.length > 0;
  }

  async #values(by: string, where: Predicate[], limit: number, floor: number): Promise<string[]> {
    const plan = { where, by, limit, floor };
    const { values } = await this.#budget.run(() => this.#release.engine.facets(plan, this.#options));
    return values.map(({ value }) => String(value));
  }

  /** A condition on a public attribute: its matches may be counted for every caller. */
  #isPublic(condition: Predicate): boolean {
    const { attributes } = this.#release.pack;
    return (
      'attribute' in condition &&
      attributes.some((attribute) => attribute.public && attribute.name === condition.attribute)
    );
  }
}

/** A condition in request syntax. */
const spelt = (condition: Predicate): string => spellCondition(condition, printable);

/** A sentence about a condition that no record meets. */
function problemOf(condition: Predicate): string {
  switch (condition.kind) {
    case 'words':
      return `no record has a word that begins with "${printable(condition.words.join(' '))}"`;
    case 'near':
      return `no record is within ${condition.km} km of ${condition.ref === undefined ? `${condition.lat},${condition.lng}` : printable(condition.ref)}`;
    case 'bbox':
      return `no record is in ${spelt(condition)}`;
    case 'as_of':
      return `no record was known at ${spelt(condition)}`;
    case 'ids':
      return `no record has the id, slug or key ${printable(condition.refs.join(' or '))}`;
    case 'expression': {
      const { expression } = condition;
      const isExact = expression.op === '=' && expression.left.type === 'text' && 'forms' in expression.left;
      const advice = isExact ? '; letter case counts there, CASEI on both sides ignores it' : '';
      return `no record has ${spelt(condition)}${advice}`;
    }
    default:
      return `no record has ${spelt(condition)}`;
  }
}

/** For a search by words or place in the usual order, when several records match. */
export function orderHint({ words: typed, where, ordered }: SearchInput, page: SearchAnswer): string | undefined {
  if (ordered || (page.ordinals.length < 2 && page.next === null)) return undefined;
  if (typed.length > 0) return 'Ordered by quality; sort=relevance puts the best match first.';
  const isNear = page.next !== null && where.some(({ kind }) => kind === 'near');
  return isNear ? 'Results are sorted by quality: sort=distance lists the nearest first.' : undefined;
}

let loading: Promise<(text: string) => string | null> | undefined;

/**
 * Finds the two-letter code for a text, such as `GB` for `UK`, `826` or `Vereinigtes Königreich`; null when
 * it names no country. The first call loads the names, one language per turn of the event loop.
 */
export function countryReader(): Promise<(text: string) => string | null> {
  loading ??= loadCountries();
  return loading;
}

async function loadCountries(): Promise<(text: string) => string | null> {
  const { default: countries } = await import('i18n-iso-countries/index.js');
  const codeByText = new Map<string, string>();
  const add = (text: string, code: string) => {
    if (!codeByText.has(fold(text))) codeByText.set(fold(text), code);
  };
  for (const [three, two] of Object.entries(countries.getAlpha3Codes()))
    for (const text of [two, three, countries.alpha3ToNumeric(three) ?? three]) add(text, two);
  // English first: a name that two languages use for different countries keeps its English meaning.
  for (const language of new Set(['en', ...countries.getSupportedLanguages()])) {
    await nextTurn();
    const file: { default: { countries: Record<string, string | string[]> } } = await import(
      `i18n-iso-countries/langs/${language}.json`,
      { with: { type: 'json' } }
    );
    for (const [code, names] of Object.entries(file.default.countries))
      for (const name of [names].flat()) add(name, code);
  }
  return (text) => codeByText.get(fold(text)) ?? null;
}
