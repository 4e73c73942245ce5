// Declares the requirements that a test verifies: `verifies('search.limit')` in its describe or at the top of
// its file.
import { REQUIREMENTS, type RequirementId } from '../requirements.ts';

const known = new Set<string>(REQUIREMENTS.map(({ id }) => id));

/** Declares requirements of the surrounding tests. An unknown id is an immediate error. */
export function verifies(...ids: RequirementId[]): void {
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw new Error(`no requirement is called ${unknown}; see tests/requirements/`);
}
