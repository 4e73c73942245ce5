// Shorter forms of free answers, for channels that limit the length of an answer (operation.ts,
// `Shortening.brief`).
import type { Brief } from '../../contract/operation.ts';

/**
 * Omits members from every item of the list `body[list]`: `omitMembers('cells', 'attributes', ['cells'])`.
 * `without` names them in the note on the shortened answer.
 */
export function omitMembers<R extends object>(
  without: string,
  list: keyof R & string,
  members: readonly string[],
): Brief<R> {
  const keep = ([name]: [string, unknown]) => !members.includes(name);
  return {
    without,
    of: (body) => {
      const items = body[list] as readonly object[];
      return { ...body, [list]: items.map((item) => Object.fromEntries(Object.entries(item).filter(keep))) };
    },
  };
}

/** Records without provenance and freshness. */
export const WITHOUT_SOURCES: Brief<{ items: unknown[] }> = omitMembers('provenance and freshness', 'items', [
  'provenance',
  'freshness',
]);
