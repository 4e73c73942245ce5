// The slug of a new record.
import { createHash } from 'node:crypto';

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
  const hash = createHash('sha256').update(key).digest('hex');
  let slug = plain === '' ? hash.slice(0, 6) : plain;
  for (let digits = 6; taken.has(slug) || /^r-[0-9a-f]{16}$/.test(slug); digits += 6) {
    slug = `${plain}-${hash.slice(0, digits)}`.replace(/^-/, '');
  }
  return slug;
}
