// Keys in place of ids: the conditions on public attributes under which a text names a record.
import { derive } from '../../packs/define/derive.ts';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';
import type { Predicate } from './plan.ts';

/** Parts of a text between slashes; a text of more is no key. */
const MOST_PARTS = 8;

/** Types of identity attributes that a text can spell. */
const SPELT: readonly Attribute['type'][] = ['string', 'text', 'url', 'enum', 'integer', 'number'];

/** The attributes whose values are keys, and those that are joined by `/`; empty without any. */
function keyAttributes(pack: Pack): { single: Attribute[]; joined: Attribute[] } {
  return derive(pack, 'key attributes', () => {
    const { attributes, identity } = pack;
    const open = attributes.filter((attribute) => attribute.public);
    const joined = identity.attributes.flatMap((name) => open.filter((attribute) => attribute.name === name));
    const isSpelt = joined.length === identity.attributes.length && joined.every(({ type }) => SPELT.includes(type));
    return { single: open.filter(({ key }) => key), joined: isSpelt ? joined : [] };
  });
}

/** Whether records of the pack have keys. */
export function hasKeys(pack: Pack): boolean {
  const { single, joined } = keyAttributes(pack);
  return single.length + joined.length > 0;
}

/**
 * The ways in which a text can name a record, each a list of conditions that all must hold: it is a value of a key, or
 * the values of the identity joined by `/`, at each slash where they may be split.
 */
export function keyConditions(pack: Pack, text: string): Predicate[][] {
  const { single, joined } = keyAttributes(pack);
  const ways = single.map(({ name }): Predicate[] => [{ kind: 'any', attribute: name, values: [fold(text)] }]);
  const parts = text.split('/');
  return joined.length === 0 || parts.length > MOST_PARTS ? ways : [...ways, ...splits(joined, parts)];
}

/** The conditions of each way to divide the parts among the attributes, at least one part each. */
function splits([attribute, ...others]: readonly Attribute[], parts: readonly string[]): Predicate[][] {
  if (attribute === undefined) return parts.length === 0 ? [[]] : [];
  const lengths = others.length === 0 ? [parts.length] : parts.keys().drop(1);
  return [...lengths].flatMap((length) => {
    const text = fold(parts.slice(0, length).join('/'));
    const value = attribute.type === 'integer' || attribute.type === 'number' ? Number(text || 'none') : text;
    if (Number.isNaN(value)) return [];
    const first: Predicate = { kind: 'any', attribute: attribute.name, values: [value] };
    return splits(others, parts.slice(length)).map((rest) => [first, ...rest]);
  });
}

/** The condition that leaves out records which no source lists any more; none where that is not public. */
export function listedCondition({ gone, attributes }: Pack): Predicate[] {
  const attribute = attributes.find(({ name }) => name === gone?.attribute);
  return gone !== null && attribute?.public
    ? [{ kind: 'none', attribute: gone.attribute, values: [fold(gone.value)] }]
    : [];
}
