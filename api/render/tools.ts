// The tools of agents: operations with the names, descriptions and schemas of MCP and A2A (contract section
// 8).

import { mapSlices } from '../../data/plan/slices.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { JsonSchema } from '../../packs/define/record-schema.ts';
import { isTool, type Operation } from '../contract/operation.ts';
import { priceSentence } from '../contract/pricing.ts';
import { clause, filterable, toolInput } from './tool-schema.ts';

/** One tool: an operation for all datasets, or for one of them. */
export interface Tool {
  name: string;
  title: string;
  /** Purpose and price. */
  description: string;
  operation: Operation;
  /** The dataset of a dataset's own tool; null: the dataset is an argument, or there is none. */
  dataset: string | null;
  /** JSON Schema of its arguments. */
  input: JsonSchema;
}

/** Operations that agents may call: the same for MCP and A2A. */
export function callable(operations: readonly Operation[]): Operation[] {
  return operations.filter(isTool);
}

/** Name of a dataset's own tool; `-` becomes `_` (contract section 7). */
function ownToolName(dataset: string, { tool }: Operation): string {
  return `${dataset.replaceAll('-', '_')}_${tool?.per_dataset?.suffix}`;
}

/** Names of a dataset's own tools, in the order of the table. */
export function ownToolNames(operations: readonly Operation[], dataset: string): string[] {
  return callable(operations).flatMap((operation) =>
    operation.tool?.per_dataset ? [ownToolName(dataset, operation)] : [],
  );
}

/** Tools built between two turns of the event loop: some 3 ms. */
const TOOLS_A_SLICE = 4;

/** All tools of some datasets: the shared ones first, then each dataset's own, in the order of the table. */
export async function toolsOf(operations: readonly Operation[], packs: readonly Pack[]): Promise<Tool[]> {
  const shared = callable(operations);
  const perDataset = shared.filter(({ tool }) => tool?.per_dataset !== undefined);
  const makers = [
    ...shared.map((operation) => () => sharedTool(operation, packs)),
    ...packs.flatMap((pack) => perDataset.map((operation) => () => ownTool(operation, pack))),
  ];
  return mapSlices(makers, TOOLS_A_SLICE, (make) => make());
}

export type ToolList = (packs: readonly Pack[]) => Promise<Tool[]>;

/** `toolsOf` with a cache for the last list of packs. */
export function cachedToolList(operations: readonly Operation[]): ToolList {
  let last: { packs: readonly Pack[]; tools: Promise<Tool[]> } | null = null;
  return (packs) => {
    if (last === null || !samePacks(last.packs, packs)) last = { packs, tools: toolsOf(operations, packs) };
    return last.tools;
  };
}

/**
 * Whether two lists have the same packs in the same order. Packs are compared by identity: a reloaded pack is
 * another object.
 */
export const samePacks = (a: readonly Pack[], b: readonly Pack[]): boolean =>
  a.length === b.length && a.every((pack, index) => pack === b[index]);

function sharedTool(operation: Operation, packs: readonly Pack[]): Tool {
  const { name, title, description } = operation;
  return {
    name,
    title,
    description: `${description} ${priceSentence(operation, packs)}`.trim(),
    operation,
    dataset: null,
    input: toolInput(operation, packs, null),
  };
}

/** Filters that a search accepts in addition to those of its schema. */
function furtherFilters(pack: Pack): string {
  // One name for a group such as `price.*`.
  const names = [...new Set(filterable(pack).rest.map(({ name }) => name.replace(/\..*/, '.*')))];
  const more = [...names.slice(0, NAMED), ...(names.length > NAMED ? ['...'] : [])].join(', ');
  return `Also filters <name>, not_<name>, like_<name> (contains), min_<name>, max_<name>, has_<name>${more && `, and of ${more}`}: see dataset_guide.`;
}

/**
 * Most attributes that a description names, and most characters that it quotes from the description of the
 * dataset.
 */
const [NAMED, ABOUT] = [40, 120];

function ownTool(operation: Operation, pack: Pack): Tool {
  const search = operation.tool?.per_dataset?.filters;
  const [sentence = ''] = operation.description.split(/(?<=\.) /);
  return {
    name: ownToolName(pack.id, operation),
    title: `${operation.title}: ${pack.title}`,
    description: [
      `${pack.title}: ${search ? operation.description : sentence}`,
      search && `${clause(pack.description, ABOUT)}.`,
      search && furtherFilters(pack),
      priceSentence(operation, [pack]),
    ]
      .filter(Boolean)
      .join(' '),
    operation,
    dataset: pack.id,
    input: toolInput(operation, [pack], pack),
  };
}
