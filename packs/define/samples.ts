// Checks samples.json against the attributes of a pack, and calls the pack's functions with the samples.
import type { PackDefinition } from './define.ts';
import { comparedValue } from './digits.ts';
import { type Mistake, notOneOf, quoteValue } from './mistakes.ts';
import type { Identity, PackSettings, Sample, Value } from './model.ts';
import { checkValue } from './schema.ts';
import { lineText } from './text.ts';

type FileMistake = Omit<Mistake, 'file'>;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The part of a definition that other files are checked against; an invalid attribute has only its name. */
type Columns = Pick<PackDefinition, 'names' | 'attributes'>;

function checkValues(
  path: string,
  input: unknown,
  { names, attributes }: Columns,
  mistakes: FileMistake[],
): Record<string, Value> {
  const values: Record<string, Value> = {};
  if (!isObject(input)) {
    mistakes.push({ path, actual: quoteValue(input), expected: 'an object of values by attribute' });
    return values;
  }
  for (const [name, value] of Object.entries(input)) {
    if (!names.includes(name)) {
      const mistake = notOneOf(`${path}.${name}`, name, 'the name of an attribute', names);
      mistakes.push({ ...mistake, actual: `a value for ${quoteValue(name)}` });
      continue;
    }
    const attribute = attributes.find((candidate) => candidate.name === name);
    if (attribute === undefined) continue;
    const checked = checkValue(attribute, value);
    if (checked.ok) values[name] = comparedValue(attribute, checked.value);
    else mistakes.push(notOneOf(`${path}.${name}`, value, checked.reason, attribute.values ?? []));
  }
  return values;
}

interface CheckedSamples {
  /** As they are served: values normalised, identity attributes included. */
  samples: Sample[];
  mistakes: FileMistake[];
  /** Mistakes of the functions in pack.ts, which were called with the samples. */
  rules: FileMistake[];
}

/** Checks the content of samples.json. */
export function checkSamples(input: unknown, definition: PackDefinition): CheckedSamples {
  const { settings } = definition;
  const mistakes: FileMistake[] = [];
  const rules = new Map<string, FileMistake>();
  const samples: Sample[] = [];
  if (!Array.isArray(input) || input.length === 0) {
    mistakes.push({
      path: '',
      actual: quoteValue(input),
      expected: 'a list of at least one fictional record {identity, values}',
    });
    return { samples, mistakes, rules: [] };
  }
  const members = ['identity', 'values', 'evidence'];
  input.forEach((sample: unknown, i) => {
    if (!isObject(sample)) {
      mistakes.push({ path: `${i}`, actual: quoteValue(sample), expected: 'a record {identity, values, evidence?}' });
      return;
    }
    for (const name of Object.keys(sample).filter((member) => !members.includes(member))) {
      const mistake = notOneOf(`${i}.${name}`, name, `one of ${members.join(', ')}`, members);
      mistakes.push({ ...mistake, actual: `a member ${quoteValue(name)}` });
    }
    if (sample['evidence'] !== undefined && typeof sample['evidence'] !== 'string') {
      mistakes.push({ path: `${i}.evidence`, actual: quoteValue(sample['evidence']), expected: 'a text' });
    }
    const before = mistakes.length;
    const identity = checkValues(`${i}.identity`, sample['identity'], definition, mistakes) as Identity;
    const values = { ...identity, ...checkValues(`${i}.values`, sample['values'], definition, mistakes) };
    if (settings === null || mistakes.length > before) return;
    const unidentified = checkSampleIdentity(`${i}`, identity, settings);
    mistakes.push(...unidentified);
    if (unidentified.length > 0) return;
    for (const mistake of checkRules(i, identity, values, settings))
      if (!rules.has(mistake.path)) rules.set(mistake.path, mistake);
    const evidence = typeof sample['evidence'] === 'string' ? { evidence: lineText(sample['evidence']) } : {};
    samples.push({ identity, values, ...evidence });
  });
  if (settings !== null && mistakes.length === 0 && rules.size === 0) mistakes.push(...repeated(samples, settings));
  return { samples, mistakes, rules: [...rules.values()] };
}

