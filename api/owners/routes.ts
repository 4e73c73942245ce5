// The pages of the owners' channel: the forms of a record, and the pages of mailed links. A GET changes
// nothing, a POST does.

import type { Requester } from '../../data/model/accounts.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import { type App, answer, type RestDeps } from '../channels/rest/rest.ts';
import { ApiError, ERRORS, toApiError } from '../contract/errors.ts';
import type { Release } from '../gate/context.ts';
import { admit } from '../gate/execute.ts';
import { type Http, type HttpRequest, readRequest, readText } from '../http/request.ts';
import { EMAIL } from '../operations/common/account.ts';
import { preferred } from '../render/negotiate.ts';
import { readFormValues } from './form.ts';
import type { OwnerPages } from './mailed-links.ts';
import {
  beginPage,
  confirmPage,
  editPage,
  FOREIGN_FORM,
  type FormState,
  invalidLinkPage,
  missingRecordPage,
  newLinkHtml,
  OWNER_HEADERS,
  type OwnerPage,
  ownerPage,
  refusedPage,
  removedPage,
  requestedPage,
  restoredPage,
  restorePage,
  startPage,
} from './pages.ts';

type Gate = RestDeps['gate'];
type Owners = NonNullable<Gate['owners']> & OwnerPages;
type OwnerDeps = RestDeps & { owners: Owners };
/** A page, or the relative address of a redirect: a relative one is correct under any base URL. */
type PageOrRedirect = OwnerPage | { to: string };

interface OwnerRequest {
  request: HttpRequest;
  requester: Requester;
  now: Date;
  /** Fields of the form; empty for a GET. */
  form: URLSearchParams;
}

type Handler = (request: OwnerRequest) => Promise<PageOrRedirect>;

/**
 * Mounts the pages. They use no cookies: the token in the form is the only credential, so a form cannot be
 * forged (CSRF).
 */
export function mountOwners(app: App, deps: OwnerDeps): void {
  const mount = (path: string, get: Handler, post: Handler) => {
    app.get(path, (c) => respond(deps, c, get));
    app.post(path, (c) => respond(deps, c, post));
  };
  mount('/optout/restore', removalPage(deps, 'restore'), changeRecord(deps, 'restore'));
  mount('/optout/confirm', removalPage(deps, 'confirm'), changeRecord(deps, 'confirm'));
  mount(
    '/claim',
    async ({ request, now }) => {
      const done = request.query['done'];
      const state: FormState = { ...NO_INPUT, done: done === 'saved' || done === 'nothing' ? done : null };
      return claimPage(deps, tokenOf(request), now, state);
    },
    (request) => editRecord(deps, request),
  );
  app.get('/owners/:ds/:entity_id', (c) =>
    respond(deps, c, () =>
      withRecord(deps, c, async ({ pack }, record) => startPage(deps.gate.base_url, pack, record, null)),
    ),
  );
  app.post('/owners/:ds/:entity_id', (c) =>
    respond(deps, c, (request) =>
      withRecord(deps, c, (release, record) => requestChange(deps, release, record, request)),
    ),
  );
  mountBrowserPages(app, deps);
}

/** Mounts operations with a page for browsers at their own address: a program gets the operation's answer. */
function mountBrowserPages(app: App, deps: OwnerDeps): void {
  const { gate } = deps;
  for (const operation of gate.operations) {
    const { browser_page, route } = operation;
    if (browser_page === undefined) continue;
    // Relative to the operation's address, so that it is correct under any base URL.
    const page = '../'.repeat(route.path.split('/').length - 2) + browser_page.slice(1);
    app.get(route.path, (c) => {
      const request = readRequest(gate, c);
      const types = ['application/json', 'text/markdown', 'text/html'];
      if (request.hasMdSuffix || preferred(request.accept, types) !== 'text/html') return answer(deps, c, operation);
      return respond(deps, c, async ({ request }) => redirect(page, tokenOf(request)));
    });
  }
}

/** Applies the rate limit, rejects forms from other sites, and sends the handler's page or its error. */
async function respond({ gate, report }: OwnerDeps, c: Http, handler: Handler): Promise<Response> {
  const request = readRequest(gate, c);
  const { visitor, headers, request_id } = request;
  const send = (result: PageOrRedirect): Response => {
    const all = { ...headers, ...OWNER_HEADERS };
    if ('to' in result) return new Response(null, { status: 303, headers: { ...all, Location: result.to } });
    return new Response(ownerPage(gate.base_url, result), { status: result.status, headers: all });
  };
  try {
    await admit(gate, { ...visitor, credential: null }, 'free');
    if (c.req.method === 'POST' && isForeign(c, gate.base_url)) return send(FOREIGN_FORM);
    const now = gate.now();
    const requester = { key: null, address: visitor.address, request_id, now: now.getTime() };
    const form = new URLSearchParams(c.req.method === 'POST' ? await readText(c) : '');
    return send(await handler({ request, requester, now, form }));
  } catch (cause) {
    const error = toApiError(cause);
    if (error.code === 'internal') report(cause, request_id);
    return send(refusedPage(ERRORS[error.code].status, error.message));
  }
}

/** Whether another site sent the form, by the browser's headers. Under `no-referrer` Origin is `null`. */
function isForeign(c: Http, base_url: string): boolean {
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = c.req.header('origin');
  return origin !== undefined && origin !== 'null' && origin !== new URL(base_url).origin;
}

function redirect(page: string, token: string, more = ''): PageOrRedirect {
  return { to: `${page}?token=${encodeURIComponent(token)}${more}` };
}

