// The operators' pages as functions from requests to responses; the channel counts requests and knows their addresses.
import { ApiError, ERRORS, FOR_OPERATORS } from '../contract/errors.ts';
import { auditLog, optOutsPage } from './pages/deeds.ts';
import { keyPage, keysPage, postGrant, postRevoke } from './pages/keys.ts';
import { errorPage, errorPiece, foreignPage, signInPage } from './pages/login.ts';
import { moneyPage } from './pages/money.ts';
import { nightsPage } from './pages/nights.ts';
import { nowPiece, overviewPage, statsJson } from './pages/overview.ts';
import { decidePost, reviewCasePage, reviewJson, reviewPage, reviewPiece } from './pages/review.ts';
import type { Answer, Asked, OpsParts } from './parts/asked.ts';
import { HTMX_PATH, htmxFile } from './parts/assets.ts';
import { FRAME_HEADERS, type OpsPage, printPage, withPrefix } from './parts/frame.ts';
import { isOwn, nextOf, prefixOf, signedIn, signIn, signOut } from './signin.ts';

type Handler = (parts: OpsParts, asked: Asked, who: string) => Promise<Answer>;

/** Addresses for operators who are signed in, or show their key. */
const HANDLERS: Readonly<Record<string, Handler>> = {
  'GET /ops': overviewPage,
  'GET /ops/': overviewPage,
  'GET /ops/stats.json': statsJson,
  'GET /ops/review.json': reviewJson,
  'GET /ops/review': reviewPage,
  'GET /ops/review/:item_id': reviewCasePage,
  'POST /ops/review/:item_id/approve': (parts, asked, who) => decidePost(parts, asked, who, 'approved'),
  'POST /ops/review/:item_id/reject': (parts, asked, who) => decidePost(parts, asked, who, 'rejected'),
  'GET /ops/partials/review': reviewPiece,
  'GET /ops/partials/now': nowPiece,
  'GET /ops/nights': nightsPage,
  'GET /ops/keys': keysPage,
  'GET /ops/keys/:key_id': keyPage,
  'POST /ops/keys/:key_id/grant': postGrant,
  'POST /ops/keys/:key_id/revoke': postRevoke,
  'GET /ops/money': moneyPage,
  'GET /ops/opt-outs': optOutsPage,
  'GET /ops/log': auditLog,
};

/** Addresses that anybody may ask. */
const OPEN = ['GET /ops/login', 'POST /ops/login', 'POST /ops/logout', `GET ${HTMX_PATH}`];

export interface OpsServer {
  /** Every address, as `GET /ops/review/:item_id`. */
  routes: readonly string[];
  /** Answers a request for one of them; what it throws is an ApiError, or our own fault. */
  answer(route: string, asked: Asked): Promise<Response>;
  /** An error as a page; as a line in the place of what was asked for where htmx puts it into one. */
  tell(error: ApiError, request_id: string, piece: boolean): Response;
}

/** Opens the pages. */
export function openOps(parts: OpsParts): OpsServer {
  const { base_url } = parts;
  const prefix = prefixOf(base_url);
  const shown = (page: OpsPage, status: number, more: Record<string, string> = {}) =>
    new Response(printPage(base_url, page), { status, headers: { ...FRAME_HEADERS, ...more } });
  const leading = (path: string, more: Record<string, string> = {}) =>
    new Response(null, { status: 303, headers: { 'Cache-Control': 'no-store', Location: prefix + path, ...more } });
  const toSignIn = (path: string) => {
    const next = nextOf(path);
    return next === '/ops' ? '/ops/login' : `/ops/login?next=${next}`;
  };

  function response(answer: Answer): Response {
    if ('to' in answer) return leading(answer.to);
    const { status = 200 } = answer;
    if ('page' in answer) return shown(answer.page, status);
    if ('piece' in answer)
      return new Response(withPrefix(base_url, answer.piece), { status, headers: { ...FRAME_HEADERS } });
    return Response.json(answer.json, { status, headers: { 'Cache-Control': 'no-store' } });
  }

  /** Nobody is signed in: people are led to the login, programs are told. */
  function stranger(asked: Asked): Response {
    const login = toSignIn(asked.form === null ? asked.path : '/ops');
    if (asked.piece)
      return new Response(null, {
        status: 401,
        headers: { 'HX-Redirect': prefix + login, 'Cache-Control': 'no-store' },
      });
    if (asked.html) return leading(login);
    throw new ApiError(
      'key_required',
      "This takes an operator's key, or a session of one who is signed in.",
      FOR_OPERATORS,
    );
  }

  async function open(route: string, asked: Asked): Promise<Response> {
    if (route === `GET ${HTMX_PATH}`) return htmxFile();
    if (route === 'GET /ops/login') {
      const next = nextOf(typeof asked.query['next'] === 'string' ? asked.query['next'] : null);
      return (await signedIn(parts, asked)) === null ? shown(signInPage(next), 200) : leading(next);
    }
    if (!isOwn(parts, asked)) return shown(foreignPage(base_url), 403);
    if (route === 'POST /ops/logout') return leading('/ops/login', { 'Set-Cookie': await signOut(parts, asked) });
    await asked.attempt();
    const next = nextOf(asked.form?.get('next'));
    const typed = asked.form?.get('key') ?? '';
    if (typed.trim() === '') {
      const issue = { loc: ['body', 'key'], msg: 'is required', type: 'missing' };
      if (!asked.html) throw new ApiError('validation_failed', 'key: is required', { detail: [issue] });
      return shown(signInPage(next, 'Type your key.'), 422);
    }
    const cookie = await signIn(parts, asked, typed);
    if (cookie !== null) return leading(next, { 'Set-Cookie': cookie });
    if (!asked.html) throw new ApiError('invalid_key', "This is no operator's key.");
    return shown(signInPage(next, 'This is no operator’s key.'), 401);
  }

  return {
    routes: [...Object.keys(HANDLERS), ...OPEN],
    async answer(route, asked) {
      const handler = HANDLERS[route];
      if (handler === undefined) return open(route, asked);
      const who = asked.operator ?? (await signedIn(parts, asked));
      if (who === null) return stranger(asked);
      // A key in the request was put there on purpose; a cookie comes along by itself.
      if (asked.form !== null && asked.operator === null && !isOwn(parts, asked)) {
        if (asked.html) return shown(foreignPage(base_url), 403);
        throw new ApiError('admin_required', 'This request did not come from a page of ours.');
      }
      return response(await handler(parts, asked, who));
    },
    tell(error, request_id, piece) {
      const { status } = ERRORS[error.code];
      if (piece) return response({ piece: errorPiece(error), status });
      const seconds = error.extras.retry_after_seconds;
      return shown(
        errorPage(error, request_id),
        status,
        seconds === undefined ? {} : { 'Retry-After': String(seconds) },
      );
    },
  };
}
