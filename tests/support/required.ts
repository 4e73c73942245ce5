// Required parameters of operations, for tests that loop over the table: valid for the pack tools.
import { OPERATIONS } from '../../api/operations/table.ts';
import { inputSchema } from '../../api/render/json-schema.ts';
import type { RawInput } from '../../data/plan/plan.ts';
import { loadPack } from '../../packs/define/load.ts';

const TOOLS = await loadPack('tests/packs/tools');
/** Records of `randomRecords`, which the examples name. */
const SLUGS = ['record-1', 'record-2'];
/** A required parameter of an operation without an example. */
const SINCE = '2026-01-01';

/** Parameters of operations about the whole register. */
const REGISTER: Record<string, RawInput> = { search: { q: 'record' }, fetch: { id: 'tools/record-1' } };

/** The query with the required parameters of the operation at this path, or ''. */
export function requiredQuery(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  const operation = OPERATIONS.find(
    ({ rest }) => rest.path.endsWith(`/${last}`) && (rest.path.includes(':ds') || rest.path === path),
  );
  if (!operation) return '';
  const required = (inputSchema(operation, TOOLS)['required'] as string[] | undefined) ?? [];
  const names = required.filter((name) => !operation.rest.path.includes(`:${name}`));
  const example: RawInput = { since: SINCE, ...REGISTER[operation.name], ...operation.docs.example?.(TOOLS, SLUGS) };
  const query = new URLSearchParams(names.map((name) => [name, String(example[name])]));
  return names.length === 0 ? '' : `?${query}`;
}
