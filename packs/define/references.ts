// Checks references between members of a pack: attributes, sources, weights, tests, owner rules.
import { type Mistake, notOneOf, quoteValue } from './mistakes.ts';
import type { Attribute, AttributeType, Pack } from './model.ts';
import { checkValue, NUMERIC } from './schema.ts';
import type { PackDraft } from './shape.ts';

type Add = (mistake: Omit<Mistake, 'file'>) => void;

/** Valid sections; a section with a mistake is absent. */
export type Sections = Partial<Omit<PackDraft, 'attributes'>>;

const GROUPING: AttributeType[] = ['string', 'enum', 'boolean', 'integer'];
const IDENTIFYING: AttributeType[] = ['string', 'enum', 'url', 'date', 'datetime', 'integer', 'number'];

/**
 * @param names every name under `attributes`, including attributes with a mistake
 * @param checked the attributes without one
 */
export function checkReferences(sections: Sections, names: string[], checked: Attribute[], add: Add): void {
  const byName = new Map(checked.map((attribute) => [attribute.name, attribute]));
  /** The attribute with this name; null when it is unknown (reported here) or invalid (reported before). */
  const attribute = (path: string, name: string): Attribute | null => {
    if (names.length > 0 && !names.includes(name)) add(notOneOf(path, name, 'the name of an attribute', names));
    return byName.get(name) ?? null;
  };
  const ofType = (path: string, name: string, types: readonly AttributeType[]): Attribute | null => {
    const checkedAttribute = attribute(path, name);
    if (checkedAttribute === null || types.includes(checkedAttribute.type)) return checkedAttribute;
    add({
      path,
      actual: `${quoteValue(name)} of type ${checkedAttribute.type}`,
      expected: `an attribute of type ${types.join(', ')}`,
    });
    return null;
  };

  if (names.length > 0 && names.length === checked.length) {
    const path = 'attributes';
    if (!checked.some((candidate) => candidate.public))
      add({ path, actual: 'no public attribute', expected: 'at least one with public: true, for previews' });
    if (!checked.some((candidate) => candidate.weight > 0))
      add({ path, actual: 'no weight above 0', expected: 'at least one, for the completeness of a record' });
  }
  checkIdentity(sections, ofType, add);
  checkOwner(sections, checked, ofType, add);
  checkSources(sections, attribute, add);
  checkTests(sections, attribute, add);

  if (sections.group_by !== undefined) {
    const group = ofType('group_by', sections.group_by, GROUPING);
    if (group && !group.public) {
      const expected = 'a public attribute: groups are named on free pages';
      add({ path: 'group_by', actual: `${quoteValue(group.name)}, which is not public`, expected });
    }
  }
  const differ = sections.serving?.similar_differ_by;
  if (differ) ofType('serving.similar_differ_by', differ, GROUPING);
  sections.serving?.similar_by?.forEach((name, i) => {
    const similar = attribute(`serving.similar_by.${i}`, name);
    if (similar === null || similar.searchable) return;
    const expected = 'a searchable attribute: similar compares words that search finds';
    add({ path: `serving.similar_by.${i}`, actual: `${quoteValue(name)}, which is not searchable`, expected });
  });
  sections.serving?.distinguish_by?.forEach((name, i) => {
    const target = attribute(`serving.distinguish_by.${i}`, name);
    if (target === null || target.public) return;
    const expected = 'a public attribute: titles are on free pages';
    add({ path: `serving.distinguish_by.${i}`, actual: `${quoteValue(name)}, which is not public`, expected });
  });
  sections.serving?.core?.forEach((name, i) => {
    attribute(`serving.core.${i}`, name);
  });
  const prominence = sections.serving?.prominence;
  if (prominence) {
    const target = ofType('serving.prominence', prominence, NUMERIC);
    if (target && !target.public) {
      const expected = 'a public attribute: every caller can sort by it';
      add({ path: 'serving.prominence', actual: `${quoteValue(target.name)}, which is not public`, expected });
    }
  }
  sections.compare?.forEach((name, i, all) => {
    attribute(`compare.${i}`, name);
    if (all.indexOf(name) !== i)
      add({ path: `compare.${i}`, actual: `${quoteValue(name)} twice`, expected: 'each once' });
  });
  if (sections.calculator) checkCalculator(sections.calculator, sections.compare, ofType, add);
  if (sections.gone) {
    const goneAttribute = ofType('gone.attribute', sections.gone.attribute, ['enum', 'string']);
    const value = goneAttribute && checkValue(goneAttribute, sections.gone.value);
    if (value && !value.ok) add(notOneOf('gone.value', sections.gone.value, value.reason, goneAttribute?.values ?? []));
    // The spelling of the closed list.
    if (value?.ok) sections.gone = { ...sections.gone, value: String(value.value) };
  }
  if (sections.quality) {
    const sum = Object.values(sections.quality).reduce((total, weight) => total + weight, 0);
    if (Math.abs(sum - 1) > 1e-9) {
      add({ path: 'quality', actual: `weights that sum to ${Number(sum.toFixed(6))}`, expected: 'a sum of 1' });
    }
  }
}

