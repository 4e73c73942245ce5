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
  /** Tag of a body that has no version of its own. Bytes must not be modified. */
  ofBody(body: string | Uint8Array): string;
}

const weak = (digest: KeyedDigest, content: string | Uint8Array) => `W/"${digest(content).slice(0, 22)}"`;

/** Tags of versions that are stored; a digest takes longer than finding a record. Some 3 MB. */
const RECENT = 10_000;
/** Tags of one version that are stored, newest first. */
const EACH = 8;

interface StoredTag {
  representation: readonly string[];
  tag: string;
}

const NO_TAGS: readonly StoredTag[] = [];

/** Two derived keys, so that no body can have the tag of a version. */
export function entityTags(secret: string): EntityTags {
  const version = keyedDigest(secret, 'entity tags of versions');
  const body = keyedDigest(secret, 'entity tags of bodies');
  const recent = new Map<string, readonly StoredTag[]>();
  let stored = 0;
  /** Tags of bodies, as long as they are in memory. */
  const bodies = new WeakMap<Uint8Array, string>();
  return {
    ofVersion(name, representation) {
      const known = recent.get(name) ?? NO_TAGS;
      for (const each of known) if (sameTexts(each.representation, representation)) return each.tag;
      const tag = weak(version, `${name}\0${representation.join('\n')}\0`);
      stored += 1;
      if (stored > RECENT) {
        recent.clear();
        stored = 1;
      }
      recent.set(name, [{ representation, tag }, ...known.slice(0, EACH - 1)]);
      return tag;
    },
    ofBody(content) {
      if (typeof content === 'string') return weak(body, content);
      let tag = bodies.get(content);
      if (tag === undefined) {
        tag = weak(body, content);
        bodies.set(content, tag);
      }
      return tag;
    },
  };
}

/** Compares one by one: joining the texts takes longer than finding a record. */
function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return a.length === b.length;
}
