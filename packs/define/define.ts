// definePack: checks the content of pack.ts and fills in defaults (contract section 7).
import { checkAttributes } from './attributes.ts';
import { fromZod, type Mistake, nearestName, quoteValue } from './mistakes.ts';
import type { Attribute, PackSettings } from './model.ts';
import { checkReferences, type Sections } from './references.ts';
import { membersAt, type PackInput, PackShape } from './shape.ts';

const KIND = 'dataset-register/pack';

/** The default export of a pack.ts: settings when it is valid, and every mistake in it. */
export interface PackDefinition {
  kind: typeof KIND;
  settings: PackSettings | null;
  /** Names of all attributes, and the valid attributes: to check samples of a pack with mistakes. */
  names: string[];
  attributes: Attribute[];
  /** Whether a source is read by collect.ts: it has no `from`, but `pins`, `newest` or `crawl`. */
  needsCollector: boolean;
  mistakes: Omit<Mistake, 'file'>[];
}

/**
 * Declares a pack. Never throws: the loader reports all mistakes of a pack together, with those of its other
 * files.
 *
 * @example
 * ```ts
 * export default definePack({ title: 'Tools', attributes: { name: { type: 'string', … } }, … });
 * ```
 */
export function definePack(input: PackInput): PackDefinition {
  const mistakes: Omit<Mistake, 'file'>[] = [];
  const add = (mistake: Omit<Mistake, 'file'>) => void mistakes.push(mistake);
  const members = asObject(input);
  if (members === null) {
    add({ path: '', actual: quoteValue(input), expected: 'an object: definePack({ title, description, … })' });
    return { kind: KIND, settings: null, names: [], attributes: [], needsCollector: false, mistakes };
  }
  const packMembers = Object.keys(PackShape.shape);
  for (const name of Object.keys(members)) {
    if (packMembers.includes(name)) continue;
    const expected = `one of ${packMembers.join(', ')}`;
    add({ path: name, actual: `a member '${name}'`, expected, nearest: nearestName(name, packMembers) });
  }
  const columns = asObject(members['attributes']);
  const attributes = columns ? checkAttributes(columns, add) : [];
  if (columns === null || Object.keys(columns).length === 0) {
    add({ path: 'attributes', actual: quoteValue(members['attributes']), expected: 'an object of attributes by name' });
  }
  const sections = checkSections(members, add);
  const names = Object.keys(columns ?? {});
  checkReferences(sections, names, attributes, add);
  const settings = mistakes.length === 0 ? complete(sections as Required<Sections>, attributes) : null;
  const sources = Object.values(asObject(members['sources']) ?? {});
  const needsCollector = sources.map(asObject).some((source) => {
    const { from, pins, newest, crawl } = source ?? {};
    return from === undefined && [pins, newest, crawl].some((member) => member !== undefined);
  });
  return { kind: KIND, settings, names, attributes, needsCollector, mistakes };
}

/** Whether the default export of a file came from `definePack`. */
export function isDefinition(value: unknown): value is PackDefinition {
  return asObject(value)?.['kind'] === KIND;
}

function asObject(value: unknown): Record<string, unknown> | null {
  const plain = typeof value === 'object' && value !== null && !Array.isArray(value);
  return plain ? (value as Record<string, unknown>) : null;
}

function checkSections(members: Record<string, unknown>, add: (mistake: Omit<Mistake, 'file'>) => void): Sections {
  const sections: Record<string, unknown> = {};
  for (const [name, shape] of Object.entries(PackShape.shape)) {
    if (name === 'attributes') continue;
    const parsed = shape.safeParse(members[name]);
    if (parsed.success) sections[name] = parsed.data;
    else
      for (const mistake of fromZod(parsed.error, members[name], [name], (at) => membersAt(shape, at, members[name])))
        add(mistake);
  }
  return sections as Sections;
}

/** Fills in the defaults that are made of several members. */
function complete({ serving, ...sections }: Required<Sections>, attributes: Attribute[]): PackSettings {
  const identifying = sections.identity.attributes;
  const core = serving.core ?? ['name', ...identifying, sections.group_by, ...sections.compare];
  const namesOf = (wanted: (attribute: Attribute) => boolean) => attributes.filter(wanted).map(({ name }) => name);
  const publicNames = namesOf((attribute) => attribute.public);
  return {
    ...sections,
    attributes,
    serving: {
      ...serving,
      distinguish_by: serving.distinguish_by ?? identifying.filter((name) => publicNames.includes(name)),
      core: namesOf(({ name }) => core.includes(name)),
      similar_by: serving.similar_by ?? namesOf(({ searchable }) => searchable),
    },
    price_attributes: namesOf(({ type }) => type === 'price'),
  };
}
