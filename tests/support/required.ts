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

/** The query with the required parameters of the operation at this path, or ''. */
export function requiredQuery(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  const operation = OPERATIONS.find(({ route }) => route.path.endsWith(`/${last}`) && route.path.includes(':ds'));
  if (!operation) return '';
  const required = (inputSchema(operation, TOOLS)['required'] as string[] | undefined) ?? [];
  const names = required.filter((name) => !operation.route.path.includes(`:${name}`));
  const example: RawInput = { since: SINCE, ...operation.example?.(TOOLS, SLUGS) };
  const query = new URLSearchParams(names.map((name) => [name, String(example[name])]));
  return names.length === 0 ? '' : `?${query}`;
}
