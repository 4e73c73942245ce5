// The pages of the owners' channel: the forms of a record, and the pages of mailed links. A GET changes
// nothing, a POST does.

import type { StoredRecord } from '../../data/model/record.ts';
import { answer, type RestDeps } from '../channels/rest/rest.ts';
import { ApiError, toApiError } from '../contract/errors.ts';
import type { Operation } from '../contract/operation.ts';
import type { Release } from '../gate/context.ts';
import type { PlainAnswer, Route, RouteRequest, RouteTable } from '../http/server.ts';
import { EMAIL } from '../operations/common/account.ts';
import { preferred } from '../render/negotiate.ts';
import { mailDomain } from './business.ts';
import { readFormValues } from './form.ts';
import type { OwnerPages } from './mailed-links.ts';
import {
  beginPage,
  confirmPage,
  editPage,
  type FormState,
  invalidLinkPage,
  missingRecordPage,
  newLinkHtml,
  OWNER_SHELL,
  removalPreviewPage,
  removedPage,
  requestedPage,
  restoredPage,
  restorePage,
  startPage,
} from './pages.ts';
import { domainMismatch, domainRelation, ownerAddressText } from './parts.ts';

type Owners = NonNullable<RestDeps['gate']['owners']> & OwnerPages;
type OwnerDeps = RestDeps & { owners: Owners };
type Handler = (request: RouteRequest) => Promise<PlainAnswer>;

/**
 * The pages, and the addresses of operations that have a page for browsers. They use no cookies: the token in the
 * form is the only credential, so a form cannot be forged (CSRF). Redirects are relative, so that they are correct
 * under any base URL.
 *
 * @example
 * ```ts
 * mountTable(app, services, ownersTable({ ...services, owners }));
 * await app.request('/claim?token=…');
 * ```
 */
export function ownersTable(deps: OwnerDeps): RouteTable {
  return {
    policy: { credentials: 'ignored', cors: false, errors: 'page', shell: OWNER_SHELL, form: 'token' },
    routes: {
      'GET /optout/restore': removalPage(deps, 'restore'),
      'POST /optout/restore': changeRecord(deps, 'restore'),
      'GET /optout/confirm': removalPage(deps, 'confirm'),
      'POST /optout/confirm': changeRecord(deps, 'confirm'),
      'GET /claim': (request) => {
        const done = request.parameter('done');
        const state: FormState = { ...NO_INPUT, done: done === 'saved' || done === 'nothing' ? done : null };
        return claimPage(deps, tokenOf(request), request.now, state);
      },
      'POST /claim': (request) => editRecord(deps, request),
      'GET /owners/:ds/:entity_id': (request) =>
        withRecord(deps, request, async ({ pack }, record) => startPage(deps.gate.base_url, pack, record, null)),
      'POST /owners/:ds/:entity_id': (request) =>
        withRecord(deps, request, (release, record) => requestChange(deps, release, record, request)),
      ...Object.fromEntries(deps.gate.operations.flatMap((operation) => browserPage(deps, operation))),
    },
  };
}

/** The address of an operation with a page for browsers: a program gets the operation's answer. */
function browserPage(deps: OwnerDeps, operation: Operation): [string, Route][] {
  const { rest } = operation;
  if (rest.browser_page === undefined) return [];
  const page = '../'.repeat(rest.path.split('/').length - 2) + rest.browser_page.slice(1);
  const run = async (request: RouteRequest) => {
    const types = ['application/json', 'text/markdown', 'text/html'];
    if (request.hasMdSuffix || preferred(request.accept, types) !== 'text/html')
      return answer(deps, request.http, operation);
    await request.count('free');
    return redirect(page, tokenOf(request));
  };
  // The operation counts its calls itself.
  return [[`GET ${rest.path}`, { bucket: null, credentials: 'any', cors: true, errors: 'preferred', answer: run }]];
}

function redirect(page: string, token: string, more = ''): PlainAnswer {
  return { to: `${page}?token=${encodeURIComponent(token)}${more}` };
}

