// /oauth/approve/{uid}: sign-in with an API key, and consent to what a client may spend.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { keyById } from '../../data/state/keys/keys.ts';
import { openGrant } from '../../data/state/oauth/grants.ts';
import { destroyItemByUid, keepItem } from '../../data/state/oauth/items.ts';
import type { Store } from '../../data/state/store.ts';
import type { Identify } from '../access/caller.ts';
import { readAmount, signIn } from '../access/key-signin.ts';
import { consentPage, expiredPage, type ShownClient, signInPage } from './pages.ts';
import { PATHS } from './paths.ts';
import { LIFETIMES } from './provider.ts';

export interface ApproveParts {
  store: Store;
  identify: Identify;
  base_url: string;
  now(): Date;
}

/** The result of a step: a page, or a redirect. */
export type ApprovalStep = { status: number; html: string } | { to: string };

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** How long a client is stored after a consent, in milliseconds: longer than the grant. */
const KEPT = 400 * 86_400_000;

/** Shows the current step, or processes its submitted form. */
export async function approve(
  parts: ApproveParts,
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  form: URLSearchParams | null,
): Promise<ApprovalStep> {
  const interaction = await provider.interactionDetails(request, response).catch(() => null);
  const client = interaction && (await shownClient(provider, interaction));
  if (!interaction || !client) return { status: 400, html: expiredPage(parts.base_url) };
  const finish = async (result: Parameters<Provider['interactionResult']>[2]): Promise<ApprovalStep> => ({
    to: await provider.interactionResult(request, response, result, { mergeWithLastSubmission: true }),
  });
  if (form?.get('action') === 'deny')
    return finish({ error: 'access_denied', error_description: 'The user denied access.' });
  if (interaction.prompt.name === 'login') {
    if (form === null) return { status: 200, html: signInPage(parts.base_url, client) };
    const signed = await signIn(parts.identify, form.get('key') ?? '');
    if ('wrong' in signed) return { status: 422, html: signInPage(parts.base_url, client, signed.wrong) };
    const before = await provider.Session.get(provider.createContext(request, response));
    if (interaction.session && interaction.session.accountId !== signed.key_id) return restart(parts, interaction);
    if (before.accountId !== undefined && before.accountId !== signed.key_id) await before.destroy();
    return finish({ login: { accountId: signed.key_id, remember: false } });
  }
  return decide(parts, provider, interaction, client, form, finish);
}

async function decide(
  parts: ApproveParts,
  provider: Provider,
  interaction: Interaction,
  client: ShownClient,
  form: URLSearchParams | null,
  finish: (result: { consent: { grantId: string } }) => Promise<ApprovalStep>,
): Promise<ApprovalStep> {
  const { store, base_url, now } = parts;
  const key = interaction.session ? await keyById(store, interaction.session.accountId) : null;
  if (key === null || key.revoked_at !== null || form?.get('action') === 'switch') return restart(parts, interaction);
  const account = { email: key.email, balance: key.balance };
  if (form === null) return { status: 200, html: consentPage(base_url, client, account) };
  const entered = form.get('cap') ?? '';
  const cap = readAmount(entered);
  if (form.get('action') !== 'allow' || cap === undefined) {
    const wrong = 'Enter an amount in EUR above zero, such as 5 or 0.50, or leave the field empty.';
    return { status: 422, html: consentPage(base_url, client, account, { entered, wrong }) };
  }
  const client_id = String(interaction.params['client_id']);
  const grant = new provider.Grant({ accountId: key.id, clientId: client_id });
  grant.addOIDCScope('read');
  const scopes = interaction.prompt.details['missingResourceScopes'] as Record<string, string[]> | undefined;
  for (const resource of Object.keys(scopes ?? {})) grant.addResourceScope(resource, 'read');
  const grantId = await grant.save();
  const at = now().getTime();
  const about = { key_id: key.id, client_id, client_name: client.name, created_at: at };
  await openGrant(store, grantId, { ...about, cap, expires_at: at + LIFETIMES.Grant * 1000 });
  await keepItem(store, 'Client', client_id, at + KEPT);
  return finish({ consent: { grantId } });
}

/** Signs out and restarts the authorization request. */
async function restart({ store, base_url }: ApproveParts, interaction: Interaction): Promise<ApprovalStep> {
  if (interaction.session?.uid) await destroyItemByUid(store, 'Session', interaction.session.uid);
  await interaction.destroy();
  const parameters = Object.entries(interaction.params).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, String(each)]),
  );
  return { to: `${base_url}${PATHS.authorize}?${new URLSearchParams(parameters)}` };
}

async function shownClient(provider: Provider, { params }: Interaction): Promise<ShownClient | null> {
  const id = String(params['client_id']);
  const client = await provider.Client.find(id).catch(() => undefined);
  if (!client) return null;
  const document = /^https:/i.test(id) ? id : undefined;
  return { name: client.clientName ?? id, document, redirect: String(params['redirect_uri']) };
}
