// Checks of a pack's other files: samples.json against the attributes and identity rules, the names that record.md uses.

import type { PackDefinition, PackSettings } from './define.ts';
import { type Mistake, notOneOf, show } from './mistakes.ts';
import type { Identity, Sample, Value } from './model.ts';
import { checkValue } from './schema.ts';

type Told = Omit<Mistake, 'file'>;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What of a definition the other files are checked against. An attribute with a mistake of its own has only its name. */
type Columns = Pick<PackDefinition, 'names' | 'attributes'>;

function checkValues(
  path: string,
  input: unknown,
  { names, attributes }: Columns,
  told: Told[],
): Record<string, Value> {
  const values: Record<string, Value> = {};
  if (!isObject(input)) {
    told.push({ path, found: show(input), expected: 'an object of values by attribute' });
    return values;
  }
  for (const [name, value] of Object.entries(input)) {
    if (!names.includes(name)) {
      const mistake = notOneOf(`${path}.${name}`, name, 'the name of an attribute', names);
      told.push({ ...mistake, found: `a value for ${show(name)}` });
      continue;
    }
    const attribute = attributes.find((each) => each.name === name);
    if (attribute === undefined) continue;
    const checked = checkValue(attribute, value);
    if (checked.ok) values[name] = checked.value;
    else told.push({ path: `${path}.${name}`, found: show(value), expected: checked.reason });
  }
  return values;
}

/** The samples as they will be served: values normalised, identity attributes among the values. */
export function checkSamples(input: unknown, definition: PackDefinition): { samples: Sample[]; told: Told[] } {
  const { settings } = definition;
  const told: Told[] = [];
  const samples: Sample[] = [];
  if (!Array.isArray(input) || input.length === 0) {
    told.push({ path: '', found: show(input), expected: 'a list of at least one fictional record {identity, values}' });
    return { samples, told };
  }
  const members = ['identity', 'values', 'evidence'];
  input.forEach((given: unknown, i) => {
    if (!isObject(given)) {
      told.push({ path: `${i}`, found: show(given), expected: 'a record {identity, values, evidence?}' });
      return;
    }
    for (const name of Object.keys(given).filter((each) => !members.includes(each))) {
      const mistake = notOneOf(`${i}.${name}`, name, `one of ${members.join(', ')}`, members);
      told.push({ ...mistake, found: `a member ${show(name)}` });
    }
    if (given['evidence'] !== undefined && typeof given['evidence'] !== 'string') {
      told.push({ path: `${i}.evidence`, found: show(given['evidence']), expected: 'a text' });
    }
    const before = told.length;
    const identity = checkValues(`${i}.identity`, given['identity'], definition, told) as Identity;
    const values = { ...identity, ...checkValues(`${i}.values`, given['values'], definition, told) };
    if (settings === null || told.length > before) return;
    told.push(...checkIdentityRules(`${i}`, identity, values, settings));
    const evidence = typeof given['evidence'] === 'string' ? { evidence: given['evidence'] } : {};
    samples.push({ identity, values, ...evidence });
  });
  if (settings !== null && told.length === 0) told.push(...repeated(samples, settings));
  return { samples, told };
}

/** Tries the pack's own functions on a sample: what they answer must be fit to address and settle a record with. */
function checkIdentityRules(path: string, identity: Identity, values: Record<string, Value>, settings: PackSettings) {
  const told: Told[] = [];
  const { attributes, key, slug, name } = settings.identity;
  for (const needed of attributes.filter((each) => identity[each] === undefined)) {
    told.push({
      path: `${path}.identity.${needed}`,
      found: 'nothing',
      expected: `${needed}, which identifies a record`,
    });
  }
  for (const extra of Object.keys(identity).filter((each) => !attributes.includes(each))) {
    const expected = `only ${attributes.join(', ')}, which identify a record`;
    told.push({ path: `${path}.identity.${extra}`, found: `a value for ${show(extra)}`, expected });
  }
  if (told.length > 0) return told;
  const answers = (rule: string, ask: () => unknown, fits: (answer: unknown) => boolean, expected: string) => {
    let answer: unknown;
    try {
      answer = ask();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      told.push({ path, found: `${rule} throws: ${message}`, expected: `${rule} to answer ${expected}` });
      return;
    }
    if (!fits(answer)) {
      told.push({ path, found: `${rule} answers ${show(answer)}`, expected: `${rule} to answer ${expected}` });
    }
  };
  const filled = (answer: unknown) => typeof answer === 'string' && answer.trim() !== '';
  const slugged = (answer: unknown) => typeof answer === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(answer);
  answers('identity.key', () => key(identity), filled, 'a text');
  answers('identity.slug', () => slug(identity, values), slugged, 'lower-case letters, digits and single -');
  answers('identity.name', () => name(identity, values), filled, 'a text');
  const sources = settings.sources.map((source) => source.id);
  const settled = (answer: unknown) =>
    isObject(answer) &&
    (answer['prefer'] === 'trust' || answer['prefer'] === 'newest') &&
    Object.entries((answer['trust'] as Record<string, unknown> | undefined) ?? {}).every(
      ([id, trust]) => sources.includes(id) && typeof trust === 'number' && trust >= 0 && trust <= 1,
    );
  const rule = `{prefer: 'trust' or 'newest', trust?: 0 to 1 by source: ${sources.join(', ')}}`;
  answers('consolidation.rule', () => settings.consolidation.rule(identity), settled, rule);
  return told;
}

function repeated(samples: Sample[], settings: PackSettings): Told[] {
  const keys = samples.map((sample) => settings.identity.key(sample.identity));
  return keys.flatMap((key, i) => {
    const first = keys.indexOf(key);
    const expected = `another record than ${first}`;
    return first === i ? [] : [{ path: `${i}.identity`, found: `the key ${show(key)} again`, expected }];
  });
}

/** What a template may ask of `record` (api/render/record-template.ts gives it). */
const RECORD = [
  ...['id', 'slug', 'name', 'dataset', 'url', 'updated_at', 'quality_score', 'completeness', 'verified_owner'],
  ...['license', 'attribution', 'preview', 'sample'],
];

/** Names that a template asks for and nobody gives: `values['price.input']`, `values.name`, `record.name`. */
export function checkTemplate(template: string, names: string[]): Told[] {
  const told = new Map<string, Told>();
  for (const [text, object, a, b, c] of template.matchAll(
    /\b(values|record)(?:\[\s*(?:'([^']*)'|"([^"]*)")\s*\]|\.(\w+))/g,
  )) {
    const name = a ?? b ?? c ?? '';
    const known = object === 'values' ? names : RECORD;
    const expected = object === 'values' ? 'the name of an attribute' : `one of ${RECORD.join(', ')}`;
    if (!known.includes(name)) told.set(text, notOneOf(text, name, expected, known));
  }
  return [...told.values()];
}