/** The attribute with this name; reports an unknown one. */
type AttributeNamed = (path: string, name: string) => Attribute | null;
type OfType = (path: string, name: string, types: readonly AttributeType[]) => Attribute | null;

function checkIdentity(sections: Sections, ofType: OfType, add: Add): void {
  sections.identity?.attributes.forEach((name, i, all) => {
    const path = `identity.attributes.${i}`;
    const attribute = ofType(path, name, IDENTIFYING);
    if (all.indexOf(name) !== i) add({ path, actual: `${quoteValue(name)} twice`, expected: 'each once' });
    if (attribute?.editable) {
      const expected = 'false: owners cannot edit identity attributes';
      add({ path: `attributes.${name}.editable`, actual: 'true', expected });
    }
  });
}

function checkOwner(sections: Sections, checked: Attribute[], ofType: OfType, add: Add): void {
  if (sections.owner === undefined) return;
  const domain = sections.owner.domain;
  if (domain !== null) {
    const attribute = ofType('owner.domain', domain, ['string', 'url']);
    if (attribute?.editable) {
      const expected = 'false: the domain decides who the owner is';
      add({ path: `attributes.${domain}.editable`, actual: 'true', expected });
    }
    return;
  }
  for (const { name } of checked.filter((attribute) => attribute.editable)) {
    const expected = 'false, or owner.domain: without a domain records cannot be claimed';
    add({ path: `attributes.${name}.editable`, actual: 'true', expected });
  }
}

function checkSources(sections: Sections, attribute: AttributeNamed, add: Add): void {
  const ids = Object.keys(sections.sources ?? {});
  if (sections.sources && ids.length === 0) {
    add({ path: 'sources', actual: 'no source', expected: 'at least one source' });
  }
  for (const [id, source] of Object.entries(sections.sources ?? {})) {
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
function checkCalculator(
  { inputs, sum }: NonNullable<Sections['calculator']>,
  compare: readonly string[] | undefined,
  ofType: OfType,
  add: Add,
): void {
  const names = Object.keys(inputs);
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
    if (!sum.some(({ input }) => input === name))
      add({ path, actual: 'an input that no term of sum uses', expected: 'a term with it, or no such input' });
  }
  const currencies = new Set<string>();
  for (const [i, term] of sum.entries()) {
    const path = `calculator.sum.${i}`;
    if (!names.includes(term.input)) add(notOneOf(`${path}.input`, term.input, 'the name of an input', names));
    for (const member of ['attribute', 'otherwise'] as const) {
      const name = term[member];
      const attribute = name === undefined ? null : ofType(`${path}.${member}`, name, NUMERIC);
      if (attribute?.currency) currencies.add(attribute.currency);
      if (attribute === null || attribute.public || !compare || compare.includes(attribute.name)) continue;
      const expected = 'a public attribute, or one of compare: a comparison loads no others';
      add({ path: `${path}.${member}`, actual: `${quoteValue(attribute.name)}, which is neither`, expected });
    }
  }
  if (currencies.size > 1)
    add({ path: 'calculator.sum', actual: `prices in ${[...currencies].join(' and ')}`, expected: 'one currency' });
}

type SourceDraft = NonNullable<Sections['sources']>[string];

/** Checks `from`: its attributes, and that it does not compete with `crawl` or, for a service, with pins. */
function checkDeclared(
  path: string,
  { from, crawl, pins, newest, complete }: SourceDraft,
  attribute: AttributeNamed,
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

function checkTests(sections: Sections, attribute: (path: string, name: string) => Attribute | null, add: Add): void {
  sections.tests?.forEach((test, i) => {
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
