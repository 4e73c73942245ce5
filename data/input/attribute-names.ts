// Finds the attributes that an unknown name probably means: other spellings, aliases of the pack, parts of
// names.
import type { Attribute } from '../../packs/define/model.ts';
import { closestNames, nameSuggestion } from './name-suggestions.ts';
import { printable } from './parse-values.ts';

/** Characters of a typed name that are compared. */
const LONGEST = 80;

/**
 * `contextWindow`, `context-window` and `Context Windows` have the same parts: words in lower case and the
 * singular.
 */
export function nameParts(name: string): string[] {
  return name
    .slice(0, LONGEST)
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '')
    .map(singular);
}

function singular(word: string): string {
  if (word.length < 4 || word.endsWith('ss')) return word;
  return word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/s$/, '');
}

/** Distance of a typed name from a known one; smaller is better. */
const FIT = { spelling: 0, order: 1, contains: 2, part: 3 } as const;

/** Distance added for an alias. */
const ALIAS = 0.5;

/** Up to this distance two names mean the same attribute; above it they only share a part. */
export const SAME_NAME: number = FIT.order + ALIAS;

/** Distance of `typed` from `known`, both as parts; null without a common part. */
function fitOf(typed: readonly string[], known: readonly string[], behind = 0): { fit: number; at: number } | null {
  if (typed.join('') === known.join('')) return { fit: FIT.spelling + behind, at: 0 };
  const contains = known.every((part) => typed.includes(part));
  if (contains && typed.length === known.length) return { fit: FIT.order + behind, at: 0 };
  // Of `iata_code`, the first part is the attribute.
  if (contains) return { fit: FIT.contains + behind, at: typed.indexOf(known[0] ?? '') };
  if (typed.every((part) => known.includes(part))) return { fit: FIT.part + behind, at: 0 };
  return null;
}

/** Attributes at the same distance, in the order of the pack. */
export interface AttributeMatch {
  attributes: Attribute[];
  fit: number;
}

/** The attributes nearest to the parts of a name; null without a match. */
export function matchAttributes(parts: readonly string[], attributes: readonly Attribute[]): AttributeMatch | null {
  if (parts.length === 0) return null;
  const fits = attributes.flatMap((attribute) => {
    const aliases = attribute.aliases.map((alias) => fitOf(parts, nameParts(alias), ALIAS));
    const names = [fitOf(parts, nameParts(attribute.name)), ...aliases];
    const found = names.filter((each) => each !== null).sort((a, b) => a.fit - b.fit || a.at - b.at)[0];
    return found ? [{ attribute, ...found }] : [];
  });
  const [best] = fits.sort((a, b) => a.fit - b.fit || a.at - b.at);
  if (best === undefined) return null;
  const equal = fits.filter(({ fit, at }) => fit === best.fit && at === best.at);
  return { attributes: equal.map(({ attribute }) => attribute), fit: best.fit };
}

/** Most attributes in one suggestion. */
const SUGGESTED = 6;

/**
 * A sentence that suggests attributes for `name`, among those that `may` be named: the members of a group, a
 * similar name, or all of them.
 */
export function attributeSuggestion(
  name: string,
  all: readonly Attribute[],
  may: (attribute: Attribute) => boolean = () => true,
): string {
  const attributes = all.filter(may);
  const group = all.filter((each) => each.name.startsWith(`${name}.`));
  const members = group.filter(may);
  if (members.length > 0) return ` ${printable(name)} is a group: name one of its members, ${listed(members)}.`;
  if (group.length > 0)
    return ` ${printable(name)} is a group, and none of its members can be named here.${nameSuggestion(
      name,
      attributes.map((each) => each.name),
    )}`;
  const names = attributes.map((each) => each.name);
  const match = matchAttributes(withoutWrapper(nameParts(name)), attributes);
  const near = match === null || match.fit > SAME_NAME ? closestNames(name, names, name.length < 8 ? 1 : 2) : [];
  const meant = near.length > 0 ? near : (match?.attributes.map((each) => each.name) ?? closestNames(name, names));
  return meant.length > 0 ? ` Did you mean ${quoted(meant)}?` : nameSuggestion(name, names);
}

/** `attributes.name` is `name`. */
const withoutWrapper = (parts: string[]): string[] => (parts[0] === 'attribute' ? parts.slice(1) : parts);

const listed = (attributes: readonly Attribute[]): string => {
  const names = attributes.slice(0, SUGGESTED).map(({ name }) => name);
  return `${names.join(', ')}${attributes.length > SUGGESTED ? ', …' : ''}`;
};

const quoted = (names: readonly string[]): string =>
  names
    .slice(0, SUGGESTED)
    .map((name) => `"${name}"`)
    .join(' or ');
