// Which attributes a name that is none of them probably means: other spellings, aliases of the pack, parts of names.
import type { Attribute } from '../../packs/define/model.ts';
import { closestNames, nameSuggestion } from './name-suggestions.ts';
import { printable } from './parse-values.ts';

/** Longest part of a typed name that is compared. */
const LONGEST = 80;

/** `contextWindow`, `context-window` and `Context Windows` have the same parts: words in lower case and the singular. */
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

/** How well a typed name fits a known one; a smaller number is a better fit. */
const FIT = { spelling: 0, order: 1, contains: 2, part: 3 } as const;

/** An alias fits less well than a name. */
const ALIAS = 0.5;

/** Fits up to this one name the same attribute in other words; beyond it they share a part of their names. */
export const SAME_NAME: number = FIT.order + ALIAS;

/** A fit of `typed` to `known`, both as parts; null where they have nothing in common. */
function fitOf(typed: readonly string[], known: readonly string[], behind = 0): { fit: number; at: number } | null {
  if (typed.join('') === known.join('')) return { fit: FIT.spelling + behind, at: 0 };
  const contains = known.every((part) => typed.includes(part));
  if (contains && typed.length === known.length) return { fit: FIT.order + behind, at: 0 };
  // Of `iata_code`, the first part is the attribute.
  if (contains) return { fit: FIT.contains + behind, at: typed.indexOf(known[0] ?? '') };
  if (typed.every((part) => known.includes(part))) return { fit: FIT.part + behind, at: 0 };
  return null;
}

/** Attributes that fit equally well, in the order of the pack. */
export interface AttributeMatch {
  attributes: Attribute[];
  fit: number;
}

/** The attributes that parts of a name fit best; null where they fit none. */
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

/** Attributes that one suggestion names. */
const SUGGESTED = 6;

/** A sentence on the attributes that `name` may mean, of those that `may` be named: those of a group, a near one, or all there are. */
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