const tokenOf = (request: RouteRequest): string => request.parameter('token') ?? '';

type Removal = 'restore' | 'confirm';
const REMOVALS: Readonly<Record<Removal, string>> = {
  restore: 'restoring a record',
  confirm: 'removing a record',
};

/** GET: the page that confirms a restore or removal. */
function removalPage({ owners }: OwnerDeps, kind: Removal): Handler {
  return async (request) => {
    const token = tokenOf(request);
    const { state, record } = await owners.removal(kind, token, request.now);
    if (state !== 'good' || record === null) return invalidLinkPage(state === 'good' ? 'used' : state, REMOVALS[kind]);
    return kind === 'restore' ? restorePage(token, record) : confirmPage(token, record);
  };
}

/** POST: restores or removes the record. */
function changeRecord({ gate, owners }: OwnerDeps, kind: Removal): Handler {
  return async (request) => {
    const token = request.field('token');
    const requester = request.requester(null);
    const record = await (kind === 'restore' ? owners.restore(token, requester) : owners.confirm(token, requester));
    if (record !== null) return kind === 'restore' ? restoredPage(gate.base_url, record) : removedPage(record);
    const { state } = await owners.removal(kind, token, request.now);
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
): Promise<PlainAnswer> {
  const { state, about, until } = await owners.claimed(token, now);
  const named = about && { dataset: about.pack.id, slug: about.record.slug, name: about.record.name };
  if (state !== 'waiting' && state !== 'open')
    return invalidLinkPage(state, 'editing a record', newLinkHtml(gate.base_url, named));
  if (about === null || named === null) return missingRecordPage();
  if (state === 'waiting' || until === null) return beginPage(token, named, about.email);
  return editPage(gate.base_url, token, { ...about, until, now }, formState);
}

/** POST: begins the claim's time for edits (`do=begin`), or saves the form (`do=save`). */
async function editRecord(deps: OwnerDeps, request: RouteRequest): Promise<PlainAnswer> {
  const { owners } = deps;
  const { form, now } = request;
  const token = request.field('token');
  const action = request.field('do');
  const requester = request.requester(null);
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
  { params: { ds = '', entity_id = '' } }: RouteRequest,
  handler: (release: Release, record: StoredRecord) => Promise<PlainAnswer>,
): Promise<PlainAnswer> {
  const leases = await gate.lease(ds);
  try {
    // A lease of a named dataset has its release.
    const release = leases.release!;
    return await handler(release, await owners.subject(release, entity_id));
  } finally {
    leases.done();
  }
}

/** POST: previews a record's removal (`do=preview`), requests it (`do=remove`), or a link to edit the record. */
async function requestChange(
  { gate, owners }: OwnerDeps,
  release: Release,
  record: StoredRecord,
  request: RouteRequest,
): Promise<PlainAnswer> {
  const email = request.field('email');
  const reason = request.field('reason');
  const action = request.field('do');
  const isRemoval = action === 'remove' || action === 'preview';
  const requester = request.requester(null);
  const { pack } = release;
  const entity_id = record.id;
  try {
    checkEmail(email);
    if (action === 'preview') {
      const isMismatch = (await domainRelation(release, record, mailDomain(email) ?? '')) === 'none';
      if (pack.owner.domain !== null && isMismatch) throw domainMismatch(release, record);
      return removalPreviewPage(gate.base_url, pack, record, { email, reason });
    }
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
        ? `This address can’t be verified. ${ownerAddressText(pack, record)}`
        : 'This is not an e-mail address.';
    return startPage(gate.base_url, pack, record, { form: isRemoval ? 'remove' : 'edit', email, reason, problem });
  }
}

/** Validates an address as the operations do; no other text may reach a mail. */
function checkEmail(email: string): void {
  if (!EMAIL.safeParse(email).success) throw new ApiError('validation_failed', 'email: must be an e-mail address');
}
