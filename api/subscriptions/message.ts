// Messages to receivers of subscriptions, signed as Standard Webhooks, and the mail about one that ended.
import { createHmac } from 'node:crypto';
import type { FeedChange } from '../../data/queries/changes.ts';
import type { Mail } from '../../data/state/outbox.ts';

/** Keys of subscriptions, derived from a secret of the service: none is stored. */
export class SubscriptionKeys {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** The secret of a receiver, with which it checks signatures: `whsec_` and 32 bytes in base64. */
  signing(id: string): string {
    return `whsec_${this.#derive('sign', id).toString('base64')}`;
  }

  /** What a receiver must answer to show that it wants the messages. */
  challenge(id: string): string {
    return this.#derive('challenge', id).toString('hex');
  }

  #derive(purpose: string, id: string): Buffer {
    return createHmac('sha256', this.#secret).update(`${purpose} ${id}`).digest();
  }
}

/** A message before it is signed. */
export interface WebhookMessage {
  /** The same for each attempt, so that a receiver can leave out repetitions. */
  id: string;
  body: string;
}

/** Headers of a message that is sent now (Standard Webhooks): the signature covers its id, the time and its body. */
export function signedHeaders({ id, body }: WebhookMessage, secret: string, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'user-agent': 'dataset-register-webhooks',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}

/** The message that asks a receiver to confirm a subscription. */
export const verificationMessage = (subscription: string, dataset: string, challenge: string): WebhookMessage => ({
  id: `${subscription}_verification`,
  body: JSON.stringify({ type: 'subscription.verification', data: { subscription, dataset, challenge } }),
});

/** The message with changes. */
export const changesMessage = (
  id: string,
  members: { subscription: string; dataset: string; attribution: string; license: string; changes: FeedChange[] },
): WebhookMessage => ({ id, body: JSON.stringify({ type: 'dataset.changes', data: members }) });

/** The mail to the owner of a key whose subscription ended. */
export function endedMail(
  to: string,
  { id, dataset, url }: { id: string; dataset: string; url: string | null },
  problem: string,
  base_url: string,
): Mail {
  const text = [
    `We stopped sending changes of ${dataset} to ${url === null ? to : new URL(url).host}: ${problem}.`,
    '',
    `Subscription: ${id}`,
    `Changes since then: ${base_url}/changes/${dataset}/`,
    '',
    'To go on, repair the receiver and create a new subscription.',
  ];
  return { to, subject: `Changes of ${dataset} are no longer sent`, text: text.join('\n') };
}

/** Most changes that a mail shows. */
const MAILED = 50;

/** The page of a subscription by mail, where it is confirmed and ended. */
export const subscriptionPage = (base_url: string, id: string, challenge: string): string =>
  `${base_url}/account/subscription?${new URLSearchParams({ id, token: challenge })}`;

/** The mail that asks the owner of a key to confirm a subscription. */
export function confirmationMail(to: string, dataset: string, page: string): Mail {
  const text = [
    `Your API key was used to request mails about changes of ${dataset}, at most one a day.`,
    '',
    `Confirm on this page: ${page}`,
    '',
    'If you did not ask for this, ignore this mail.',
  ];
  return { to, subject: `Confirm mails about changes of ${dataset}`, text: text.join('\n') };
}

/** The mail with changes. */
export function changesMail(
  to: string,
  {
    dataset,
    changes,
    attribution,
    license,
  }: { dataset: string; changes: FeedChange[]; attribution: string; license: string },
  page: string,
): Mail {
  const valueText = (value: unknown) =>
    value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
  const lines = changes
    .slice(0, MAILED)
    .map(({ name, attribute, old_value, new_value, type }) =>
      attribute === undefined
        ? `- ${name}: ${type}`
        : `- ${name}: ${attribute} ${valueText(old_value)} → ${valueText(new_value)}`,
    );
  const more = changes.length > MAILED ? [`and ${changes.length - MAILED} more`] : [];
  const text = [...lines, ...more, '', `${attribution} License: ${license}`, '', `End these mails: ${page}`];
  const count = `${changes.length} ${changes.length === 1 ? 'change' : 'changes'}`;
  return { to, subject: `${count} of ${dataset}`, text: text.join('\n'), unsubscribe: page };
}
