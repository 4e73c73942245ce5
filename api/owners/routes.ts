// The pages of the owners' channel: behind mailed links, and where people begin. Opening one changes nothing; its button does.

import { type App, answer, type RestDeps } from '../channels/rest/rest.ts';
import { ApiError, ERRORS, toApiError } from '../contract/errors.ts';
import { admit } from '../gate/execute.ts';
import { type Http, type HttpRequest, readRequest, readText } from '../http/request.ts';
import { EMAIL } from '../operations/common/account.ts';
import { preferred } from '../render/negotiate.ts';
import { valuesIn } from './form.ts';
import type { OwnerPages } from './mailed-links.ts';
import {
  another,
  askedPage,
  badLink,
  beginPage,
  confirmPage,
  editPage,
  FOREIGN,
  goneRecord,
  OWNER_HEADERS,
  type OwnerPage,
  ownerPage,
  refusedPage,
  removedPage,
  restoredPage,
  restorePage,
  startPage,
  type Told,
} from './pages.ts';

type Gate = RestDeps['gate'];
type Owners = NonNullable<Gate['owners']> & OwnerPages;
/** A page, or an address of ours, relative, where the browser goes on. */
type Shown = OwnerPage | { to: string };

interface Asking {
  owners: Owners;
  request: HttpRequest;
  asker: { key: null; address: string; request_id: string; now: number };
  now: Date;
  /** Fields of the form; empty for a look. */
  form: URLSearchParams;
}

/** Where somebody is sent by a form; relative, so that it is right under any base URL. */
const on = (page: string, token: string, more = ''): Shown => ({
  to: `${page}?token=${encodeURIComponent(token)}${more}`,
});

const FIRST: Told = { sent: null, issues: [], done: null };

/** Whether a form was sent from a page of another site. A browser says so; under `no-referrer` its Origin is `null`. */
function foreign(c: Http, base_url: string): boolean {
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = c.req.header('origin');
  return origin !== undefined && origin !== 'null' && origin !== new URL(base_url).origin;
}

