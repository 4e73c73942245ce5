// Checks the attributes in a pack: names, members of each type, examples, filter names.
import type { z } from 'zod';
import { fromZod, type Mistake, quoteValue } from './mistakes.ts';
import { type Attribute, type AttributeType, DATED, type Value } from './model.ts';
import { checkValue, NUMERIC, WORDY } from './schema.ts';
import { AttributeShape, membersAt } from './shape.ts';

type Draft = z.output<typeof AttributeShape>;
type Add = (mistake: Omit<Mistake, 'file'>) => void;

const NAME = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/;

/**
 * Parameters and arguments of the specification, sort keys, and a member of every object: no attribute may have
 * these names. The list is closed, so that no later version makes a pack invalid: an attribute with the name of any
 * other parameter has the filter `is_<attribute>` where the parameter exists (data/input/filters.ts).
 */
export const REFUSED_NAMES = [
  ...['q', 'near', 'sort', 'limit', 'cursor', 'fields', 'total', 'ids', 'updated_since', 'min_quality', 'format'],
  ...['by', 'differ_by', 'attribute', 'group_by', 'days', 'step', 'api_key'],
  ...['dataset', 'entity_id', 'filters', 'quality', 'updated', 'relevance', 'distance', 'constructor'],
];

const DATE = /^\d{4}-\d\d-\d\d$/;

const PREFIXES = ['like_', 'not_', 'min_', 'max_', 'has_', 'is_'];

function checkName(name: string, names: string[], add: Add): void {
  const expected = nameRule(name, names);
  if (expected) add({ path: `attributes.${name}`, actual: `the name ${quoteValue(name)}`, expected });
}

function nameRule(name: string, names: string[]): string | null {
  if (!NAME.test(name)) return "lower-case letters, digits and _, with dots for groups, such as 'price.input'";
  if (REFUSED_NAMES.includes(name))
    return 'another name: this one is a search parameter, a sort key or a member of every object';
  const prefix = PREFIXES.find((start) => name.startsWith(start) && names.includes(name.slice(start.length)));
  if (prefix) return `a name that is not the filter ${prefix} of the attribute '${name.slice(prefix.length)}'`;
  const group = names.find((other) => name.startsWith(`${other}.`));
  return group ? `a name outside '${group}', which is an attribute and cannot be a group` : null;
}

/** Members that only these types have. */
const TYPES_OF_MEMBERS = {
  unit: [...NUMERIC, 'geo'],
  currency: ['price'],
  values: ['enum'],
  range: [...NUMERIC, ...DATED],
  round: ['number', 'price'],
  jump: NUMERIC,
  group_jump: NUMERIC,
  tolerance: NUMERIC,
  published_entries: ['strings'],
  vocabulary: ['string', 'enum'],
  better: NUMERIC,
  key: ['string', 'url', 'strings'],
} satisfies { [Member in keyof Draft]?: readonly AttributeType[] };

function checkMembers(path: string, draft: Draft, add: Add): void {
  for (const [member, types] of Object.entries(TYPES_OF_MEMBERS) as [keyof Draft, readonly AttributeType[]][]) {
    const value = draft[member] ?? null;
    if (value !== null && !types.includes(draft.type)) {
      const only = `nothing: ${member} belongs to type ${types.join(', ')}, and this attribute is of type ${draft.type}`;
      add({ path: `${path}.${member}`, actual: quoteValue(value), expected: only });
    }
  }
  if (draft.type === 'price') {
    if (draft.unit === null) {
      add({ path: `${path}.unit`, actual: 'nothing', expected: "a unit such as 'USD/1M tokens': a price needs one" });
    }
    if (draft.currency === null) {
      add({ path: `${path}.currency`, actual: 'nothing', expected: 'a currency code such as USD: a price needs one' });
    }
  }
  if (draft.searchable && !WORDY.includes(draft.type)) {
    const expected = `false: only ${WORDY.join(', ')} attributes have words to search`;
    add({ path: `${path}.searchable`, actual: 'true', expected });
  }
  if (draft.key && (!draft.public || draft.editable)) {
    add({ path: `${path}.key`, actual: 'true', expected: 'false: a key is public, and owners cannot set it' });
  }
  if (draft.group_jump !== undefined && draft.jump === null && NUMERIC.includes(draft.type)) {
    const expected = 'nothing: group_jump requires `jump`, which this attribute does not have';
    add({ path: `${path}.group_jump`, actual: quoteValue(draft.group_jump), expected });
  }
  checkRange(path, draft, add);
  if (draft.sla.warn > draft.sla.error) {
    add({ path: `${path}.sla`, actual: quoteValue(draft.sla), expected: 'a warn that is not above the error' });
  }
  const values = draft.values ?? [];
  const repeated = values.find((value, i) => values.indexOf(value) !== i);
  if (repeated !== undefined) {
    add({ path: `${path}.values`, actual: `${quoteValue(repeated)} twice`, expected: 'each value once' });
  }
}

