// Weak entity tags under the shared secret (RFC 9110 section 8.8.3): only the service can compute the tag of
// a value.
import { type KeyedDigest, keyedDigest } from '../../data/model/keyed.ts';

export interface EntityTags {
  /**
   * Tag of a version in one representation. Weak, because ages in the body change while the version does not
   * (contract section 2). The representation is everything else that the body depends on: format, query, base
   * URL.
   */
  ofVersion(version: string, representation: readonly string[]): string;
  /** Tag of a body that has no version of its own. */
  ofBody(body: string | Uint8Array): string;
}

const weak = (digest: KeyedDigest, content: string | Uint8Array) => `W/"${digest(content).slice(0, 22)}"`;

/** Two derived keys, so that no body can have the tag of a version. */
export function entityTags(secret: string): EntityTags {
  const version = keyedDigest(secret, 'entity tags of versions');
  const body = keyedDigest(secret, 'entity tags of bodies');
  return {
    ofVersion: (name, representation) => weak(version, `${name}\0${representation.join('\n')}\0`),
    ofBody: (content) => weak(body, content),
  };
}
