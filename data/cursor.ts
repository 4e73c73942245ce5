// The cursor of a page: where it ended, in which release, of which question. Opaque to callers, checked when it returns.
import { hash } from 'node:crypto';
import { DataError } from './errors.ts';
import { BOUNDS } from './parse-values.ts';
import type { Position, Predicate, Sort } from './plan.ts';

/** A cursor that came back unharmed and belongs to the question it came with. */
export interface Cursor {
  /** Release the walk began on: it goes on there while that release is kept, so that nothing repeats or is lost. */
  release: string;
  after: Position;
}

/** What a cursor is bound to: page size, fields and format may change between pages, the question may not. */
export interface Question {
  dataset: string;
  where: readonly Predicate[];
  sort: Sort;
}

/** Six bytes of a text's SHA-256, in base64url: eight characters. */
const sum = (text: string) => hash('sha256', text, 'base64url').slice(0, 8);

/**
 * A short name of a question. Conditions count in any order; the visibility of words is left out, so that a walk begun
 * as a preview goes on after paying.
 */
export function questionHash({ dataset, where, sort }: Question): string {
  const conditions = where.map((one) => JSON.stringify(one.kind === 'words' ? { ...one, scope: undefined } : one));
  return sum(JSON.stringify([dataset, conditions.sort(), sort.key, sort.descending]));
}

/** Writes a cursor. The check sum guards against accidents and editing; a cursor gives no right, so it needs no secret. */
export function encodeCursor(question: Question, release: string, after: Position): string {
  const body = JSON.stringify([1, release, questionHash(question), after.value, after.id]);
  return sum(body) + Buffer.from(body).toString('base64url');
}

/**
 * Reads a cursor whose sort values are of type `key`. Throws `invalid_cursor` (400) for one that is broken, edited or
 * belongs to another question, also one whose sort attribute has changed its type since.
 */
export function decodeCursor(question: Question, raw: string, key: 'string' | 'number' | 'boolean'): Cursor {
  const parsed = open(raw);
  if (parsed === null) throw new DataError('invalid_cursor', 'cursor: this is not a cursor that the service gave out.');
  const [, release, hash, value, id] = parsed;
  if (hash !== questionHash(question) || (value !== null && typeof value !== key))
    throw new DataError(
      'invalid_cursor',
      'cursor: it belongs to another question; repeat dataset, filters and sort of the request that gave it.',
    );
  return { release, after: { value, id } };
}

type Body = [version: 1, release: string, hash: string, value: Position['value'], id: string];

function open(raw: string): Body | null {
  if (raw.length > BOUNDS.cursor || !/^[\w-]+$/u.test(raw)) return null;
  const bytes = Buffer.from(raw, 'base64url');
  if (bytes.toString('base64url') !== raw) return null;
  const body = bytes.subarray(6).toString();
  if (sum(body) !== raw.slice(0, 8)) return null;
  try {
    const parsed: unknown = JSON.parse(body);
    return isBody(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function isBody(parsed: unknown): parsed is Body {
  if (!Array.isArray(parsed) || parsed.length !== 5) return false;
  const [version, release, hash, value, id] = parsed as unknown[];
  const scalar = value === null || ['string', 'number', 'boolean'].includes(typeof value);
  return (
    version === 1 &&
    typeof release === 'string' &&
    /^[0-9a-f]{16}$/u.test(release) &&
    typeof hash === 'string' &&
    scalar &&
    typeof id === 'string'
  );
}
