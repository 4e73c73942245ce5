// Whether a change of a value is reported: another spelling of the same text is published, but is no change.
import type { Attribute, AttributeType, Value } from '../../packs/define/model.ts';
import { unpublishedEntries } from './engine-values.ts';

/**
 * Types of texts in which case and spacing have no meaning; addresses, dates and enum members compare
 * exactly.
 */
const SPELLED: readonly AttributeType[] = ['string', 'text', 'strings'];

/** Whether values of the attribute that differ in case or spacing are the same value. */
export function isSpelled({ type }: Pick<Attribute, 'type'>): boolean {
  return SPELLED.includes(type);
}

const plain = (text: string) => text.toLowerCase().replace(/\s+/g, '');

/** Whether two values of an attribute are equal; texts without case and spacing. */
export function sameValue(attribute: Attribute, a: Value | null, b: Value | null): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  const [x, y] = [publishedJson(attribute, a), publishedJson(attribute, b)];
  return x === y || (isSpelled(attribute) && plain(x) === plain(y));
}

function publishedJson(attribute: Attribute, value: Value): string {
  return JSON.stringify(unpublishedEntries(attribute, value)?.published ?? value);
}
