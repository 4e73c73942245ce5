// Checks members of a pack against each other: names of attributes, sources, weights, tests, owner rules.
import type { z } from 'zod';
import { type Mistake, notOneOf, quoteValue } from './mistakes.ts';
import type { Attribute, AttributeType, Pack } from './model.ts';
import { checkValue, NUMERIC } from './schema.ts';
import type { PackShape } from './shape.ts';

type Add = (mistake: Omit<Mistake, 'file'>) => void;

/** Valid sections; a section with a mistake is absent. */
export type Sections = Partial<Omit<z.output<typeof PackShape>, 'attributes'>>;

/** What the attribute must be whose name a member has. */
interface Reference {
  types?: readonly AttributeType[];
  /** Member that must be true, and what is expected then. */
  must?: readonly [member: 'public' | 'searchable', expected: string];
  /** The attribute cannot be `editable`: what is expected there. */
  locked?: string;
  /** A list has each name once. */
  once?: boolean;
}

/** The pack whose members are checked. */
interface Context {
  sections: Sections;
  /** The attributes without a mistake. */
  checked: readonly Attribute[];
  /** The attribute with a name; null when it is unknown or of another type (both reported), or has a mistake. */
  attribute: (path: string, name: string, reference?: Reference) => Attribute | null;
  add: Add;
}

const GROUPING: AttributeType[] = ['string', 'enum', 'boolean', 'integer'];
const IDENTIFYING: AttributeType[] = ['string', 'enum', 'url', 'date', 'datetime', 'integer', 'number'];

/** Members that have the name of an attribute, or a list of names, each with what it must be; and the other checks, in order. */
const CHECKS: readonly (readonly [path: string, reference: Reference] | ((context: Context) => void))[] = [
  ['identity.attributes', { types: IDENTIFYING, once: true, locked: 'false: owners cannot edit identity attributes' }],
  ['owner.domain', { types: ['string', 'url'], locked: 'false: the domain decides who the owner is' }],
  checkEditable,
  checkSources,
  checkTests,
  ['group_by', { types: GROUPING, must: ['public', 'a public attribute: groups are named on free pages'] }],
  ['serving.similar_differ_by', { types: GROUPING }],
  ['serving.similar_by', { must: ['searchable', 'a searchable attribute: similar compares words that search finds'] }],
  ['serving.distinguish_by', { must: ['public', 'a public attribute: titles are on free pages'] }],
  ['serving.core', {}],
  ['serving.prominence', { types: NUMERIC, must: ['public', 'a public attribute: every caller can sort by it'] }],
  ['compare', { once: true }],
  checkCalculator,
  checkGone,
  checkQuality,
];

/**
 * @param names every name under `attributes`, including attributes with a mistake
 * @param checked the attributes without one
 */
export function checkReferences(sections: Sections, names: string[], checked: Attribute[], add: Add): void {
  const byName = new Map(checked.map((attribute) => [attribute.name, attribute]));
  const attribute: Context['attribute'] = (path, name, { types, must } = {}) => {
    if (names.length > 0 && !names.includes(name)) add(notOneOf(path, name, 'the name of an attribute', names));
    const target = byName.get(name) ?? null;
    if (target === null) return null;
    if (types !== undefined && !types.includes(target.type)) {
      const actual = `${quoteValue(name)} of type ${target.type}`;
      add({ path, actual, expected: `an attribute of type ${types.join(', ')}` });
      return null;
    }
    if (must !== undefined && !target[must[0]])
      add({ path, actual: `${quoteValue(name)}, which is not ${must[0]}`, expected: must[1] });
    return target;
  };

  if (names.length > 0 && names.length === checked.length) {
    const path = 'attributes';
    if (!checked.some((candidate) => candidate.public))
      add({ path, actual: 'no public attribute', expected: 'at least one with public: true, for previews' });
    if (!checked.some((candidate) => candidate.weight > 0))
      add({ path, actual: 'no weight above 0', expected: 'at least one, for the completeness of a record' });
  }
  for (const check of CHECKS) {
    if (typeof check === 'function') {
      check({ sections, checked, attribute, add });
      continue;
    }
    const [member, reference] = check;
    for (const [path, name, isFirst] of namesAt(sections, member)) {
      const target = attribute(path, name, reference);
      if (reference.once && !isFirst) add({ path, actual: `${quoteValue(name)} twice`, expected: 'each once' });
      if (reference.locked !== undefined && target?.editable)
        add({ path: `attributes.${name}.editable`, actual: 'true', expected: reference.locked });
    }
  }
}

/** The names at a path, each with its own path and whether no earlier entry is the same. */
function namesAt(sections: Sections, member: string): (readonly [path: string, name: string, isFirst: boolean])[] {
  const keys = member.split('.');
  const value = keys.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], sections);
  if (!Array.isArray(value)) return typeof value === 'string' ? [[member, value, true]] : [];
  return (value as string[]).map((name, i) => [`${member}.${i}`, name, value.indexOf(name) === i]);
}

