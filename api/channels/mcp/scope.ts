// Scope of an MCP address: all tools, or those named by `?tools=` and `?datasets=`, within `?max_tokens=`.
import { ApiError } from '../../contract/errors.ts';
import type { Context, Operation } from '../../contract/operation.ts';
import type { Query } from '../../http/request.ts';
import { rememberedTools, samePacks, type Tool, type ToolList, toolsOf } from '../../render/tools.ts';
import { TOKENS } from './budget.ts';

type Releases = Context['releases'];
type Pack = Releases[number]['pack'];

/** Tools of an address, and the length of their results. */
export interface Scope {
  /** Tools that may be called. */
  tools: ReadonlyMap<string, Tool>;
  /**
   * Tools of tools/list: all, or only the shared ones if those of single datasets would make the list too
   * long.
   */
  listed: readonly Tool[];
  /** Datasets in scope; null: all. */
  datasets: ReadonlySet<string> | null;
  /** Tokens per result. */
  tokens: number;
}

/**
 * Maximum number of datasets whose own tools are listed by default: each takes about 1,000 tokens of context.
 */
export const OWN_TOOLS = 5;

/** Cached addresses; a client uses one. */
const REMEMBERED = 100;

export interface Scopes {
  /** The scope of an address for the current releases. */
  of(query: Query, releases: Releases): Promise<Scope>;
  /** The cached scope; undefined if there is none. Its tools still exist. */
  recent(query: Query): Scope | undefined;
}

/** Builds scopes, cached until the packs change. */
export function scopeCache(operations: readonly Operation[]): Scopes {
  let packs: Pack[] = [];
  let known = new Map<string, Scope>();
  const everyTool = rememberedTools(operations);
  return {
    async of(query, releases) {
      const current = releases.map(({ pack }) => pack);
      if (!samePacks(current, packs)) {
        packs = current;
        known = new Map();
      }
      const key = keyOf(query);
      const before = known.get(key);
      if (before !== undefined) return before;
      // Packs may change while the tools are built.
      const scopesOfPacks = known;
      const scope = await narrowed(operations, current, query, everyTool);
      if (scopesOfPacks.size >= REMEMBERED) scopesOfPacks.clear();
      scopesOfPacks.set(key, scope);
      return scope;
    },
    recent: (query) => known.get(keyOf(query)),
  };
}

/** Cache key: the parameters that the scope depends on. Nearly all clients use none. */
function keyOf({ tools, datasets, max_tokens }: Query): string {
  if (tools === undefined && datasets === undefined && max_tokens === undefined) return '';
  return JSON.stringify([tools, datasets, max_tokens]);
}

async function narrowed(
  operations: readonly Operation[],
  packs: readonly Pack[],
  query: Query,
  everyTool: ToolList,
): Promise<Scope> {
  const datasets = named(query, 'datasets', new Set(packs.map(({ id }) => id)));
  const offered = datasets === null ? packs : packs.filter(({ id }) => datasets.has(id));
  const made = await (datasets === null ? everyTool(packs) : toolsOf(operations, offered));
  const all = new Map(made.map((tool) => [tool.name, tool]));
  const names = named(query, 'tools', new Set(all.keys()));
  const tools = names === null ? all : new Map([...all].filter(([name]) => names.has(name)));
  const asked = names !== null || datasets !== null || offered.length <= OWN_TOOLS;
  const listed = [...tools.values()].filter(({ dataset }) => asked || dataset === null);
  return { tools, listed, datasets, tokens: tokensOf(query['max_tokens']) };
}

/** Parses a comma-separated list. Rejects unknown names, so that a client notices a missing tool. */
function named(query: Query, parameter: string, known: ReadonlySet<string>): Set<string> | null {
  const given = query[parameter];
  if (given === undefined) return null;
  const names = [given]
    .flat()
    .flatMap((each) => each.split(','))
    .map((each) => each.trim())
    .filter(Boolean);
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return new Set(names);
  const list = [...known].join(', ');
  throw new ApiError(
    'invalid_parameter',
    `${parameter}: there is no "${unknown.slice(0, 80)}" here; there are ${list}.`,
  );
}

/** Parses `max_tokens`. */
export function tokensOf(given: Query[string] | undefined): number {
  if (given === undefined) return TOKENS.standard;
  const tokens = typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (tokens >= TOKENS.least && tokens <= TOKENS.most) return tokens;
  throw new ApiError('invalid_parameter', `max_tokens: a whole number from ${TOKENS.least} to ${TOKENS.most}.`);
}
