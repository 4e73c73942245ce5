// The stage of the x402 tests: a chain, a facilitator that can fail, the app on every store, and what an operation did.
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Operation } from '../../api/contract/operation.ts';
import { entity_get } from '../../api/operations/record/entity_get.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { decoded, encoded, pay, type Twist } from '../chain/buyer.ts';
import { noChain, ROLES, type Role, startChain, type TestChain } from '../chain/chain.ts';
import { startFacilitator, type TestFacilitator } from '../chain/facilitator.ts';
import { startNode, type TestNode } from '../chain/node.ts';
import { BASE, type TestApp, type TestOptions, testApp } from './app.ts';
import { describeStores } from './stores.ts';

export interface Stage {
  chain: TestChain;
  facilitator: TestFacilitator;
  /** What the service asks about the chain. */
  node: TestNode;
  app: TestApp;
  /** Another app on the same state: a second process on PostgreSQL, the same one on SQLite. */
  other: TestApp;
  /** How often `/v1/tools/slow` ran, and what happens while it does. */
  runs: number;
  during: () => Promise<void>;
  /** What is added to the clock of the apps, in milliseconds. */
  later: number;
}

/** The price of one record of the pack tools: 4,000 micro-euros at 1.1. */
export const PRICE = 4400n;
export const SLOW = '/v1/tools/slow';
export const RECORD = '/v1/tools/entities/record-1';
export { BASE, ROLES };

const { validators: _, ...untagged } = entity_get;

/** An operation at the price of a record that waits for the test. */
const slowOn = (stage: Stage): Operation => ({
  ...untagged,
  name: 'slow',
  entity: false,
  route: { method: 'GET', path: '/v1/:ds/slow' },
  parse: (raw) => raw,
  markdown: () => '# slow',
  run: async (_input, ctx) => {
    stage.runs += 1;
    const n = stage.runs;
    await stage.during();
    return { body: { n, seen: ctx.visibility, attribution: 'a', license: 'l' } };
  },
});

/** How long things are waited for, in milliseconds: long, so that a slow machine fails no test, or short, to see it end. */
const PATIENT = { verify: 30_000, settle: 45_000, mined: 20_000 };
export const HASTY = { verify: 3_000, settle: 4_000, mined: 500 };

/** One `describe` per store with everything in it; where there is no chain, its tests are skipped and say why. */
export function describeX402(
  title: string,
  options: TestOptions,
  body: (stage: Stage) => void,
  patience = PATIENT,
): void {
  describeStores(title, ({ options: { databaseUrl, schema }, open }) => {
    const stage = { runs: 0, later: 0, during: async () => {} } as Stage;
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

/** The settings of x402 on this stage, and a clock that goes. */
function offered(stage: Stage, patience = PATIENT): Pick<TestOptions, 'x402' | 'now'> {
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

/** What an unpaid call of an address is told. */
async function required(app: TestApp, path: string): Promise<PaymentRequired> {
  const response = await app.ask(path);
  await response.body?.cancel();
  return decoded(response.headers.get('payment-required')) as unknown as PaymentRequired;
}

export interface Told {
  /** `status code reason`. */
  told: string;
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** Asks with a payment, and further headers. */
export async function asked(
  app: TestApp,
  path: string,
  payment?: unknown,
  headers: Record<string, string> = {},
): Promise<Told> {
  const signature =
    payment === undefined ? {} : { 'PAYMENT-SIGNATURE': typeof payment === 'string' ? payment : encoded(payment) };
  const { status, headers: sent, body } = await app.json(path, { headers: { ...signature, ...headers } });
  const reason = (body['detail'] as { reason?: string } | undefined)?.reason ?? '';
  return { told: [status, body['error'] ?? '', reason].join(' ').trim(), status, headers: sent, body };
}

/** Signs a payment by hand for an address. */
export const signed = async (
  app: TestApp,
  path: string,
  role: Role = ROLES.payer,
  twist: Twist = {},
): Promise<PaymentPayload> => pay(await required(app, path), role, twist);

/** What an act took from a payer and brought the merchant. */
export async function moved(
  { chain }: Stage,
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

/** A fetch that reaches the app without a socket, for the stock client. */
export const fetchOf = (app: TestApp): typeof globalThis.fetch =>
  (async (input: Request | URL | string, init?: RequestInit) =>
    app.fetch(input instanceof Request ? input : new Request(input, init))) as typeof globalThis.fetch;
