// Router: finds the first mounted route that matches the method and the path of a request.
import { METHOD_NAME_ALL, type Result, type Router } from 'hono/router';

/**
 * Path parameters. Instances inherit nothing, so that any name is safe. `Object.create(null)` would make a
 * hash table of each object, which is slower to create and to read.
 */
class PathParameters {
  [name: string]: string;
}
Object.setPrototypeOf(PathParameters.prototype, null);
Reflect.deleteProperty(PathParameters.prototype, 'constructor');

interface Route<T> {
  method: string;
  /** Each segment: a text, or `:name` for any segment but an empty one. */
  segments: readonly { text: string; param: boolean }[];
  /** It ends with `/*`: matches any further segments, or none. */
  open: boolean;
  handler: T;
}

/**
 * Router for Hono without middleware: handlers never call `next`, so one match is enough and Hono calls it
 * directly. Paths consist of texts, `:name`, and `/*` at the end; `app.use` and other patterns are rejected.
 *
 *     new Hono({ router: new FirstMatch() })
 */
export class FirstMatch<T> implements Router<T> {
  readonly name = 'FirstMatch';
  readonly #routes: Route<T>[] = [];
  /** Candidate routes by method and number of segments. */
  readonly #candidates = new Map<string, Route<T>[][]>();

  add(method: string, path: string, handler: T): void {
    const parts = path.split('/').slice(1);
    const open = parts.at(-1) === '*';
    if (open) parts.pop();
    const segments = parts.map((part) => ({ text: part.replace(/^:/, ''), param: part.startsWith(':') }));
    // A colon inside a segment is literal: `/a2a/v1/message:send`.
    if (!path.startsWith('/') || segments.some(({ text, param }) => (param ? /[*:{}?]/ : /[*{}?]/).test(text)))
      throw new Error(`the path ${path} has a pattern that api/http/router.ts does not support`);
    this.#routes.push({ method, segments, open, handler });
    this.#candidates.clear();
  }

  match(method: string, path: string): Result<T> {
    const segments = path.split('/');
    for (const route of this.#fitting(method, segments.length - 1)) {
      const params = fit(route, segments);
      if (params !== null) return [[[route.handler, params]]];
    }
    return [[]];
  }

  #fitting(method: string, length: number): Route<T>[] {
    // No route has many segments: longer paths share the candidates with an open end.
    const most = Math.min(length, MOST);
    const candidates = this.#candidates.get(method) ?? [];
    this.#candidates.set(method, candidates);
    candidates[most] ??= this.#routes.filter(
      (route) =>
        (route.method === method || route.method === METHOD_NAME_ALL) &&
        (route.segments.length === length || (route.open && route.segments.length <= length)),
    );
    return candidates[most];
  }
}

/** Paths with more segments than this match only routes with an open end. */
const MOST = 16;

/**
 * Path parameters, undecoded; null if the path does not match. `segments` starts with the empty text before
 * the first slash.
 */
function fit<T>({ segments: pattern }: Route<T>, segments: readonly string[]): Record<string, string> | null {
  let some = false;
  for (let i = 0; i < pattern.length; i += 1) {
    const { text, param } = pattern[i]!;
    const segment = segments[i + 1]!;
    if (param ? segment === '' : segment !== text) return null;
    some ||= param;
  }
  if (!some) return NONE;
  // Created only for the route that matches.
  const params = new PathParameters();
  for (let i = 0; i < pattern.length; i += 1) if (pattern[i]!.param) params[pattern[i]!.text] = segments[i + 1]!;
  return params;
}

const NONE: Record<string, string> = Object.freeze(new PathParameters());
