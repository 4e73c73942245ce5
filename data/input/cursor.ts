// Cursors of pages: the position after the last record, and its release. Encrypted, because it contains a
// sort value, and bound to its query.
//
//   const cursors = sealedCursors(secret);
//   const text = cursors.write(query, release, { value: 600, id: 'r-107888dabb4c3c7b' });
//   cursors.read(query, text, 'number'); // { release, after: { value: 600, id: … } }
import { hash } from 'node:crypto';
import { gcmsiv } from '@noble/ciphers/aes.js';
import { LRUCache } from 'lru-cache';
import { DataError } from '../model/errors.ts';
import { derivedKey } from '../model/keyed.ts';
import type { Position, Predicate, Sort, Visibility } from '../plan/plan.ts';
import { BOUNDS } from './parse-values.ts';

/** The decrypted cursor. */
export interface Cursor {
  /**
   * Release of the first page. Later pages use it as long as it exists, so that no record repeats or is
   * missing.
   */
  release: string;
  after: Position;
  /** Texts that the pages before were ranked by; only of a relevance sort. */
  scope?: Visibility;
}

/** The query that a cursor is bound to. Page size, fields and format may change between pages. */
export interface Question {
  dataset: string;
  where: readonly Predicate[];
  sort: Sort;
}

/** Writes and reads cursors. */
export interface Cursors {
  /** The same page of the same query has the same cursor, in every process that shares the secret. */
  write(question: Question, release: string, after: Position): string;
  /**
   * Reads a cursor whose sort values are of type `key`. Throws `invalid_cursor` (400) for one that is forged,
   * edited, cut or of another query, also one whose sort attribute has changed its type since.
   */
  read(question: Question, raw: string, key: 'string' | 'number' | 'boolean'): Cursor;
}

const INVALID =
  'cursor: this is not a cursor of this query. Repeat dataset, filters and sort of the request that returned it, and the cursor unchanged.';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * SHA-256 of a query, for any order of its conditions. It omits the visibility of words and statuses, so that
 * a client can pay and continue from a preview.
 */
export function questionHash({ dataset, where, sort }: Question): Buffer {
  const text = sort.relevance ? [sort.relevance.text] : [];
  const conditions = where.map((one) => JSON.stringify('scope' in one ? { ...one, scope: undefined } : one));
  return hash('sha256', JSON.stringify([dataset, conditions.sort(), sort.key, sort.descending, ...text]), 'buffer');
}

/**
 * Cursors encrypted with AES-256-GCM-SIV (RFC 8452), whose initialisation vector is made from the plaintext:
 * the same cursor twice shows only that it is the same. The query is nonce and associated data
 * (docs/decisions/0005-cursors.md).
 */
export function sealedCursors(secret: string): Cursors {
  const key = derivedKey(secret, 'cursors');
  const cipher = (question: Question) => {
    const query = questionHash(question);
    return gcmsiv(key, query.subarray(0, NONCE_BYTES), query);
  };
  // Encryption takes a fifth of the time of a search, and most searches repeat.
  const written = new LRUCache<string, string>({ max: MOST_WRITTEN });
  return {
    write(question, release, after) {
      const place = JSON.stringify([question.dataset, question.where, question.sort, release, after]);
      let text = written.get(place);
      if (text === undefined) {
        text = encrypt(question, release, after);
        written.set(place, text);
      }
      return text;
    },
    read(question, raw, key) {
      const body = opened(raw, (bytes) => cipher(question).decrypt(bytes));
      if (body === null) throw new DataError('invalid_cursor', INVALID);
      const [release, value, id, ties, scope] = body;
      if (value !== null && typeof value !== key) throw new DataError('invalid_cursor', INVALID);
      return { release, after: { value, id, ...(ties && { ties }) }, ...(scope && { scope }) };
    },
  };
  function encrypt(question: Question, release: string, { value, id, ties = [] }: Position): string {
    const { relevance } = question.sort;
    const body = Buffer.from(JSON.stringify([release, value, id, ...(relevance ? [ties, relevance.scope] : [])]));
    return Buffer.from(cipher(question).encrypt(body)).toString('base64url');
  }
}

/** Cursors that are kept, of about 400 bytes each. */
const MOST_WRITTEN = 2000;

/** For examples in documents, which are rendered without the secret: writes a placeholder for each cursor. */
export const EXAMPLE_CURSORS: Cursors = {
  write: () => 'example-cursor',
  read: () => {
    throw new DataError('invalid_cursor', INVALID);
  },
};

type Body = [release: string, value: Position['value'], id: string, ties?: (number | null)[], scope?: Visibility];

function opened(raw: string, decrypt: (bytes: Uint8Array) => Uint8Array): Body | null {
  if (raw.length > BOUNDS.cursor || !/^[\w-]+$/u.test(raw)) return null;
  const bytes = Buffer.from(raw, 'base64url');
  if (bytes.length <= TAG_BYTES || bytes.toString('base64url') !== raw) return null;
  try {
    const parsed: unknown = JSON.parse(Buffer.from(decrypt(bytes)).toString());
    return isBody(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function isBody(parsed: unknown): parsed is Body {
  if (!Array.isArray(parsed) || ![3, 5].includes(parsed.length)) return false;
  const [release, value, id, ties = []] = parsed as unknown[];
  const scalar = value === null || ['string', 'number', 'boolean'].includes(typeof value);
  return (
    typeof release === 'string' &&
    /^[0-9a-f]{16}$/u.test(release) &&
    scalar &&
    typeof id === 'string' &&
    Array.isArray(ties)
  );
}
