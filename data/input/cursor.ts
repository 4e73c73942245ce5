// Cursors of pages: the position after the last record, and its release. Encrypted, because it contains a
// sort value, and bound to its query.
//
//   const cursors = sealedCursors(secret);
//   const text = cursors.write(query, release, { value: 600, id: 'r-107888dabb4c3c7b' });
//   cursors.read(query, text, 'number'); // { release, after: { value: 600, id: … } }
import { type CipherGCM, createCipheriv, createDecipheriv, type DecipherGCM, hash } from 'node:crypto';
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
  return {
    write(question, release, { value, id, ties = [] }) {
      const { relevance } = question.sort;
      const body = JSON.stringify([release, value, id, ...(relevance ? [ties, relevance.scope] : [])]);
      return encrypt(key, questionHash(question), body).toString('base64url');
    },
    read(question, raw, type) {
      const body = opened(raw, (bytes) => decrypt(key, questionHash(question), bytes));
      if (body === null) throw new DataError('invalid_cursor', INVALID);
      const [release, value, id, ties, scope] = body;
      if (value !== null && typeof value !== type) throw new DataError('invalid_cursor', INVALID);
      return { release, after: { value, id, ...(ties && { ties }) }, ...(scope && { scope }) };
    },
  };
}

// Node's types know only AES-GCM, whose classes are the same.
const ALGORITHM = 'aes-256-gcm-siv' as 'aes-256-gcm';

/** The ciphertext and its tag. `query`: SHA-256 of the query. */
function encrypt(key: Uint8Array, query: Buffer, body: string): Buffer {
  const cipher: CipherGCM = createCipheriv(ALGORITHM, key, query.subarray(0, NONCE_BYTES)).setAAD(query);
  const ciphertext = cipher.update(body, 'utf8');
  cipher.final();
  return Buffer.concat([ciphertext, cipher.getAuthTag()]);
}

/** Decrypts what `encrypt` returned; throws for anything else. */
function decrypt(key: Uint8Array, query: Buffer, bytes: Buffer): string {
  const decipher: DecipherGCM = createDecipheriv(ALGORITHM, key, query.subarray(0, NONCE_BYTES)).setAAD(query);
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const body = decipher.update(bytes.subarray(0, -TAG_BYTES));
  decipher.final();
  return body.toString();
}

/** For examples in documents, which are rendered without the secret: writes a placeholder for each cursor. */
export const EXAMPLE_CURSORS: Cursors = {
  write: () => 'example-cursor',
  read: () => {
    throw new DataError('invalid_cursor', INVALID);
  },
};

type Body = [release: string, value: Position['value'], id: string, ties?: (number | null)[], scope?: Visibility];

function opened(raw: string, decrypted: (bytes: Buffer) => string): Body | null {
  if (raw.length > BOUNDS.cursor || !/^[\w-]+$/u.test(raw)) return null;
  const bytes = Buffer.from(raw, 'base64url');
  if (bytes.length <= TAG_BYTES || bytes.toString('base64url') !== raw) return null;
  try {
    const parsed: unknown = JSON.parse(decrypted(bytes));
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
