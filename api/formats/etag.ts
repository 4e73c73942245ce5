// Weak entity tags: what changes (a version) and how it is shown (a representation), RFC 9110 sections 8.8.3 and 13.1.2.
import { hash } from 'node:crypto';

const digest = (content: string | Uint8Array) => hash('sha256', content, 'base64url').slice(0, 22);

/**
 * Weak tag of a version in one representation. Weak because ages in the body change while the version does not
 * (contract section 2). The representation is everything else the body depends on: format, query, visibility.
 */
export function etag(version: string, representation: string): string {
  return `W/"${digest(`${version}\0${representation}\0`)}"`;
}

/** Weak tag of a body that has no version of its own. */
export function etagOf(body: string | Uint8Array): string {
  return `W/"${digest(body)}"`;
}

/** Whether an If-None-Match header names the tag, by weak comparison; `*` names every tag. */
export function matches(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const opaque = (one: string) => one.replace(/^W\//, '');
  const named = header.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return named.some((one) => opaque(one) === opaque(tag));
}
