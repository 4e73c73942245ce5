// Scope of an MCP address: all tools, or those named by `?tools=` and `?datasets=`, within `?max_tokens=`.
import { BoundedCache } from '../../../data/model/bounded-cache.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Operation, RegisterFacts } from '../../contract/operation.ts';
import type { Query } from '../../http/request.ts';
import { cachedToolList, samePacks, type Tool, type ToolList, toolsOf } from '../../render/tools.ts';
import { TOKENS } from './budget.ts';

type Releases = RegisterFacts['releases'];
type Pack = Releases[number]['pack'];

/** Tools of an address, and the length of their results. */
export interface Scope {
  /** Tools that may be called. */
  tools: ReadonlyMap<string, Tool>;
  /**
   * Tools of tools/list: all, or only the shared ones if those of single datasets would make the list too
   * long.
   */
  toolList: readonly Tool[];
  /** Datasets in scope; null: all. */
  datasets: ReadonlySet<string> | null;
  /** Tokens per result. */
  tokens: number;
}

/**
 * Maximum number of datasets whose own tools are listed by default: each takes about 1,000 tokens of context.
 */
export const OWN_TOOLS = 5;

/** The value of `tools` for the few tools that answer most questions (`tool.core`). */
const CORE = 'core';

/** Cached addresses; a client uses one. */
const REMEMBERED = 100;

export interface Scopes {
  /** The scope of an address for the current releases. */
  of(query: Query, releases: Releases, account: boolean): Promise<Scope>;
  /** The cached scope; undefined if there is none. Its tools still exist. */
  recent(query: Query, account: boolean): Scope | undefined;
}

/** Builds scopes, cached until the packs change. `account`: of the address that lists the tools of accounts. */
export function scopeCache(operations: readonly Operation[]): Scopes {
  let packs: Pack[] = [];
  let scopes = newScopes();
  const everyTool = cachedToolList(operations);
  return {
    async of(query, releases, account) {
      const current = releases.map(({ pack }) => pack);
      if (!samePacks(current, packs)) {
        packs = current;
        scopes = newScopes();
      }
      const key = keyOf(query, account);
      const existing = scopes.get(key);
      if (existing !== undefined) return existing;
      // Packs may change while the tools are built.
      const scopesOfPacks = scopes;
      const scope = await buildScope(operations, current, query, everyTool, account);
      scopesOfPacks.set(key, scope);
      return scope;
    },
    recent: (query, account) => scopes.get(keyOf(query, account)),
  };
}

const newScopes = () => new BoundedCache<string, Scope>('MCP scopes', { most: REMEMBERED });

/** Cache key: what the scope depends on. Nearly all clients use no parameters. */
function keyOf({ tools, datasets, max_tokens }: Query, account: boolean): string {
  if (tools === undefined && datasets === undefined && max_tokens === undefined) return account ? 'account' : '';
  return JSON.stringify([tools, datasets, max_tokens, account]);
}

async function buildScope(
  operations: readonly Operation[],
  packs: readonly Pack[],
  query: Query,
  everyTool: ToolList,
  account: boolean,
): Promise<Scope> {
  const datasets = parseNames(query, 'datasets', new Set(packs.map(({ id }) => id)));
  const offered = datasets === null ? packs : packs.filter(({ id }) => datasets.has(id));
  const allTools = await (datasets === null ? everyTool(packs) : toolsOf(operations, offered));
  const all = new Map(allTools.map((tool) => [tool.name, tool]));
  const names = parseNames(query, 'tools', new Set([...all.keys(), CORE]));
  const isCore = ({ dataset, operation }: Tool) => dataset === null && operation.tool?.core === true;
  const tools =
    names === null
      ? all
      : new Map([...all].filter(([name, tool]) => names.has(name) || (names.has(CORE) && isCore(tool))));
  const complete = names !== null || datasets !== null || offered.length <= OWN_TOOLS;
  const isListed = ({ operation, dataset }: Tool) =>
    (complete || dataset === null) && (account || names !== null || !operation.tool?.account);
  const toolList = [...tools.values()].filter(isListed);
  return { tools, toolList, datasets, tokens: tokensOf(query['max_tokens']) };
}

/** Parses a comma-separated list. Rejects unknown names, so that a client notices a missing tool. */
function parseNames(query: Query, parameter: string, available: ReadonlySet<string>): Set<string> | null {
  const value = query[parameter];
  if (value === undefined) return null;
  const names = [value]
    .flat()
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter(Boolean);
  const unknown = names.find((name) => !available.has(name));
  if (unknown === undefined) return new Set(names);
  const list = [...available].join(', ');
  throw new ApiError(
    'invalid_parameter',
    `${parameter}: there is no "${unknown.slice(0, 80)}" here; there are ${list}.`,
  );
}

/** Parses `max_tokens`. */
export function tokensOf(value: Query[string] | undefined): number {
  if (value === undefined) return TOKENS.standard;
  const tokens = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (tokens >= TOKENS.least && tokens <= TOKENS.most) return tokens;
  throw new ApiError('invalid_parameter', `max_tokens: a whole number from ${TOKENS.least} to ${TOKENS.most}.`);
}
