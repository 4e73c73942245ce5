// Whether a change of a value is reported: another spelling of the same text, more digits of the same number, and the
// day as written are published, but are no change.
import type { Attribute, AttributeType, Value } from '../../packs/define/model.ts';
import { PERIOD_LENGTHS, timeInEvidence, utcSeconds } from '../../packs/define/times.ts';
import { onlyAddsDigits } from './compare.ts';
import { unpublishedEntries } from './engine-values.ts';
import type { Statement } from './model.ts';

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

/** Whether a value of an attribute equals the earlier `a` without case and spacing, or only adds digits to it. */
export function sameValue(attribute: Attribute, a: Value | null, b: Value | null): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  const [x, y] = [publishedJson(attribute, a), publishedJson(attribute, b)];
  return x === y || (isSpelled(attribute) && plain(x) === plain(y)) || onlyAddsDigits(attribute, a, b);
}

/**
 * Whether a date only moves to the day as written, which earlier versions of the program stored as the day in UTC. Only
 * later versions have the written time in the evidence.
 */
export function movesToWrittenDay({ type }: Attribute, before: Statement, after: Statement): boolean {
  if (type !== 'date' || before.value === null || after.value === null) return false;
  const time = timeInEvidence(after.evidence ?? '');
  if (time === null || time.offset === null || timeInEvidence(before.evidence ?? '') !== null) return false;
  const utcDay = new Date(utcSeconds(time) * 1000).toISOString().slice(0, PERIOD_LENGTHS.day);
  return time.day === after.value && utcDay === before.value;
}

function publishedJson(attribute: Attribute, value: Value): string {
  return JSON.stringify(unpublishedEntries(attribute, value)?.published ?? value);
}