const tokenOf = ({ query }: HttpRequest): string => {
  const token = query['token'];
  return typeof token === 'string' ? token : '';
};

type Removal = 'restore' | 'confirm';
const REMOVALS: Readonly<Record<Removal, string>> = {
  restore: 'restoring a record',
  confirm: 'removing a record',
};

/** GET: the page that confirms a restore or removal. */
function removalPage({ owners }: OwnerDeps, kind: Removal): Handler {
  return async ({ request, now }) => {
    const token = tokenOf(request);
    const { state, record } = await owners.removal(kind, token, now);
    if (state !== 'good' || record === null) return invalidLinkPage(state === 'good' ? 'used' : state, REMOVALS[kind]);
    return kind === 'restore' ? restorePage(token, record) : confirmPage(token, record);
  };
}

/** POST: restores or removes the record. */
function changeRecord({ gate, owners }: OwnerDeps, kind: Removal): Handler {
  return async ({ form, requester, now }) => {
    const token = form.get('token') ?? '';
    const record = await (kind === 'restore' ? owners.restore(token, requester) : owners.confirm(token, requester));
    if (record !== null) return kind === 'restore' ? restoredPage(gate.base_url, record) : removedPage(record);
    const { state } = await owners.removal(kind, token, now);
    return invalidLinkPage(state === 'good' ? 'used' : state, REMOVALS[kind]);
  };
}

/** The claim form before the first submission. */
const NO_INPUT: FormState = { sent: null, issues: [], done: null };

/** The page of a claim: a button to begin, the form, or why the link is invalid. */
async function claimPage(
  { gate, owners }: OwnerDeps,
  token: string,
  now: Date,
  formState: FormState,
): Promise<PageOrRedirect> {
  const { state, about, until } = await owners.claimed(token, now);
  const named = about && { dataset: about.pack.id, slug: about.record.slug, name: about.record.name };
  if (state !== 'waiting' && state !== 'open')
    return invalidLinkPage(state, 'editing a record', newLinkHtml(gate.base_url, named));
  if (about === null || named === null) return missingRecordPage();
  if (state === 'waiting' || until === null) return beginPage(token, named, about.email);
  return editPage(gate.base_url, token, { ...about, until, now }, formState);
}

/** POST: begins the claim's time for edits (`do=begin`), or saves the form (`do=save`). */
async function editRecord(deps: OwnerDeps, { form, requester, now }: OwnerRequest): Promise<PageOrRedirect> {
  const { owners } = deps;
  const token = form.get('token') ?? '';
  const action = form.get('do');
  const { state, about } = await owners.claimed(token, now);
  if (about === null || (state !== 'open' && state !== 'waiting')) return claimPage(deps, token, now, NO_INPUT);
  if (action === 'begin') {
    await owners.verify(token, requester);
    return redirect('claim', token);
  }
  if (state !== 'open' || action !== 'save') return claimPage(deps, token, now, NO_INPUT);
  const { values, issues } = readFormValues(form, about.pack, about.record);
  const withIssues = (issues: FormState['issues']) => claimPage(deps, token, now, { sent: form, issues, done: null });
  if (issues.length > 0) return withIssues(issues);
  if (Object.keys(values).length === 0) return redirect('claim', token, '&done=nothing');
  try {
    await owners.update(token, values, requester);
    return redirect('claim', token, '&done=saved');
  } catch (error) {
    const { code, extras } = toApiError(error);
    if (code === 'validation_failed') return withIssues(extras.detail as FormState['issues']);
    throw error;
  }
}

/** Leases the release, finds the record of the address and calls the handler with both. */
async function withRecord(
  { gate, owners }: OwnerDeps,
  c: Http,
  handler: (release: Release, record: StoredRecord) => Promise<PageOrRedirect>,
): Promise<PageOrRedirect> {
  const { ds, entity_id } = c.req.param();
  const leases = await gate.lease(ds ?? '');
  try {
    // A lease of a named dataset has its release.
    const release = leases.release!;
    return await handler(release, await owners.subject(release, entity_id ?? ''));
  } finally {
    leases.done();
  }
}

/** POST: requests a record's removal (`do=remove`), or a link to edit it. */
async function requestChange(
  { gate, owners }: OwnerDeps,
  release: Release,
  record: StoredRecord,
  { form, requester }: OwnerRequest,
): Promise<PageOrRedirect> {
  const field = (name: string) => (form.get(name) ?? '').trim();
  const email = field('email');
  const reason = field('reason');
  const isRemoval = field('do') === 'remove';
  const { pack } = release;
  const entity_id = record.id;
  try {
    checkEmail(email);
    const removal = { entity_id, contact: email, reason: reason.slice(0, 2000) || null };
    const outcome = isRemoval
      ? (await owners.optOut(release, removal, requester)).status
      : await owners.claim(release, { entity_id, email }, requester);
    return requestedPage(gate.base_url, { dataset: pack.id, slug: record.slug, name: record.name }, outcome, email);
  } catch (error) {
    const { code } = toApiError(error);
    if (code !== 'domain_mismatch' && code !== 'validation_failed') throw error;
    const problem =
      code === 'domain_mismatch'
        ? 'This address is not at the record’s domain, so it does not prove that the record is yours.'
        : 'This is not an e-mail address.';
    return startPage(gate.base_url, pack, record, { form: isRemoval ? 'remove' : 'edit', email, reason, problem });
  }
}

/** Validates an address as the operations do; no other text may reach a mail. */
function checkEmail(email: string): void {
  if (!EMAIL.safeParse(email).success) throw new ApiError('validation_failed', 'email: must be an e-mail address');
}
