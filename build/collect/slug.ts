// The slug of a new record.
import { hash } from 'node:crypto';

const LONGEST_SLUG = 100;

/**
 * The wanted slug in the allowed letters. When it is taken, or looks like an id, six or more hex digits of
 * the key are appended.
 */
export function freeSlug(wanted: string, key: string, taken: ReadonlySet<string>): string {
  const plain = String(wanted)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_SLUG)
    .replace(/^-+|-+$/g, '');
  const digitsOfKey = (count: number) => hash('sha256', key, 'hex').slice(0, count);
  let slug = plain === '' ? digitsOfKey(6) : plain;
  for (let digits = 6; taken.has(slug) || /^r-[0-9a-f]{16}$/.test(slug); digits += 6) {
    slug = `${plain}-${digitsOfKey(digits)}`.replace(/^-/, '');
  }
  return slug;
}