/** Mounts the pages. Nobody is signed in on them: the token in the form is all there is, so that no cookie can be ridden on or planted. */
export function mountOwners(app: App, deps: RestDeps & { owners: Owners }): void {
  const { gate, report, owners } = deps;

  const guarded = async (c: Http, make: (asking: Asking) => Promise<Shown>): Promise<Response> => {
    const request = readRequest(gate, c);
    const { visitor, headers, request_id } = request;
    const made = (shown: Shown): Response => {
      const all = { ...headers, ...OWNER_HEADERS };
      if ('to' in shown) return new Response(null, { status: 303, headers: { ...all, Location: shown.to } });
      return new Response(ownerPage(gate.base_url, shown), { status: shown.status, headers: all });
    };
    try {
      await admit(gate, { ...visitor, credential: null }, 'free');
      if (c.req.method === 'POST' && foreign(c, gate.base_url)) return made(FOREIGN);
      const now = gate.now();
      const asker = { key: null, address: visitor.address, request_id, now: now.getTime() };
      const form = new URLSearchParams(c.req.method === 'POST' ? await readText(c) : '');
      return made(await make({ owners, request, asker, now, form }));
    } catch (error) {
      const told = toApiError(error);
      if (told.code === 'internal') report(error, request_id);
      return made(refusal(told));
    }
  };
  const page = (path: string, look: (asking: Asking) => Promise<Shown>, press: (asking: Asking) => Promise<Shown>) => {
    app.get(path, (c) => guarded(c, look));
    app.post(path, (c) => guarded(c, press));
  };
  const tokenIn = ({ request }: Asking): string => single(request.query['token']);

  const removal = (kind: 'restore' | 'confirm', what: string) => async (asking: Asking) => {
    const token = tokenIn(asking);
    const { state, record } = await owners.removal(kind, token, asking.now);
    if (state !== 'good' || record === null) return badLink(state === 'good' ? 'used' : state, what, '');
    return kind === 'restore' ? restorePage(token, record) : confirmPage(token, record);
  };
  page('/optout/restore', removal('restore', 'bringing a record back'), async ({ form, asker, now }) => {
    const token = form.get('token') ?? '';
    const record = await owners.restore(token, asker);
    if (record !== null) return restoredPage(gate.base_url, record);
    return badLink(gone(await owners.removal('restore', token, now)), 'bringing a record back', '');
  });
  page('/optout/confirm', removal('confirm', 'removing a record'), async ({ form, asker, now }) => {
    const token = form.get('token') ?? '';
    const record = await owners.confirm(token, asker);
    if (record !== null) return removedPage(record);
    return badLink(gone(await owners.removal('confirm', token, now)), 'removing a record', '');
  });

  const claimed = async (token: string, now: Date, told: Told): Promise<Shown> => {
    const { state, about, until } = await owners.claimed(token, now);
    const named = about && { dataset: about.pack.id, slug: about.record.slug, name: about.record.name };
    if (state !== 'waiting' && state !== 'open')
      return badLink(state, 'editing a record', another(gate.base_url, named));
    if (about === null || named === null) return goneRecord();
    if (state === 'waiting' || until === null) return beginPage(token, named, about.email);
    return editPage(gate.base_url, token, { ...about, until, now }, told);
  };
  page(
    '/claim',
    (asking) => {
      const done = asking.request.query['done'];
      return claimed(tokenIn(asking), asking.now, {
        ...FIRST,
        done: done === 'saved' || done === 'nothing' ? done : null,
      });
    },
    async ({ form, asker, now }) => {
      const token = form.get('token') ?? '';
      const { state, about } = await owners.claimed(token, now);
      if (about === null || (state !== 'open' && state !== 'waiting')) return claimed(token, now, FIRST);
      if (form.get('do') === 'begin') {
        await owners.verify(token, asker);
        return on('claim', token);
      }
      if (state !== 'open' || form.get('do') !== 'save') return claimed(token, now, FIRST);
      const { values, issues } = valuesIn(form, about.pack, about.record);
      const wrong = (found: Told['issues']) => claimed(token, now, { sent: form, issues: found, done: null });
      if (issues.length > 0) return wrong(issues);
      if (Object.keys(values).length === 0) return on('claim', token, '&done=nothing');
      try {
        await owners.update(token, values, asker);
        return on('claim', token, '&done=saved');
      } catch (error) {
        const { code, extras } = toApiError(error);
        if (code === 'validation_failed') return wrong(extras.detail as Told['issues']);
        throw error;
      }
    },
  );

  const start = (c: Http, press: boolean) =>
    guarded(c, async ({ form, asker }) => {
      const leases = await gate.lease(c.req.param()['ds'] ?? '');
      try {
        const release = leases.release!;
        const record = await owners.subject(release, c.req.param()['entity_id'] ?? '');
        if (!press) return startPage(gate.base_url, release.pack, record, null);
        const [email, reason, kind] = ['email', 'reason', 'do'].map((name) => (form.get(name) ?? '').trim()) as [
          string,
          string,
          string,
        ];
        const named = { dataset: release.pack.id, slug: record.slug, name: record.name };
        try {
          const about = { entity_id: record.id };
          const outcome =
            kind === 'remove'
              ? (
                  await owners.optOut(
                    release,
                    { ...about, contact: checked(email), reason: reason.slice(0, 2000) || null },
                    asker,
                  )
                ).status
              : await owners.claim(release, { ...about, email: checked(email) }, asker);
          return askedPage(gate.base_url, named, outcome, email);
        } catch (error) {
          const told = toApiError(error);
          if (told.code !== 'domain_mismatch' && told.code !== 'validation_failed') throw error;
          const problem =
            told.code === 'domain_mismatch'
              ? 'This address is not of the domain that the record names as its own, so it does not show that the record is yours.'
              : 'This is not an e-mail address.';
          const asked = { form: kind === 'remove' ? 'remove' : 'edit', email, reason, problem };
          return startPage(gate.base_url, release.pack, record, asked);
        }
      } finally {
        leases.done();
      }
    });
  app.get('/owners/:ds/:entity_id', (c) => start(c, false));
  app.post('/owners/:ds/:entity_id', (c) => start(c, true));

  // The link in a mail is the operation's own address: a program gets its answer, a person the page with the button.
  for (const operation of gate.operations) {
    const { browser_page: to, route } = operation;
    if (to === undefined) continue;
    app.get(route.path, (c) => {
      const request = readRequest(gate, c);
      const types = ['application/json', 'text/markdown', 'text/html'];
      if (request.suffix || preferred(request.accept, types) !== 'text/html') return answer(deps, c, operation);
      const up = '../'.repeat(route.path.split('/').length - 2);
      return guarded(c, async (asking) => on(up + to.slice(1), tokenIn(asking)));
    });
  }
}

const single = (value: string | string[] | undefined): string => (typeof value === 'string' ? value : '');

/** Why nothing came of pressing a button. */
const gone = ({ state }: { state: 'good' | 'used' | 'over' | 'unknown' }) => (state === 'good' ? 'used' : state);

/** An address as the operations take it: nothing else may reach a mail. */
function checked(email: string): string {
  if (EMAIL.safeParse(email).success) return email;
  throw new ApiError('validation_failed', 'email: must be an e-mail address');
}

/** A refusal as a page; the codes are for programs. */
function refusal({ code, message }: ApiError): OwnerPage {
  return refusedPage(ERRORS[code].status, message);
}
