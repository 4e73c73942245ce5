// The page of a mailed subscription. Opening it changes nothing, since mail scanners open links; its buttons do.
import { timingSafeEqual } from 'node:crypto';
import { removeSubscription, subscriptionById, verifySubscription } from '../../data/state/change-subscriptions.ts';
import type { Store } from '../../data/state/store.ts';
import type { ChangeSubscriptionTable } from '../../data/state/tables/change-subscriptions.ts';
import { ApiError } from '../contract/errors.ts';
import type { RouteRequest, RouteTable } from '../http/server.ts';
import { html } from '../pages/html.ts';
import { FORM_STYLE, shellOf } from '../pages/shell.ts';
import type { SubscriptionKeys } from './message.ts';

const PATH = '/account/subscription';
const SHELL = shellOf({ style: FORM_STYLE });

interface Parts {
  store: Store;
  keys: SubscriptionKeys;
}

/** Routes of the page, and of the button of mail readers that ends further mails (RFC 8058). */
export function subscriptionPages({ store, keys }: Parts): RouteTable {
  /** The subscription of the link. Throws `not_found`. */
  async function subscriptionOf(request: RouteRequest): Promise<ChangeSubscriptionTable> {
    const [id, token] = [request.url.searchParams.get('id') ?? '', request.url.searchParams.get('token') ?? ''];
    const expected = keys.challenge(id);
    const isValid = token.length === expected.length && timingSafeEqual(Buffer.from(token), Buffer.from(expected));
    const subscription = isValid ? await subscriptionById(store, id) : null;
    if (subscription === null) throw new ApiError('not_found', 'This subscription has ended.');
    return subscription;
  }
  return {
    policy: { credentials: 'ignored', cors: false, errors: 'page', shell: SHELL, form: 'unchecked', bucket: 'signin' },
    routes: {
      [`GET ${PATH}`]: async (request) => {
        const { dataset, status } = await subscriptionOf(request);
        const action = status === 'active' ? ['end', 'End these mails'] : ['confirm', 'Confirm'];
        return {
          page: {
            title: `Mails about changes of ${dataset}`,
            path: PATH,
            body: html`<form method="post"><input type="hidden" name="action" value="${action[0]}"><button type="submit" class="button">${action[1]}</button></form>`,
          },
        };
      },
      [`POST ${PATH}`]: async (request) => {
        const { id, dataset, key_id } = await subscriptionOf(request);
        const confirmed = request.field('action') === 'confirm';
        if (confirmed) await verifySubscription(store, id, request.now.getTime());
        else await removeSubscription(store, key_id, id, request.now.getTime());
        const title = confirmed ? `You get changes of ${dataset} by mail` : `Mails about ${dataset} have ended`;
        return { page: { title, path: PATH, body: html`<p>${confirmed ? 'At most one mail a day.' : ''}</p>` } };
      },
    },
  };
}
