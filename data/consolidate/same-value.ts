// Which changes of a value readers are told of: another spelling of the same text is published and is no change.
import type { Attribute, AttributeType, Value } from '../../packs/define/model.ts';
import { unpublishedEntries } from './engine-values.ts';

/** Types of texts whose letter case and spacing mean nothing; addresses, dates and members of enums are compared as written. */
const SPELLED: readonly AttributeType[] = ['string', 'text', 'strings'];

/** Whether another letter case or spacing of a value of the attribute is the same value. */
export function isSpelled({ type }: Pick<Attribute, 'type'>): boolean {
  return SPELLED.includes(type);
}

const plain = (text: string) => text.toLowerCase().replace(/\s+/g, '');

/** Whether two values of an attribute are published as the same value, but for letter case and spacing. */
export function sameValue(attribute: Attribute, a: Value | null, b: Value | null): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  const [x, y] = [publishedJson(attribute, a), publishedJson(attribute, b)];
  return x === y || (isSpelled(attribute) && plain(x) === plain(y));
}

function publishedJson(attribute: Attribute, value: Value): string {
  return JSON.stringify(unpublishedEntries(attribute, value)?.published ?? value);
}