/** Checks that the bounds fit the type, and their order. */
function checkRange(path: string, { type, range = {} }: Draft, add: Add): void {
  let fits = true;
  for (const member of ['min', 'max'] as const) {
    const bound = range[member];
    if (bound === undefined) continue;
    const isDate = typeof bound === 'string' && (DATE.test(bound) || (member === 'max' && bound === 'now'));
    const dated = DATED.includes(type);
    if (dated ? isDate : typeof bound === 'number' && Number.isFinite(bound)) continue;
    fits = false;
    const date = member === 'max' ? "a date, YYYY-MM-DD, or 'now'" : 'a date, YYYY-MM-DD';
    add({ path: `${path}.range.${member}`, actual: quoteValue(bound), expected: dated ? date : 'a number' });
  }
  const { min, max } = range;
  if (fits && min !== undefined && max !== undefined && max !== 'now' && min > max)
    add({ path: `${path}.range`, actual: quoteValue(range), expected: 'a min that is not above the max' });
}

/** Bounds of numbers and of dates; a bound of the other type is a mistake that is reported. */
function rangesOf({ range = {} }: Draft): Pick<Attribute, 'range' | 'date_range'> {
  const { min, max } = range;
  const number = (bound: unknown) => (typeof bound === 'number' ? bound : null);
  const text = (bound: unknown) => (typeof bound === 'string' && DATE.test(bound) ? bound : null);
  const dates = { min: text(min), max: max === 'now' ? max : text(max) };
  const none = dates.min === null && dates.max === null;
  return { range: { min: number(min), max: number(max) }, ...(none ? {} : { date_range: dates }) };
}

function complete(name: string, draft: Draft): Attribute {
  return {
    ...draft,
    name,
    // Replaced by the checked example below.
    example: draft.example as Value,
    ...rangesOf(draft),
    group_jump: draft.group_jump ?? true,
    tolerance: draft.tolerance ?? 0,
  };
}

/** Checks every attribute separately, so that one mistake does not hide another. Returns the valid ones. */
export function checkAttributes(input: Record<string, unknown>, add: Add): Attribute[] {
  const names = Object.keys(input);
  const checked: Attribute[] = [];
  for (const name of names) {
    checkName(name, names, add);
    const path = `attributes.${name}`;
    const parsed = AttributeShape.safeParse(input[name]);
    if (!parsed.success) {
      const mistakes = fromZod(parsed.error, input[name], ['attributes', name], (at) =>
        membersAt(AttributeShape, at, input[name]),
      );
      for (const mistake of mistakes) add(mistake);
      continue;
    }
    checkMembers(path, parsed.data, add);
    const attribute = complete(name, parsed.data);
    const example = checkValue(attribute, parsed.data.example);
    if (example.ok) attribute.example = example.value;
    else add({ path: `${path}.example`, actual: quoteValue(parsed.data.example), expected: example.reason });
    checked.push(attribute);
  }
  return checked;
}
