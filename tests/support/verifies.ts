// How a test says which requirements it shows: `verifies('search.limit')` in its describe or at the top of its file.
import { REQUIREMENTS, type RequirementId } from '../requirements.ts';

const known = new Set<string>(REQUIREMENTS.map(({ id }) => id));

/** Declares requirements that the tests around it show. An id that does not exist is an error at once. */
export function verifies(...ids: RequirementId[]): void {
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw new Error(`no requirement is called ${unknown}; see tests/requirements/`);
}
