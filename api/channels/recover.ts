// /keys/recover: the page that a mailed link opens; its button replaces the key (contract section 3, "Abuse").
import { createHash } from 'node:crypto';
import { toApiError } from '../errors.ts';
import { admit } from '../execute.ts';
import { type Http, readRequest, readText } from './request.ts';
import { errorResponse, type Headers } from './respond.ts';
import type { App, RestDeps } from './rest.ts';

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}code{word-break:break-all}';
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** A secret may stand in the address or on the page: nothing may keep it, load anything, or be told where it came from. */
const HEADERS: Headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
};

const page = (title: string, body: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title}</title><style>${STYLE}</style><h1>${title}</h1>${body}</html>`;

const OVER = page(
  'This link is no good',
  '<p>It was used, is older than an hour, or was never one. Ask for another with <code>POST /v1/keys/recover</code>.</p>',
);

/** Mounts the page. Opening it changes nothing, since mail scanners open links; its button does. */
export function mountRecover(app: App, { gate, report }: RestDeps): void {
  const guarded = async (c: Http, make: () => Promise<{ status: number; html: string }>): Promise<Response> => {
    const { visitor, headers, request_id, accept } = readRequest(gate, c);
    try {
      await admit(gate, visitor, 'free');
      const { status, html } = await make();
      return new Response(html, { status, headers: { ...headers, ...HEADERS } });
    } catch (error) {
      const told = toApiError(error);
      if (told.code === 'internal') report(error, request_id);
      return errorResponse(told, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
    }
  };
  app.get('/keys/recover', (c) =>
    guarded(c, async () => {
      const token = new URL(c.req.url).searchParams.get('token') ?? '';
      if (!(await gate.accounts.good(token, gate.now()))) return { status: 404, html: OVER };
      // A good token is base64url, so it needs no escaping.
      const form = `<form method="post"><input type="hidden" name="token" value="${token}"><button>Replace my key</button></form>`;
      const text = '<p>Your present key stops working at once. Credit and plan stay.</p>';
      return { status: 200, html: page('Replace your API key', text + form) };
    }),
  );
  app.post('/keys/recover', (c) =>
    guarded(c, async () => {
      const token = new URLSearchParams(await readText(c)).get('token') ?? '';
      const secret = await gate.accounts.rotate(token, gate.now());
      if (secret === null) return { status: 404, html: OVER };
      return {
        status: 200,
        html: page('Your new API key', `<p><code>${secret}</code></p><p>It is shown this once.</p>`),
      };
    }),
  );
}
