// Sends changes to the receivers of subscriptions: at least once, in the order of the change feed, one message at a time
// for each subscription. Every process of the service does so; a lease gives each subscription to one of them.
import { fetch } from 'undici';
import { changelogParameters } from '../../data/input/history-parameters.ts';
import { checkUrl, guardedAgent, type OpenHosts, publicOnly, Refused, WEB_PORTS } from '../../data/model/guard.ts';
import { currentPlan, subscription as planOf } from '../../data/model/subscriptions.ts';
import { type SubscribedInput, subscribedChanges } from '../../data/queries/subscribed.ts';
import type { Register } from '../../data/releases/register.ts';
import { type Release, releaseTag } from '../../data/releases/release.ts';
import {
  type Attempt,
  advance,
  dueSubscriptions,
  endFailure,
  endLease,
  endSuccess,
  type LeasedSubscription,
  leaseSubscription,
  postponeLease,
  removeSubscription,
  waitingDelivery,
} from '../../data/state/change-subscriptions.ts';
import type { MailQueue } from '../../data/state/mail.ts';
import { type SendCount, takeSend } from '../../data/state/sends.ts';
import type { Store } from '../../data/state/store.ts';
import type { DeliveryTable } from '../../data/state/tables/change-subscriptions.ts';
import type { Pack } from '../../packs/define/model.ts';
import { aboutDataset } from '../operations/common/about.ts';
import {
  changesMail,
  changesMessage,
  endedMail,
  type SubscriptionKeys,
  signedHeaders,
  subscriptionPage,
  verificationMessage,
  type WebhookMessage,
} from './message.ts';

/** Milliseconds for an answer of a receiver. */
const PATIENCE = 15_000;
/** Milliseconds between two mails of a subscription. */
const DIGEST = 24 * 3_600_000;
/** Subscriptions that one process sends to at a time; changes of the feed in one message; bytes of an answer. */
const [AT_ONCE, CHANGES, ANSWER] = [8, 500, 4_096];

export interface SenderParts {
  store: Store;
  register: Register;
  mailer: Pick<MailQueue, 'tryPost'>;
  keys: SubscriptionKeys;
  base_url: string;
  /** Receivers that may have a private address, for tests on this machine. */
  open_hosts?: OpenHosts;
  now(): Date;
  log(line: string): void;
}

/** The conditions of a subscription. Throws as `changelogParameters`. */
export const subscribedInput = (query: string, pack: Pack): SubscribedInput =>
  changelogParameters.parse(JSON.parse(query) as Record<string, string>, pack);

/** Whether conditions name an attribute that is not public. */
export const namesPaid = ({ names }: SubscribedInput, { attributes }: Pack): boolean =>
  attributes.some((attribute) => !attribute.public && names.includes(attribute.name));

/**
 * @example
 * ```ts
 * const sender = new SubscriptionSender(parts);
 * await sender.flush(); // Sends what is due now; the service does so every few seconds.
 * ```
 */