/** Nobody can claim a record without a domain, so no attribute can be `editable` then. */
function checkEditable({ sections: { owner }, checked, add }: Context): void {
  if (owner === undefined || owner.domain !== null) return;
  const expected = 'false, or owner.domain: without a domain records cannot be claimed';
  for (const { name } of checked.filter(({ editable }) => editable))
    add({ path: `attributes.${name}.editable`, actual: 'true', expected });
}

/** `gone.value` is one of the closed list, and gets the spelling there. */
function checkGone({ sections, attribute, add }: Context): void {
  if (!sections.gone) return;
  const target = attribute('gone.attribute', sections.gone.attribute, { types: ['enum', 'string'] });
  const value = target && checkValue(target, sections.gone.value);
  if (value?.ok) sections.gone = { ...sections.gone, value: String(value.value) };
  else if (value) add(notOneOf('gone.value', sections.gone.value, value.reason, target?.values ?? []));
}

function checkQuality({ sections: { quality }, add }: Context): void {
  const sum = quality && quality.completeness + quality.confidence + quality.freshness;
  if (sum !== undefined && Math.abs(sum - 1) > 1e-9)
    add({ path: 'quality', actual: `weights that sum to ${Number(sum.toFixed(6))}`, expected: 'a sum of 1' });
}

function checkSources({ sections: { sources }, attribute, add }: Context): void {
  if (sources?.length === 0) add({ path: 'sources', actual: 'no source', expected: 'at least one source' });
  for (const source of sources ?? []) {
    const { id } = source;
    const path = `sources.${id}`;
    if (!/^[a-z][a-z0-9-]*$/.test(id)) {
      add({
        path,
        actual: `the id ${quoteValue(id)}`,
        expected: 'lower-case letters, digits and -, starting with a letter',
      });
    }
    if (id === 'owner') add({ path, actual: "the id 'owner'", expected: 'another id: owner names edits by owners' });
    if (id === 'constructor')
      add({ path, actual: `the id '${id}'`, expected: 'another id: it is a member of every object' });
    if (source.pins.length === 0 && source.newest === null && source.crawl === null && source.from === null) {
      add({
        path: `${path}.from`,
        actual: 'no from, no pins, no newest, no crawl',
        expected: 'at least one of from, pins, newest and crawl',
      });
    }
    if (source.from !== null) checkDeclared(path, source, attribute, add);
    const seen = new Set<string>();
    source.pins.forEach((pin, i) => {
      const name = `${pin.package}@${pin.version}`;
      if (seen.has(name)) add({ path: `${path}.pins.${i}`, actual: `${name} twice`, expected: 'each version once' });
      seen.add(name);
    });
  }
}

/** Names that the address of a comparison uses itself. */
const COMPARE_PARAMETERS = ['ids', 'add', 'differences'];

/** Checks that each term of the calculator has a number that readers can load, and each input a use. */
function checkCalculator({ sections: { calculator, compare }, attribute, add }: Context): void {
  if (!calculator) return;
  const { inputs, terms } = calculator;
  const names = inputs.map(({ name }) => name);
  for (const name of names) {
    const path = `calculator.inputs.${name}`;
    if (!/^[a-z][a-z0-9_]*$/.test(name))
      add({
        path,
        actual: `the name ${quoteValue(name)}`,
        expected: "lower-case letters, digits and _, such as 'days'",
      });
    else if (COMPARE_PARAMETERS.includes(name))
      add({ path, actual: `the name ${quoteValue(name)}`, expected: 'another name: comparisons have this parameter' });
    if (!terms.some(({ input }) => input === name))
      add({ path, actual: 'an input that no term of sum uses', expected: 'a term with it, or no such input' });
  }
  const currencies = new Set<string>();
  for (const [i, term] of terms.entries()) {
    const path = `calculator.sum.${i}`;
    if (!names.includes(term.input)) add(notOneOf(`${path}.input`, term.input, 'the name of an input', names));
    for (const member of ['attribute', 'otherwise'] as const) {
      const name = term[member];
      const target = name === null ? null : attribute(`${path}.${member}`, name, { types: NUMERIC });
      if (target?.currency) currencies.add(target.currency);
      if (target === null || target.public || !compare || compare.includes(target.name)) continue;
      const expected = 'a public attribute, or one of compare: a comparison loads no others';
      add({ path: `${path}.${member}`, actual: `${quoteValue(target.name)}, which is neither`, expected });
    }
  }
  if (currencies.size > 1)
    add({ path: 'calculator.sum', actual: `prices in ${[...currencies].join(' and ')}`, expected: 'one currency' });
}

type SourceDraft = NonNullable<Sections['sources']>[number];

