// Set-up of the x402 tests: a chain, a facilitator that can fail, the app on every store, and counters of an
// operation.
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Operation } from '../../api/contract/operation.ts';
import { entity_get } from '../../api/operations/record/entity_get.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { decoded, encodePayload, pay, type Twist } from '../chain/buyer.ts';
import { noChain, ROLES, type Role, startChain, type TestChain } from '../chain/chain.ts';
import { startFacilitator, type TestFacilitator } from '../chain/facilitator.ts';
import { startNode, type TestNode } from '../chain/node.ts';
import { BASE, type TestApp, type TestOptions, testApp } from './app.ts';
import { describeStores } from './stores.ts';

export interface X402Stage {
  chain: TestChain;
  facilitator: TestFacilitator;
  /** The node that the service queries. */
  node: TestNode;
  app: TestApp;
  /** Another app on the same state: a second process on PostgreSQL, the same one on SQLite. */
  other: TestApp;
  /** How often `/v1/tools/slow` ran, and what happens during its run. */
  runs: number;
  during: () => Promise<void>;
  /** Milliseconds that are added to the clock of the apps. */
  later: number;
}

/** The price of one record of the pack tools: 4,000 micro-euros at 1.1. */
export const PRICE = 4400n;
export const SLOW = '/v1/tools/slow';
export const RECORD = '/v1/tools/entities/record-1';
export { BASE, ROLES };

const { validators: _, ...untagged } = entity_get.rest;

/** An operation at the price of a record that waits for the test. */
const slowOn = (stage: X402Stage): Operation => ({
  ...entity_get,
  name: 'slow',
  rest: { ...untagged, entity: false, path: '/v1/:ds/slow' },
  parse: (raw) => raw,
  markdown: () => '# slow',
  run: async (_input, ctx) => {
    stage.runs += 1;
    const n = stage.runs;
    await stage.during();
    return { body: { n, seen: ctx.visibility, attribution: 'a', license: 'l' } };
  },
});

/** Timeouts in milliseconds: long, so that a slow machine fails no test, or short, to see them expire. */
const PATIENT = { verify: 30_000, settle: 45_000, mined: 20_000 };
export const HASTY = { verify: 3_000, settle: 4_000, mined: 500 };

/**
 * One `describe` per store with the complete set-up; without a chain its tests are skipped with the reason.
 */
export function describeX402(
  title: string,
  options: TestOptions,
  body: (stage: X402Stage) => void,
  patience = PATIENT,
): void {
  describeStores(title, ({ options: { databaseUrl, schema }, open }) => {
    const stage = { runs: 0, later: 0, during: async () => {} } as X402Stage;
    beforeAll(async () => {
      if (noChain() !== null) return;
      await open();
      stage.chain = await startChain();
      stage.node = await startNode(stage.chain.url);
      stage.facilitator = await startFacilitator(stage.chain.url, { patience: patience.mined });
      const store = { ...(databaseUrl ? { databaseUrl } : {}), ...(schema ? { schema } : {}) };
      const operations = [...OPERATIONS, slowOn(stage)];
      const made = () =>
        testApp({ records: 12, ...options, store, ...offered(stage, patience), gate: { operations, ...options.gate } });
      stage.app = await made();
      stage.other = databaseUrl ? await made() : stage.app;
    }, 60_000);
    beforeEach((context) => {
      const why = noChain();
      if (why !== null) context.skip(why);
      stage.facilitator.plain();
      stage.node.down = false;
      Object.assign(stage, { runs: 0, later: 0, during: async () => {} });
    });
    afterAll(async () => {
      if (noChain() !== null) return;
      await stage.app.close();
      if (stage.other !== stage.app) await stage.other.close();
      await stage.facilitator.stop();
      await stage.node.stop();
      await stage.chain.stop();
    });
    body(stage);
  });
}

/** The settings of x402 with a running clock. */
function offered(stage: X402Stage, patience = PATIENT): Pick<TestOptions, 'x402' | 'now'> {
  return {
    x402: {
      pay_to: ROLES.merchant.address,
      tokens: ['usdc', 'usdt'],
      facilitator_url: stage.facilitator.url,
      rpc_url: stage.node.url,
      patience,
    },
    now: () => new Date(Date.now() + stage.later),
  };
}

/** The 402 answer of an unpaid call. */
async function required(app: TestApp, path: string): Promise<PaymentRequired> {
  const response = await app.ask(path);
  await response.body?.cancel();
  return decoded(response.headers.get('payment-required')) as unknown as PaymentRequired;
}

export interface X402Answer {
  /** `status code reason`. */
  summary: string;
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** Calls with a payment, and further headers. */
export async function callPaid(
  app: TestApp,
  path: string,
  payment?: unknown,
  headers: Record<string, string> = {},
): Promise<X402Answer> {
  const signature =
    payment === undefined
      ? {}
      : { 'PAYMENT-SIGNATURE': typeof payment === 'string' ? payment : encodePayload(payment) };
  const { status, headers: sent, body } = await app.json(path, { headers: { ...signature, ...headers } });
  const reason = (body['detail'] as { reason?: string } | undefined)?.reason ?? '';
  return { summary: [status, body['error'] ?? '', reason].join(' ').trim(), status, headers: sent, body };
}

/** Signs a payment for an address without the stock client. */
export const signedPayment = async (
  app: TestApp,
  path: string,
  role: Role = ROLES.payer,
  twist: Twist = {},
): Promise<PaymentPayload> => pay(await required(app, path), role, twist);

/** The amounts that an action took from the payer and paid to the merchant. */
export async function amountsMoved(
  { chain }: X402Stage,
  act: () => Promise<unknown>,
  role: Role = ROLES.payer,
  token: 'usdc' | 'usdt' = 'usdc',
): Promise<{ paid: bigint; got: bigint }> {
  const look = async () => [await chain.balance(token, role), await chain.balance(token, ROLES.merchant)] as const;
  const [payer, merchant] = await look();
  await act();
  const [after, earned] = await look();
  return { paid: payer - after, got: earned - merchant };
}

/** A fetch that calls the app without a socket, for the stock client. */
export const fetchOf = (app: TestApp): typeof globalThis.fetch =>
  (async (input: Request | URL | string, init?: RequestInit) =>
    app.fetch(input instanceof Request ? input : new Request(input, init))) as typeof globalThis.fetch;
