// Cursors of pages: the position after the last record, and its release. Encrypted, because it contains a
// sort value, and bound to its query.
//
//   const cursors = sealedCursors(secret);
//   const text = cursors.write(query, release, { value: 600, id: 'r-107888dabb4c3c7b' });
//   cursors.read(query, text, 'number'); // { release, after: { value: 600, id: … } }
import { type CipherGCM, createCipheriv, createDecipheriv, type DecipherGCM, hash } from 'node:crypto';
import type { Geo } from '../../packs/define/model.ts';
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
  /** The position of the record that `near` names, as it was on the first page. */
  point?: Geo;
}

/** The query that a cursor is bound to. Page size, fields and format may change between pages. */
export interface Question {
  dataset: string;
  where: readonly Predicate[];
  sort: Sort;
  /** Attribute that a search groups by; null: none. */
  group_by?: string | null;
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
export function questionHash({ dataset, where, sort, group_by = null }: Question): Buffer {
  const text = [...(sort.relevance ? [sort.relevance.text] : []), ...(group_by === null ? [] : [{ group_by }])];
  const conditions = where.map((one) => {
    if ('scope' in one) return JSON.stringify({ ...one, scope: undefined });
    // The record of `near` may move between pages: the cursor has its point.
    return JSON.stringify(isNearRecord(one) ? { ...one, lat: undefined, lng: undefined } : one);
  });
  return hash('sha256', JSON.stringify([dataset, conditions.sort(), sort.key, sort.descending, ...text]), 'buffer');
}

type Near = Extract<Predicate, { kind: 'near' }>;

const isNearRecord = (condition: Predicate): condition is Near =>
  condition.kind === 'near' && condition.ref !== undefined;

/**
 * Cursors encrypted with AES-256-GCM-SIV (RFC 8452), whose initialisation vector is made from the plaintext:
 * the same cursor twice shows only that it is the same. The query is nonce and associated data
 * (docs/decisions/0005-cursors.md).
 */
export function sealedCursors(secret: string): Cursors {
  const key = derivedKey(secret, 'cursors');
  return {
    write(question, release, { value, id, ties = [], group }) {
      const { relevance } = question.sort;
      const further = relevance ? [ties, relevance.scope] : group === undefined ? [] : [ties, null];
      const near = question.where.find(isNearRecord);
      const ending = [...(group === undefined ? [] : [group]), ...(near ? [[near.lat, near.lng]] : [])];
      const body = JSON.stringify([release, value, id, ...further, ...ending]);
      return encrypt(key, questionHash(question), body).toString('base64url');
    },
    read(question, raw, type) {
      const body = opened(raw, (bytes) => decrypt(key, questionHash(question), bytes));
      if (body === null) throw new DataError('invalid_cursor', INVALID);
      const isNear = question.where.some(isNearRecord);
      const [lat, lng] = isNear ? (body.at(-1) as unknown as [number, number]) : [0, 0];
      const [release, value, id, ties, scope, group] = isNear ? (body.slice(0, -1) as Body) : body;
      if (value !== null && typeof value !== type) throw new DataError('invalid_cursor', INVALID);
      const after = { value, id, ...(ties && { ties }), ...(group !== undefined && { group }) };
      return { release, after, ...(scope && { scope }), ...(isNear && { point: { lat, lng } }) };
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

/** Release, value and id; by relevance or group ties and scope; the group; and the point of the record of `near`. */
type Body = [string, Position['value'], string, Position['ties']?, (Visibility | null)?, Position['group']?];

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
  if (!Array.isArray(parsed) || parsed.length < 3 || parsed.length > 7) return false;
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
