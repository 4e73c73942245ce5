// Finds the one handler of a request: the first route, in the order they were mounted, that fits its method and its path.
import { METHOD_NAME_ALL, type Result, type Router } from 'hono/router';

interface Route<T> {
  method: string;
  /** What each segment must be: a text, or `:name` for any but an empty one. */
  segments: readonly { text: string; param: boolean }[];
  /** It ends with `/*`: whatever follows, also nothing. */
  open: boolean;
  handler: T;
}

/**
 * A router for Hono without middleware: handlers never call `next`, so that one match is enough, and Hono calls it without a
 * chain. Paths consist of texts, `:name`, and `/*` at the end; `app.use` and other patterns are refused.
 *
 *     new Hono({ router: new FirstMatch() })
 */
export class FirstMatch<T> implements Router<T> {
  readonly name = 'FirstMatch';
  readonly #routes: Route<T>[] = [];
  /** Routes that can fit, by method and number of segments. */
  readonly #candidates = new Map<string, Route<T>[][]>();

  add(method: string, path: string, handler: T): void {
    const parts = path.split('/').slice(1);
    const open = parts.at(-1) === '*';
    if (open) parts.pop();
    const segments = parts.map((part) => ({ text: part.replace(/^:/, ''), param: part.startsWith(':') }));
    // Inside a text a colon is one: `/a2a/v1/message:send`.
    if (!path.startsWith('/') || segments.some(({ text, param }) => (param ? /[*:{}?]/ : /[*{}?]/).test(text)))
      throw new Error(`the path ${path} has a pattern that api/http/router.ts does not know`);
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
    // No route has more than a few segments: longer paths share what is open at the end.
    const most = Math.min(length, MOST);
    const known = this.#candidates.get(method) ?? [];
    this.#candidates.set(method, known);
    known[most] ??= this.#routes.filter(
      (route) =>
        (route.method === method || route.method === METHOD_NAME_ALL) &&
        (route.segments.length === length || (route.open && route.segments.length <= length)),
    );
    return known[most];
  }
}

/** Paths of more segments than this fit only routes with an open end. */
const MOST = 16;

/** The path parameters, as they are written; null where the path does not fit. `segments` begins with what stands before the first slash. */
function fit<T>({ segments: wanted }: Route<T>, segments: readonly string[]): Record<string, string> | null {
  let params: Record<string, string> | null = null;
  for (let i = 0; i < wanted.length; i += 1) {
    const { text, param } = wanted[i]!;
    const found = segments[i + 1]!;
    if (!param) {
      if (found !== text) return null;
    } else if (found === '') return null;
    else {
      params ??= Object.create(null) as Record<string, string>;
      params[text] = found;
    }
  }
  return params ?? NONE;
}

const NONE: Record<string, string> = Object.freeze(Object.create(null) as Record<string, string>);
