// The router of the app: finds the first of its routes that has a path, by the segments of the path. Hono's RegExpRouter
// refuses a parameter and a literal at the same place (`/v1/:ds/entities/:entity_id` and `/v1/:ds/entities/batch`), and its TrieRouter
// collects and sorts every route of a path, of which only the first one answers here.
import type { Router } from 'hono/router';

interface Route<T> {
  /** Number of the routes that were added before. */
  order: number;
  handler: T;
  /** Names of the parameters of its path, in order. */
  names: readonly string[];
}

/** A position in the paths of routes. */
class PathSegment<T> {
  readonly literals = new Map<string, PathSegment<T>>();
  parameter: PathSegment<T> | undefined;
  /** Routes that end here, by method. */
  readonly ends = new Map<string, Route<T>>();
  /** Routes that end here with `/*`, by method: any further segments, or none. */
  readonly wildcards = new Map<string, Route<T>>();
}

/** A route that was found, with the values of its parameters. */
interface Match<T> {
  route: Route<T>;
  values: readonly string[];
}

/** Paths consist of literal segments, `:name` segments, and `*` as the last one. */
export class FirstRouteRouter<T> implements Router<T> {
  readonly name = 'FirstRouteRouter';
  readonly #root = new PathSegment<T>();
  #routes = 0;

  add(method: string, path: string, handler: T): void {
    const names: string[] = [];
    let segment = this.#root;
    const parts = path.split('/').slice(1);
    const wildcard = parts.at(-1) === '*';
    for (const part of wildcard ? parts.slice(0, -1) : parts) {
      let next = part.startsWith(':') ? segment.parameter : segment.literals.get(part);
      next ??= new PathSegment<T>();
      if (part.startsWith(':')) {
        names.push(part.slice(1));
        segment.parameter = next;
      } else segment.literals.set(part, next);
      segment = next;
    }
    const routes = wildcard ? segment.wildcards : segment.ends;
    if (!routes.has(method)) routes.set(method, { order: this.#routes, handler, names });
    this.#routes += 1;
  }

  match(method: string, path: string): [[T, Record<string, string>][]] {
    const match = find(this.#root, method, path.split('/'), 1, [], null);
    if (match === null) return [[]];
    const params: Record<string, string> = {};
    match.route.names.forEach((name, i) => {
      params[name] = match.values[i]!;
    });
    return [[[match.route.handler, params]]];
  }
}

/** The first route from a segment on, or `best` if that was added before. `values`: those of the parameters so far. */
function find<T>(
  segment: PathSegment<T>,
  method: string,
  parts: readonly string[],
  at: number,
  values: readonly string[],
  best: Match<T> | null,
): Match<T> | null {
  let match = first(segment.wildcards, method, values, best);
  if (at === parts.length) return first(segment.ends, method, values, match);
  const part = parts[at]!;
  const literal = segment.literals.get(part);
  if (literal !== undefined) match = find(literal, method, parts, at + 1, values, match);
  if (segment.parameter === undefined || part === '') return match;
  return find(segment.parameter, method, parts, at + 1, [...values, part], match);
}

/** The first of the routes of a method, and of those of any method, and `best`. */
function first<T>(
  routes: ReadonlyMap<string, Route<T>>,
  method: string,
  values: readonly string[],
  best: Match<T> | null,
): Match<T> | null {
  if (routes.size === 0) return best;
  let match = best;
  for (const route of [routes.get(method), routes.get('ALL')])
    if (route !== undefined && (match === null || route.order < match.route.order)) match = { route, values };
  return match;
}
