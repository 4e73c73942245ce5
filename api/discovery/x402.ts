// /.well-known/x402.json and /.well-known/x402: prices and payment terms, from the function that builds every
// 402.
//
// The first follows the draft well-known-discovery of the x402 project, and contains the addresses also in
// the form that indexers of the second expect. In case of a difference, the 402 of a call decides.

import { derive } from '../../packs/define/derive.ts';
import type { Context, Operation } from '../contract/operation.ts';
import { callPrice, isSold } from '../contract/pricing.ts';
import type { CallDeps } from '../gate/execute.ts';
import { pricesOf } from '../operations/dataset/datasets_list.ts';
import { inputSchema } from '../render/json-schema.ts';
import type { Document, View } from './document.ts';
import { exampleUrl, slugsOf } from './openapi-examples.ts';
import { openPath } from './openapi-names.ts';
import { releaseTime } from './prerender-context.ts';

type Release = NonNullable<Context['release']>;
type Quote = CallDeps['payments']['quote'];

const NOT_OFFERED =
  'Pay-per-call with x402 is not offered by this service. The prices are those of calls with an API key.';

/** Operations without a free preview: each answers 402 to a call without a credential. */
const soldBy = (operations: readonly Operation[], { pack }: Release) =>
  operations.filter(
    (operation) =>
      isSold(operation, pack) &&
      !operation.charge.previews &&
      operation.charge.price &&
      operation.rest.path.includes(':ds'),
  );

/** The 402's payment requirements for one call of this operation. */
function requirementsOf(quote: Quote, { pack }: Release, operation: Operation, url: string) {
  return quote(
    { kind: 'anonymous' },
    {
      operation: operation.name,
      dataset: pack.id,
      ...callPrice(operation, pack),
      resource: { url, description: operation.title, mimeType: 'application/json' },
      request_id: '',
    },
  );
}

async function itemsOf(view: View, release: Release, quote: Quote): Promise<object[]> {
  const { pack } = release;
  const slugs = await slugsOf(view, release);
  const updated = Math.floor(Date.parse(release.manifest.created_at) / 1000);
  return soldBy(view.operations, release).map((operation) => {
    const example =
      operation.docs.example?.(pack, slugs) ?? (operation.rest.entity ? { entity_id: slugs[0] ?? '' } : {});
    const url = view.base_url + exampleUrl(operation, pack, example);
    const { resource, accepts, extensions, price_eur, price_usd } = requirementsOf(quote, release, operation, url);
    const { properties = {} } = inputSchema(operation, pack) as { properties?: Record<string, unknown> };
    const { entity_id, ...query } = properties;
    return {
      resource: { ...resource, serviceName: 'Dataset register', tags: [pack.id, operation.docs.group] },
      type: 'http',
      accepts,
      ...(extensions ? { extensions } : {}),
      lastUpdated: updated,
      input: {
        method: operation.rest.method,
        routeTemplate: openPath(operation, pack),
        ...(entity_id === undefined ? {} : { pathParams: { entity_id } }),
        queryParams: query,
      },
      price: { eur: price_eur, usd: price_usd, ...(operation.charge.price?.times ? { each: 'id' } : {}) },
    };
  });
}

/** Payment rules that are not part of the requirements. */
function rules(base_url: string) {
  return {
    network: 'eip155:8453 (Base)',
    tokens: 'USDC by EIP-3009; USDT by Permit2, which the owner of the tokens approves once on the chain',
    charged: 'When the answer is ready, before it is sent. Errors, HEAD and 304 are free.',
    bound: 'A payment belongs to one method, address and body; it pays for one run and one answer.',
    repeat:
      'Send an Idempotency-Key (32 to 128 random characters) or a payment-identifier to get a lost answer again within 24 hours.',
    unclear: 'On 503 and 409 payment_in_progress repeat the same request after Retry-After; do not sign a new payment.',
    free: `20 records a day of search previews; ${base_url}/v1/datasets and everything it links to that has no price`,
    documentation: `${base_url}/llms.txt`,
  };
}

/** The sale of prepaid keys: one payment for many calls. */
function prepaidOffer({ operations, base_url }: View, quote: Quote): object | null {
  const operation = operations.find(({ charge }) => charge.amount);
  if (!operation) return null;
  const url = base_url + operation.rest.path;
  const resource = { url, description: operation.title, mimeType: 'application/json' };
  const price = {
    operation: operation.name,
    dataset: '',
    ...callPrice(operation, undefined),
    resource,
    request_id: '',
  };
  const { accepts, price_eur, price_usd } = quote({ kind: 'anonymous' }, price);
  return {
    resource,
    input: { method: operation.rest.method, bodyType: 'json', body: inputSchema(operation, null)['properties'] },
    headers: { 'Idempotency-Key': 'required, 32 to 128 random characters; it alone gets a lost key again' },
    example: { body: { amount_eur: price_eur }, price: { eur: price_eur, usd: price_usd }, accepts },
  };
}

async function terms(view: View) {
  const { releases, base_url, quote } = view;
  const offered = quote !== undefined && view.x402 === true;
  const ofRelease = (release: Release) =>
    derive(release, `payment terms at ${base_url}, ${view.eur_usd}`, () => itemsOf(view, release, quote!));
  const items = offered ? (await Promise.all(releases.map(ofRelease))).flat() : [];
  const prices = releases.flatMap(({ pack }) =>
    Object.entries(pricesOf({ pack }, view)).map(([name, price]) => [`${pack.id}.${name}`, price]),
  );
  return {
    version: 1,
    x402Version: 2,
    ...(offered ? {} : { error: NOT_OFFERED }),
    lastUpdated: Math.floor(releaseTime(releases).getTime() / 1000),
    resources: items.map((item) => (item as { resource: { url: string } }).resource.url),
    items,
    ...(offered ? { prepaid: prepaidOffer(view, quote) } : {}),
    prices: Object.fromEntries(prices),
    terms: offered ? rules(base_url) : { documentation: `${base_url}/llms.txt`, keys: `${base_url}/auth.md` },
  };
}

export const x402Terms: Document = {
  path: '/.well-known/x402.json',
  title: 'Payment terms and prices (x402)',
  content_type: 'application/json',
  live: true,
  text: async (view) => JSON.stringify(await terms(view)),
};

/** For indexers that read addresses only. */
export const x402Resources: Document = {
  path: '/.well-known/x402',
  title: 'Addresses that x402 pays for',
  content_type: 'application/json',
  live: true,
  text: async (view) => {
    const { version, resources, error } = await terms(view);
    return JSON.stringify({ version, resources, ...(error === undefined ? {} : { error }) });
  },
};
