// docs/mcp.md against what the endpoint offers.
import { expect, it } from 'vitest';
import { TOKENS } from '../../../api/channels/mcp/budget.ts';
import { RESOURCES } from '../../../api/channels/mcp/resources.ts';
import { OWN_TOOLS } from '../../../api/channels/mcp/scope.ts';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { TOOL_FILTERS } from '../../../api/render/tool-schema.ts';
import { callable } from '../../../api/render/tools.ts';
import { read, tableRows } from '../../structure/tree.ts';

const rows = tableRows('docs/mcp.md');

it('has each tool with its price, in the order of the list', () => {
  const documented = rows.filter((row) => row.length === 3).map(([name, , price]) => [name, price]);
  const expected = callable(OPERATIONS).map(({ name, charge: { access, price, amount } }) => {
    const paid = price?.condition
      ? price.condition.label
      : price && `${price.of}${price.times ? ` for each ${price.unit ?? 'id'}` : ''}`;
    if (amount) return [name, 'its amount, by x402'];
    return [name, paid ?? (access === 'plan' ? 'part of the plans' : 'free')];
  });
  expect(documented).toEqual(expected);
});

it('has each resource', () => {
  const documented = rows.map(([name]) => name).filter((name) => name?.startsWith('service://'));
  expect(documented).toEqual(RESOURCES.map(({ tool }) => tool?.resource?.replace('{entity_id}', '{id}')));
});

it('states the bounds of an answer and of the list of tools', () => {
  const text = read('docs/mcp.md').replaceAll('\n', ' ');
  expect(text).toContain(`With more than ${OWN_TOOLS} datasets, \`/mcp\` lists only the tools of all datasets.`);
  expect(text).toContain(
    `filters of the first ${TOOL_FILTERS.attributes} attributes (of a group such as \`price.*\` the first ${TOOL_FILTERS.group})`,
  );
  expect(text).toContain(
    `The most tokens of an answer, ${TOKENS.least} to ${TOKENS.most}, ${TOKENS.standard} by default.`,
  );
});