/** Checks `from`: its attributes, and that it does not compete with `crawl` or, for a service, with pins. */
function checkDeclared(
  path: string,
  { from, crawl, pins, newest, complete }: SourceDraft,
  attribute: Context['attribute'],
  add: Add,
) {
  if (from === null) return;
  for (const name of Object.keys(from.attributes)) attribute(`${path}.from.attributes.${name}`, name);
  checkSigns(path, from, add);
  if (from.kind === 'postgres' && from.cursor !== undefined && complete) {
    const expected = 'false: with a cursor, a reading lists only the newer rows, and all others would be gone';
    add({ path: `${path}.complete`, actual: 'true', expected });
  }
  if (crawl !== null) add({ path: `${path}.crawl`, actual: 'crawl and from', expected: 'one of them' });
  const served = from.kind === 'postgres' || from.kind === 'http';
  if (served && (pins.length > 0 || newest !== null)) {
    const expected = 'no pins and no newest: only files are read from packages';
    add({ path: `${path}.from`, actual: `${from.kind}(…) and pins or newest`, expected });
  }
  if (from.kind === 'sqlite' && (from.table === undefined) === (from.query === undefined)) {
    const actual = from.table === undefined ? 'no table and no query' : 'a table and a query';
    add({ path: `${path}.from`, actual, expected: 'a table or a query' });
  }
}

/** Checks that the decimal sign and the sign between thousands of every number differ. */
function checkSigns(path: string, from: NonNullable<SourceDraft['from']>, add: Add): void {
  const rules = Object.entries(from.attributes).map(([name, rule]) => ({ at: `.attributes.${name}`, rule }));
  for (const { at, rule } of [{ at: '', rule: from }, ...rules]) {
    if (typeof rule !== 'object' || !('decimal' in rule || 'thousands' in rule)) continue;
    const decimal = rule.decimal ?? from.decimal;
    const thousands = rule.thousands ?? from.thousands;
    if (decimal === undefined || decimal !== thousands) continue;
    const actual = `${quoteValue(thousands)}, which is the decimal sign too`;
    add({ path: `${path}.from${at}.thousands`, actual, expected: 'another sign' });
  }
}

/**
 * Members of each kind of test besides `kind`: all of the first list are required, and at least one of the
 * second.
 */
const TESTS = {
  rows: { needs: [], either: ['min', 'max'] },
  fill: { needs: ['attribute'], either: ['min', 'max'] },
  unique: { needs: ['attribute'], either: [] },
  accepted: { needs: ['attribute', 'values'], either: [] },
} as const;

function checkTests({ sections: { tests }, attribute, add }: Context): void {
  tests?.forEach((test, i) => {
    const path = `tests.${i}`;
    const { needs, either } = TESTS[test.kind];
    for (const member of needs) {
      if (test[member] === undefined) {
        add({ path: `${path}.${member}`, actual: 'nothing', expected: `${member}: a ${test.kind} test needs it` });
      }
    }
    if (either.length > 0 && either.every((member) => test[member] === undefined)) {
      add({ path, actual: quoteValue(test), expected: `${either.join(' or ')}: a ${test.kind} test needs a bound` });
    }
    const allowed: string[] = ['kind', ...needs, ...either];
    for (const [member, value] of Object.entries(test)) {
      if (value !== undefined && !allowed.includes(member)) {
        const expected = `nothing: a ${test.kind} test has only ${allowed.join(', ')}`;
        add({ path: `${path}.${member}`, actual: quoteValue(value), expected });
      }
    }
    const limit = test.kind === 'fill' ? 1 : Number.POSITIVE_INFINITY;
    for (const member of ['min', 'max'] as const) {
      if ((test[member] ?? 0) > limit) {
        add({ path: `${path}.${member}`, actual: quoteValue(test[member]), expected: 'a share, from 0 to 1' });
      }
    }
    if (test.min !== undefined && test.max !== undefined && test.min > test.max) {
      add({ path, actual: quoteValue(test), expected: 'a min that is not above the max' });
    }
    const named = test.attribute === undefined ? null : attribute(`${path}.attribute`, test.attribute);
    if (test.kind === 'accepted' && named?.values) {
      const unknown = test.values?.find((value) => !named.values?.includes(value));
      if (unknown !== undefined) {
        add(notOneOf(`${path}.values`, unknown, `values of '${named.name}': ${named.values.join(', ')}`, named.values));
      }
    }
  });
}

/** What a valid pack probably does not intend, one sentence each. */
export function packWarnings({ attributes, owner, sources, gone }: Omit<Pack, 'collector'>): string[] {
  const warnings: string[] = [];
  if (owner.domain !== null && !attributes.some(({ editable }) => editable)) {
    warnings.push(
      'owner.domain is set and no attribute is editable: an owner can claim a record and then edit nothing.',
    );
  }
  const complete = sources.filter((source) => source.complete).map(({ id }) => id);
  if (gone === null && complete.length > 0) {
    const members = complete.map((id) => `sources.${id}.complete`).join(', ');
    warnings.push(
      `${members} is true and gone is not set: records that are no longer listed stay published as they are.`,
    );
  }
  return warnings;
}
