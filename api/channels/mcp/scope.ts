// What one MCP address offers: all tools, or those that `?tools=` and `?datasets=` name, within `?max_tokens=`.
import { ApiError } from '../../contract/errors.ts';
import type { Context, Operation } from '../../contract/operation.ts';
import type { Query } from '../../http/request.ts';
import { rememberedTools, samePacks, type Tool, type ToolList, toolsOf } from '../../render/tools.ts';
import { TOKENS } from './budget.ts';

type Releases = Context['releases'];
type Pack = Releases[number]['pack'];

/** The tools of an address, and how long their answers may be. */
export interface Scope {
  /** Tools that may be called. */
  tools: ReadonlyMap<string, Tool>;
  /** Those that tools/list names: all, or the shared ones where the datasets' own would make the list too long. */
  listed: readonly Tool[];
  /** Datasets that are offered; null: all. */
  datasets: ReadonlySet<string> | null;
  /** Tokens of one answer. */
  tokens: number;
}

/** Most datasets whose own tools are listed unasked: each takes about a thousand tokens of what a model reads first. */
export const OWN_TOOLS = 5;

/** Addresses that are remembered; a client keeps to one. */
const REMEMBERED = 100;

export interface Scopes {
  /** The scope of an address, as the releases are now. */
  of(query: Query, releases: Releases): Promise<Scope>;
  /** What it was when somebody asked last; undefined where nobody did. A tool that was there then is there now. */
  recent(query: Query): Scope | undefined;
}

/** Makes scopes, and remembers them as long as the packs are the same. */
export function scopes(operations: readonly Operation[]): Scopes {
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
      // Packs may be exchanged while the tools are made.
      const scopesOfPacks = known;
      const scope = await narrowed(operations, current, query, everyTool);
      if (scopesOfPacks.size >= REMEMBERED) scopesOfPacks.clear();
      scopesOfPacks.set(key, scope);
      return scope;
    },
    recent: (query) => known.get(keyOf(query)),
  };
}

/** What of an address its scope depends on. Nearly everybody asks for all. */
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

/** The names of a comma list that exist; a name that does not is refused, so that no client misses a tool silently. */
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

/** The most tokens of an answer, as an address states them. */
export function tokensOf(given: Query[string] | undefined): number {
  if (given === undefined) return TOKENS.standard;
  const tokens = typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (tokens >= TOKENS.least && tokens <= TOKENS.most) return tokens;
  throw new ApiError('invalid_parameter', `max_tokens: a whole number from ${TOKENS.least} to ${TOKENS.most}.`);
}
