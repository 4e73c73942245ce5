// Subscriptions to changes in the store, with the limits of plans.
import type { KeepAnswer, Requester } from '../../data/model/accounts.ts';
import type {
  AddedSubscription,
  ChangeDelivery,
  ChangeSubscription,
  ChangeSubscriptions,
  WantedSubscription,
} from '../../data/model/change-subscriptions.ts';
import { DataError } from '../../data/model/errors.ts';
import { checkUrl, type OpenHosts, publicOnly, Refused, WEB_PORTS } from '../../data/model/guard.ts';
import { currentPlan, subscription as planOf } from '../../data/model/subscriptions.ts';
import type { Register } from '../../data/releases/register.ts';
import {
  addSubscription,
  deliveriesOf,
  removeSubscription,
  repeatDelivery,
  subscriptionsOf,
} from '../../data/state/change-subscriptions.ts';
import { keyById } from '../../data/state/keys/keys.ts';
import type { MailQueue } from '../../data/state/mail.ts';
import type { Store } from '../../data/state/store.ts';
import { normalEmail } from '../access/emails.ts';
import { ApiError } from '../contract/errors.ts';
import { confirmationMail, type SubscriptionKeys, subscriptionPage } from './message.ts';
import { namesPaid, subscribedInput } from './sender.ts';

/** Most deliveries of an answer. */
const DELIVERIES = 100;

/** Parameters of the changelog that select no change to come. */
const UNUSED = ['days', 'from', 'to', 'group_by', 'by_day', 'limit', 'offset', 'format', 'entity'];

interface Parts {
  store: Store;
  register: Register;
  keys: SubscriptionKeys;
  mailer: Pick<MailQueue, 'post'>;
  base_url: string;
  open_hosts?: OpenHosts;
}

/** The 422 for a member of the body. */
const wrongMember = (name: string, msg: string) =>
  new DataError('validation_failed', `${name}: ${msg}`, [{ loc: ['body', name], msg, type: 'value_error' }]);

const notFound = () => new ApiError('not_found', 'This key has no subscription or delivery with this id.');

/** The address of a receiver as it is called; 422 unless it is https on a public host, or one of `open_hosts`. */
function checkedUrl(url: string, open_hosts?: OpenHosts): string {
  try {
    const address = new URL(url);
    checkUrl(address, publicOnly, WEB_PORTS, open_hosts);
    if (address.protocol !== 'https:' && !open_hosts?.has(address.host)) throw new Refused('use https');
    address.hash = '';
    return address.href;
  } catch (error) {
    throw wrongMember('url', error instanceof Refused ? error.message : 'must be an address');
  }
}

/**
 * @example
 * ```ts
 * const { id, secret } = await subscriptions.add({ dataset: 'airports', query: { country: 'CH' }, to: { url } }, requester);
 * ```
 */
export class StoredSubscriptions implements ChangeSubscriptions {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async add(
    { dataset, query, to }: WantedSubscription,
    requester: Requester,
    keep?: KeepAnswer<AddedSubscription>,
  ): Promise<AddedSubscription> {
    const { store, register, keys, mailer, base_url, open_hosts } = this.#parts;
    const pack = register.packs.get(dataset);
    if (pack === undefined) throw new DataError('unknown_dataset', `There is no dataset "${dataset}".`);
    const unused = UNUSED.find((name) => name in query);
    if (unused !== undefined)
      throw wrongMember(
        'filters',
        `${unused} has no meaning for changes to come${unused === 'entity' ? '; use ids' : ''}`,
      );
    const input = subscribedInput(JSON.stringify(query), pack);
    const url = 'url' in to ? checkedUrl(to.url, open_hosts) : null;
    const key = await keyById(store, requester.key ?? '');
    if ('email' in to && (key === null || normalEmail(to.email) !== normalEmail(key.email)))
      throw wrongMember('email', 'must be the address of the key');
    const plan = planOf(currentPlan(key ?? { plan: 'payg', plan_until: null }, requester.now));
    if (!plan.bulk && namesPaid(input, pack))
      throw new ApiError(
        'plan_required',
        'These conditions name paid attributes; they need a plan with the change feed.',
      );
    const added = (id: string) => ({ id, ...(url === null ? {} : { secret: keys.signing(id) }) });
    const row = await addSubscription(store, {
      ...{ key_id: requester.key ?? '', dataset, query: JSON.stringify(query), url },
      ...{ most: plan.subscriptions, now: requester.now },
      also: async (tx, { id }) => {
        const page = subscriptionPage(base_url, id, keys.challenge(id));
        if (url === null)
          await mailer.post(tx, confirmationMail(key?.email ?? '', dataset, page), new Date(requester.now), {
            network: requester.address,
          });
        await keep?.(tx, added(id));
      },
    });
    if (row === null)
      throw new DataError(
        'invalid_parameter',
        `This key may have ${plan.subscriptions} subscriptions, and has them; deleted ones count for a day.`,
      );
    return added(row.id);
  }

  async list({ key }: Requester): Promise<ChangeSubscription[]> {
    const rows = await subscriptionsOf(this.#parts.store, key ?? '');
    return rows.map(({ id, dataset, query, url, status, created_at, failing_since, next_at }) => ({
      ...{ id, dataset, query: JSON.parse(query) as Record<string, string>, url, status, created_at },
      retry_at: failing_since === null || status === 'disabled' ? null : next_at,
    }));
  }

  async remove(id: string, { key, now }: Requester): Promise<void> {
    if (!(await removeSubscription(this.#parts.store, key ?? '', id, now))) throw notFound();
  }

  async deliveries(id: string, { key }: Requester): Promise<ChangeDelivery[]> {
    const rows = await deliveriesOf(this.#parts.store, key ?? '', id, DELIVERIES);
    if (rows === null) throw notFound();
    return rows.map(({ subscription_id: _, since: __, until: ___, ...row }) => row);
  }

  async repeat(id: string, delivery: string, { key, now }: Requester): Promise<void> {
    if (!(await repeatDelivery(this.#parts.store, key ?? '', id, delivery, now))) throw notFound();
  }
}