export class SubscriptionSender {
  readonly #parts: SenderParts;
  readonly #agent: ReturnType<typeof guardedAgent>;
  readonly #closing = new AbortController();
  #flushing: Promise<void> | null = null;
  #unreadable = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#agent = guardedAgent(publicOnly, parts.open_hosts);
  }

  /** Sends everything that is due. Never throws. */
  flush(): Promise<void> {
    this.#flushing ??= this.#sendDue()
      .then(
        () => {
          this.#unreadable = false;
        },
        (error: Error) => {
          if (!this.#unreadable) this.#parts.log(`cannot read subscriptions: ${error.message}`);
          this.#unreadable = true;
        },
      )
      .finally(() => {
        this.#flushing = null;
      });
    return this.#flushing;
  }

  /** Ends the messages in flight, which are sent again later. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#flushing;
    await this.#agent.destroy();
  }

  async #sendDue(): Promise<void> {
    const { store, register, now } = this.#parts;
    for (const dataset of register.packs.keys()) {
      const release = register.current(dataset);
      if (release === null) continue;
      const tag = releaseTag(release);
      for (let ids = [''], sent = new Set<string>(); ids.length > 0 && !this.#closing.signal.aborted; ) {
        const due = await dueSubscriptions(store, dataset, tag, now().getTime(), AT_ONCE);
        ids = due.filter((id) => !sent.has(id));
        await Promise.all(ids.map((id) => this.#serve(id, dataset)));
        // One that has more comes again with the next look.
        for (const id of ids) sent.add(id);
      }
    }
  }

  /** Sends the messages of one subscription, until none is due or one fails. */
  async #serve(id: string, dataset: string): Promise<void> {
    const { store, register, now } = this.#parts;
    const subscription = await leaseSubscription(store, id, now().getTime());
    if (subscription === null) return;
    if (subscription.revoked_at !== null) {
      await removeSubscription(store, subscription.key_id, id, now().getTime());
      return;
    }
    const lease = register.lease(dataset);
    if (lease === null) return endLease(store, subscription);
    try {
      if (subscription.status === 'unverified') await this.#verify(subscription);
      else await this.#sendNext(subscription, lease.release);
    } finally {
      lease.done();
    }
  }

  async #verify(subscription: LeasedSubscription): Promise<void> {
    const { store, now } = this.#parts;
    const counts: SendCount[] = [
      { kind: 'host', of: new URL(subscription.url ?? '').hostname },
      { kind: 'caller', of: subscription.key_id },
    ];
    const at = now().getTime();
    const wait = await store.db.transaction().execute((tx) => takeSend(tx, counts, at));
    if (wait > 0) return postponeLease(store, subscription, at + wait * 1000);
    const challenge = this.#parts.keys.challenge(subscription.id);
    const message = verificationMessage(subscription.id, subscription.dataset, challenge);
    const { attempt, final, text } = await this.#post(subscription, message);
    const confirmed = attempt.problem === null && text.includes(challenge);
    const problem = attempt.problem ?? (confirmed ? null : 'the answer did not contain the challenge');
    await this.#end(subscription, null, { ...attempt, problem }, final);
  }

  async #sendNext(subscription: LeasedSubscription, release: Release): Promise<void> {
    const { store, now, keys, base_url, mailer } = this.#parts;
    const { id, dataset, position } = subscription;
    const { pack } = release;
    const full = planOf(currentPlan(subscription, now().getTime())).bulk;
    let input: SubscribedInput;
    try {
      input = subscribedInput(subscription.query, pack);
    } catch {
      const problem = 'the dataset no longer has its conditions';
      return this.#end(subscription, null, { response_status: null, problem }, true);
    }
    if (!full && namesPaid(input, pack)) {
      const problem = 'its conditions name paid attributes, which the plan of the key no longer includes';
      return this.#end(subscription, null, { response_status: null, problem }, true);
    }
    const options = { signal: this.#closing.signal };
    const read = (since: number, until: number | null) =>
      subscribedChanges(release, input, { since, until, full, limit: CHANGES }, options);
    const waiting = await waitingDelivery(store, id);
    const { items, until, end } = await read(waiting?.since ?? position, waiting?.until ?? null);
    const step = { until, changes: items.length, now: now().getTime() };
    const delivery = waiting ?? (await advance(store, subscription, step));
    if (delivery === null) return endLease(store, subscription, end ? releaseTag(release) : undefined);
    const about = aboutDataset(pack, base_url);
    const content = { subscription: id, dataset, ...about, changes: items };
    if (subscription.url === null) {
      const at = now();
      const page = subscriptionPage(base_url, id, keys.challenge(id));
      const also = (db: Store['db']) => mailer.tryPost(db, changesMail(subscription.email, content, page), at);
      const times = { now: at.getTime(), next_at: at.getTime() + DIGEST, also };
      return endSuccess(store, subscription, delivery, { response_status: null, problem: null }, times);
    }
    const message = changesMessage(delivery.id, content);
    const { attempt, final } = await this.#post(subscription, message);
    await this.#end(subscription, delivery, attempt, final);
  }

  /** Stores how an attempt ended. */
  async #end(
    subscription: LeasedSubscription,
    delivery: DeliveryTable | null,
    attempt: Attempt,
    final: boolean,
  ): Promise<void> {
    const { store, now, mailer, base_url, log } = this.#parts;
    const at = now();
    if (attempt.problem === null) return endSuccess(store, subscription, delivery, attempt, { now: at.getTime() });
    const mail = endedMail(subscription.email, subscription, attempt.problem, base_url);
    const also = (db: Store['db']) => mailer.tryPost(db, mail, at);
    const ended = await endFailure(store, subscription, delivery, attempt, { final, now: at.getTime(), also });
    if (ended) log(`subscription ${subscription.id} ended: ${attempt.problem}`);
  }

  /** Posts a message once. Redirects are not followed, and of the answer only its status and first bytes are read. */
  async #post(
    { id, url }: LeasedSubscription,
    message: WebhookMessage,
  ): Promise<{ attempt: Attempt; final: boolean; text: string }> {
    const { keys, now, open_hosts } = this.#parts;
    const late = AbortSignal.timeout(PATIENCE);
    try {
      const address = new URL(url ?? '');
      checkUrl(address, publicOnly, WEB_PORTS, open_hosts);
      const response = await fetch(address, {
        method: 'POST',
        headers: signedHeaders(message, keys.signing(id), now().getTime()),
        body: message.body,
        redirect: 'manual',
        dispatcher: this.#agent,
        signal: AbortSignal.any([late, this.#closing.signal]),
      });
      const text = await firstBytes(response.body);
      const { status } = response;
      const problem = status >= 200 && status < 300 ? null : `it answered with status ${status}`;
      return { attempt: { response_status: status, problem }, final: status === 410, text };
    } catch (error) {
      return { attempt: { response_status: null, problem: problemOf(error, late) }, final: false, text: '' };
    }
  }
}

async function firstBytes(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    parts.push(part);
    size += part.length;
    // Leaving the loop cancels the rest of the body.
    if (size >= ANSWER) break;
  }
  return Buffer.concat(parts).subarray(0, ANSWER).toString();
}

/** Why no answer came, without text of the receiver or of its network. */
function problemOf(error: unknown, late: AbortSignal): string {
  if (late.aborted) return `it did not answer within ${PATIENCE / 1000} s`;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof Refused) return 'its address is not public';
  return 'no connection could be made';
}
