// Who may call what, in the OpenAPI document: the schemes, which operation takes which, and what a paid one costs.
import { usd } from '../../packs/money.ts';
import type { Operation } from '../contract/operation.ts';
import type { View } from './document.ts';

type Json = Record<string, unknown>;

/** The ways to say who one is, or to pay without saying it. */
export function securitySchemes({ base_url, x402 }: View): Record<string, Json> {
  return {
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'X-API-Key',
      description: `An API key; POST ${base_url}/v1/keys makes one. Calls are charged to its credit.`,
    },
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'The same key, or an operator’s, as `Authorization: Bearer`.',
    },
    oauth: {
      type: 'oauth2',
      description: 'Spends from the key of the person who consents; see /auth.md.',
      flows: {
        authorizationCode: {
          authorizationUrl: `${base_url}/oauth/authorize`,
          tokenUrl: `${base_url}/oauth/token`,
          refreshUrl: `${base_url}/oauth/token`,
          scopes: { read: 'Ask every data operation' },
        },
      },
    },
    ...(x402
      ? {
          x402: {
            type: 'apiKey',
            in: 'header',
            name: 'PAYMENT-SIGNATURE',
            description: `Pay a call without an account: ask without a credential, sign one of the payments that the PAYMENT-REQUIRED header of the 402 offers, and repeat the request with it. Terms: ${base_url}/.well-known/x402.json`,
          },
        }
      : {}),
  };
}

/** Which schemes an operation takes; any one of them is enough. */
export function securityOf({ access, group, tokens, previews, price }: Operation, { x402 }: View): Json[] {
  if (access === 'admin') return [{ bearer: [] }];
  const byToken = group !== 'account' || tokens ? [{ oauth: ['read'] }] : [];
  const known = [{ apiKey: [] }, { bearer: [] }, ...byToken];
  if (access === 'key') return known;
  // An empty list is the form that clients read as open; alternatives are for what is only partly so.
  if (access === 'free' && price === undefined) return [];
  const open = access === 'free' || previews ? [{}] : [];
  const paying = price !== undefined && x402 ? [{ x402: [] }] : [];
  return [...open, ...known, ...paying];
}

/**
 * What indexers of paid interfaces read: the price in USD of one call, exact for one dataset, between the least and the most of
 * all where it is not said; of a batch it is the price of one record, and a price that only some calls have begins at 0.
 * Without x402 there is no protocol to pay by.
 */
export function paymentInfo({ price }: Operation, { releases, eur_usd, x402 }: View, dataset: string | null): Json {
  if (!price) return {};
  const { of, free, condition } = price;
  const packs = releases.map(({ pack }) => pack).filter((pack) => !free?.(pack) && (dataset ?? pack.id) === pack.id);
  const prices = packs.map((pack) => usd(pack.prices[of], eur_usd)).sort((a, b) => a - b);
  if (condition) prices.unshift(0);
  const [least] = prices;
  const most = prices.at(-1);
  if (least === undefined || most === undefined) return {};
  const money =
    least === most
      ? { mode: 'fixed', currency: 'USD', amount: plain(least) }
      : { mode: 'dynamic', currency: 'USD', min: plain(least), max: plain(most) };
  return { 'x-payment-info': { price: money, protocols: x402 ? ['x402'] : [] } };
}

/** A number without an exponent. */
const plain = (amount: number) => amount.toFixed(6).replace(/\.?0+$/, '');
