// Fictional values: examples of attributes, and the records of samples.json.
import type { Value } from '../../../packs/define/model.ts';
import { foldKey } from '../../../packs/define/text.ts';
import { isStorable } from './column.ts';
import type { AttributeProposal, Proposal } from './proposal.ts';

/** A value for pack.ts: of the data for public attributes, which everybody sees, else a fictional one. */
export function exampleOf(attribute: AttributeProposal, isPublic: boolean): Value {
  const real = ['string', 'enum', 'url'].includes(attribute.type) && (isPublic || attribute.type === 'enum');
  const common = real ? attribute.counts.keys().find((text) => text.length <= 200 && isStorable(text)) : undefined;
  return common ?? fictional(attribute, 0);
}

/** Middle of the numbers in one significant digit, so that it is no value of a record. */
function roundNumber({ bounds, type }: AttributeProposal, n: number): number {
  const { min, max } = bounds ?? { min: 0, max: 100 };
  const middle = min + ((max - min) * (n + 1)) / 4;
  const digits = Number(middle.toPrecision(2));
  const inside = digits >= min && digits <= max ? digits : Number(middle.toPrecision(9));
  return type === 'integer' ? Math.round(inside) : inside;
}

/** The `n`-th fictional value of an attribute, from 0. */
function fictional(attribute: AttributeProposal, n: number): Value {
  switch (attribute.type) {
    case 'enum':
      return enumValue(attribute, n);
    case 'boolean':
      return n % 2 === 0;
    case 'integer':
    case 'number':
    case 'price':
      return roundNumber(attribute, n);
    case 'date':
      return `2024-0${n + 1}-15`;
    case 'datetime':
      return `2024-0${n + 1}-15T10:30:00Z`;
    case 'url':
      return `https://example.org/sample-${n + 1}`;
    case 'strings':
      return ['sample', 'fictional'];
    case 'geo':
      return { lat: 10.5 + n, lng: 20.5 + n };
    case 'text':
      return 'Invented text for a sample record.';
    case 'string':
      return unusedText(attribute, n);
  }
}

/** A value of the data, because an enum has no others; a fictional one when all are damaged. */
function enumValue(attribute: AttributeProposal, n: number): string {
  const values = attribute.values ?? [...attribute.counts.keys()].filter(isStorable);
  return values.length === 0 ? unusedText(attribute, n) : values[n % values.length]!;
}

/** A text that no row has. */
function unusedText(attribute: AttributeProposal, n: number): string {
  const word = attribute.name.split(/[_.]/).at(-1)!;
  let text = `Sample ${word} ${n + 1}`;
  for (let more = n + 2; attribute.counts.has(text); more++) text = `Sample ${word} ${more}${n}`;
  return text;
}

/** Values that identify a sample: no row has them. */
function fictionalIdentity(attribute: AttributeProposal, n: number): string | number {
  if (attribute.type === 'integer' || attribute.type === 'number') {
    const above = Math.ceil((attribute.bounds?.max ?? 0) + 1) + 1000 + n;
    return Number.isSafeInteger(above) ? above : -1000 - n;
  }
  if (attribute.type === 'date') return `1900-01-0${n + 1}`;
  if (attribute.type === 'datetime') return `1900-01-0${n + 1}T00:00:00Z`;
  return fictional(attribute, n) as string;
}

/** An entry of samples.json. */
interface SampleRecord {
  identity: Record<string, string | number>;
  values: Record<string, Value>;
  evidence: string;
}

const SAMPLES = 3;

/** Three fictional records, with a range of prices, a missing value and different groups. */
export function fictionalRecords({ attributes, identity }: Proposal): SampleRecord[] {
  const records = Array.from({ length: SAMPLES }, (_, n) => {
    const values: Record<string, Value> = {};
    const id: Record<string, string | number> = {};
    const others = attributes.filter((attribute) => !identity.attributes.includes(attribute.name));
    for (const attribute of attributes.filter(({ name }) => identity.attributes.includes(name)))
      id[attribute.name] = fictionalIdentity(attribute, n);
    for (const other of others) {
      // The last record lacks what some rows of the source lack.
      if (n === SAMPLES - 1 && other === others.at(-1) && others.length > 1) continue;
      values[other.name] = priceOf(other, n) ?? fictional(other, n);
    }
    return { identity: id, values, evidence: 'invented for the samples' };
  });
  // Identities of enums and flags repeat after some records.
  const seen = new Set<string>();
  return records.filter((record) => {
    const key = foldKey(Object.values(record.identity).join('/'));
    return seen.has(key) ? false : seen.add(key);
  });
}

/** A range for the first sample, so that readers of the samples see both forms. */
function priceOf(attribute: AttributeProposal, n: number): Value | null {
  if (attribute.type !== 'price' || n !== 0) return null;
  const min = roundNumber(attribute, 0);
  const max = roundNumber(attribute, 1);
  return min < max ? { min, max, currency: attribute.currency! } : null;
}
