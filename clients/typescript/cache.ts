// Caches of answers for conditional requests: an answer that did not change is sent and charged once.

/** An answer with its validator. */
export interface CachedAnswer {
  /** ETag of the response. */
  etag: string;
  body: string;
  content_type: string;
}

/** A store of answers. The keys contain the address and a fingerprint of the credential, never the credential. */
export interface AnswerCache {
  get(key: string): Promise<CachedAnswer | undefined> | CachedAnswer | undefined;
  set(key: string, answer: CachedAnswer): Promise<void> | void;
}

/**
 * A cache in memory that drops the answers which were not used for the longest time.
 *
 * @example
 * ```ts
 * const register = new Register({ url, cache: memoryCache({ characters: 50_000_000 }) });
 * ```
 */
export function memoryCache({ characters = 20_000_000 }: { characters?: number } = {}): AnswerCache {
  const answers = new Map<string, CachedAnswer>();
  let size = 0;
  const remove = (key: string) => {
    size -= answers.get(key)?.body.length ?? 0;
    answers.delete(key);
  };
  return {
    get(key) {
      const answer = answers.get(key);
      if (answer === undefined) return undefined;
      answers.delete(key);
      answers.set(key, answer);
      return answer;
    },
    set(key, answer) {
      remove(key);
      if (answer.body.length > characters) return;
      answers.set(key, answer);
      size += answer.body.length;
      for (const oldest of answers.keys()) {
        if (size <= characters) break;
        remove(oldest);
      }
    },
  };
}

/** A short number that separates the entries of two credentials; it does not protect them. */
export function fingerprint(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (const character of text) {
    const code = character.codePointAt(0)!;
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  return ((high >>> 0) * 2 ** 21 + (low >>> 11)).toString(36);
}