/** Checks that a sample has the identity attributes, and nothing else in its identity. */
function checkSampleIdentity(path: string, identity: Identity, { identity: { attributes } }: PackSettings) {
  const mistakes: FileMistake[] = [];
  for (const needed of attributes.filter((attribute) => identity[attribute] === undefined)) {
    mistakes.push({
      path: `${path}.identity.${needed}`,
      actual: 'nothing',
      expected: `${needed}, which identifies a record`,
    });
  }
  for (const extra of Object.keys(identity).filter((member) => !attributes.includes(member))) {
    const expected = `only ${attributes.join(', ')}, which identify a record`;
    mistakes.push({ path: `${path}.identity.${extra}`, actual: `a value for ${quoteValue(extra)}`, expected });
  }
  return mistakes;
}

/** Calls the pack's functions on a sample and checks that their results can be used as key, slug and name. */
function checkRules(sample: number, identity: Identity, values: Record<string, Value>, settings: PackSettings) {
  const mistakes: FileMistake[] = [];
  const { key, slug, name } = settings.identity;
  const check = (path: string, call: () => unknown, wrong: (result: unknown) => Omit<FileMistake, 'path'> | null) => {
    let result: unknown;
    try {
      result = call();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      mistakes.push({ path, actual: `it throws for sample ${sample}: ${message}`, expected: 'a result' });
      return;
    }
    const mistake = wrong(result);
    if (mistake !== null) mistakes.push({ path, ...mistake, actual: `${mistake.actual} for sample ${sample}` });
  };
  const text = (result: unknown) =>
    typeof result === 'string' && result.trim() !== '' ? null : { actual: returned(result), expected: 'a text' };
  check('identity.key', () => key(identity), text);
  check(
    'identity.slug',
    () => slug(identity, values),
    (result) =>
      typeof result === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(result)
        ? null
        : { actual: returned(result), expected: 'lower-case letters, digits and single -' },
  );
  check('identity.name', () => name(identity, values), text);
  const sources = settings.sources.map((source) => source.id);
  check(
    'consolidation.rule',
    () => settings.consolidation.rule(identity),
    (result) => wrongRule(result, sources),
  );
  return mistakes;
}

const returned = (result: unknown) => `it returns ${quoteValue(result)}`;

/** What is wrong with the result of `consolidation.rule`. */
function wrongRule(result: unknown, sources: string[]): Omit<FileMistake, 'path'> | null {
  const expected = `{prefer: 'trust' or 'newest', trust?: 0 to 1 by source: ${sources.join(', ')}}`;
  const trust = isObject(result) ? (result['trust'] ?? {}) : null;
  if (!isObject(result) || !isObject(trust) || (result['prefer'] !== 'trust' && result['prefer'] !== 'newest'))
    return { actual: returned(result), expected };
  const unknown = Object.keys(trust).find((id) => !sources.includes(id));
  if (unknown !== undefined) {
    const sourceNames = `one of the sources ${sources.join(', ')}`;
    const { path: _, ...mistake } = notOneOf('', unknown, sourceNames, sources);
    return { ...mistake, actual: `trust for the source ${mistake.actual}` };
  }
  const fits = Object.values(trust).every((value) => typeof value === 'number' && value >= 0 && value <= 1);
  return fits ? null : { actual: returned(result), expected };
}

function repeated(samples: Sample[], settings: PackSettings): FileMistake[] {
  const keys = samples.map((sample) => settings.identity.key(sample.identity));
  return keys.flatMap((key, i) => {
    const first = keys.indexOf(key);
    const expected = `another record than ${first}`;
    return first === i ? [] : [{ path: `${i}.identity`, actual: `the key ${quoteValue(key)} again`, expected }];
  });
}
