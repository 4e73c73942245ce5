// Weak entity tags of public documents and texts (RFC 9110 section 8.8.3); tags of answers are keyed
// (access/entity-tags.ts).
import { hash } from 'node:crypto';

/** Weak tag of a public text, the same in every process. */
export function etagOf(body: string | Uint8Array): string {
  return `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}
