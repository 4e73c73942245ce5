// Weak entity tags of documents and texts that anybody may read (RFC 9110 section 8.8.3); those of answers are keyed (access/entity-tags.ts).
import { hash } from 'node:crypto';

/** Weak tag of a public text, which is the same in every process. */
export function etagOf(body: string | Uint8Array): string {
  return `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}
