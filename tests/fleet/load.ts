// The load of the fleet test: clients that call through the balancer one after the other, and check what they get.
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentRequired } from '@x402/core/types';
import { decoded, encodePayload, pay } from '../chain/buyer.ts';
import { ROLES } from '../chain/chain.ts';
import { type Answer, type Call, type CallKind, Expected, type Item, recordOf, rowOf, send } from './calls.ts';
import { KINDS, kindOf, RECORDS, REMOVABLE, slugOf } from './dataset.ts';

export interface LoadOptions {
  origin: string;
  /** Keys with credit; a client uses one alone. */
  keys: readonly string[];
  /** Whether there is a chain to pay on. */
  paysOnChain: boolean;
}

/** Clients of each kind, and milliseconds between two calls of one. */
const CLIENTS: readonly [kind: CallKind, count: number, pause: number][] = [
  ['free', 2, 120],
  ['paid', 3, 100],
  ['repeated', 1, 150],
  ['mcp', 1, 120],
  ['a2a', 1, 150],
  ['sql', 1, 4_000],
  ['webhook', 1, 700],
  ['x402', 1, 900],
];
/** Keys that the clients need: one for each, so that no two calls of a key run at once. */
export const KEYS = CLIENTS.reduce((sum, [, count]) => sum + count, 0);
/** Attempts of a purchase before it counts as failed; a second passes between two. */
const ATTEMPTS = 90;

const pick = (limit: number): number => Math.floor(Math.random() * limit);
/** Records that no owner removes. */
const anyRecord = () => pick(RECORDS - REMOVABLE);
/** An address of a client: limits of calls without a key count by address. */
const address = () => `198.${18 + pick(2)}.${pick(256)}.${pick(256)}`;

type Check = (answer: Answer) => string | null;

export class Load {
  readonly calls: Call[] = [];
  readonly expected = new Expected();
  readonly #options: LoadOptions;
  #active = false;
  #clients: Promise<void>[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  start(): void {
    this.#active = true;
    let key = 0;
    this.#clients = CLIENTS.flatMap(([kind, count, pause]) =>
      kind === 'x402' && !this.#options.paysOnChain
        ? []
        : Array.from({ length: count }, () => this.#client(kind, pause, this.#options.keys[key++]!)),
    );
  }

  /** Ends the load; calls in progress have answers afterwards. */
  async stop(): Promise<void> {
    this.#active = false;
    await Promise.all(this.#clients);
  }

  async #client(kind: CallKind, pause: number, key: string): Promise<void> {
    const headers = { Authorization: `Bearer ${key}` };
    for (let turn = 0; this.#active; turn += 1) {
      await this.#next(kind, turn, headers);
      await sleep(pause * (0.5 + Math.random()));
    }
  }

  #next(kind: CallKind, turn: number, headers: Record<string, string>): Promise<unknown> {
    if (kind === 'free') return turn % 3 === 0 ? this.#preview() : this.#free(turn);
    if (kind === 'paid') return turn % 2 === 0 ? this.#record(headers) : this.#search(headers);
    if (kind === 'repeated') return this.#repeated(headers);
    if (kind === 'mcp') return this.#mcp(headers);
    if (kind === 'a2a') return this.#a2a(headers);
    if (kind === 'sql') return this.#sql(headers);
    if (kind === 'webhook') return this.#webhook(headers);
    return this.#x402();
  }

  /** Sends a call, and checks its answer when there is one. */
  async #call(kind: CallKind, sent: Parameters<typeof send>[2], check: Check, purchase: string | null = null) {
    const answer = await send(this.#options.origin, kind, sent, purchase);
    const { call } = answer;
    if (call.status >= 200 && call.status < 300 && call.error === null)
      try {
        call.wrong = check(answer);
      } catch (error) {
        call.wrong = `not as expected (${(error as Error).message}): ${answer.text.slice(0, 200)}`;
      }
    this.calls.push(call);
    return answer;
  }

  #checkRecord(record: number, id: string | null, item: Item): string | null {
    if (item.slug !== slugOf(record)) return `${item.slug} in place of ${slugOf(record)}`;
    return id === null ? 'no dataset version' : this.expected.values(id, [rowOf(item)]);
  }

  #checkList(kind: string, limit: number, { call, headers }: Answer, items: readonly Item[]): string | null {
    const records = items.map(({ slug }) => recordOf(slug));
    const problem = this.expected.list(kind, limit, records, call.began, call.ended);
    return problem ?? this.expected.values(headers.get('x-dataset-version') ?? '', items.map(rowOf));
  }

  #free(turn: number) {
    const headers = { 'X-Forwarded-For': address() };
    if (turn % 3 === 1)
      return this.#call('free', { path: '/v1/parts/status', headers }, ({ body, headers: answered }) =>
        body['snapshot'] === answered.get('x-dataset-version') ? null : 'status names another release',
      );
    return this.#call('free', { path: '/v1/parts/facets?by=kind', headers }, ({ text }) =>
      KINDS.every((kind) => text.includes(`"${kind}"`)) ? null : `facets: ${text.slice(0, 200)}`,
    );
  }

  #preview() {
    const kind = KINDS[pick(KINDS.length)]!;
    const path = `/v1/parts/entities?kind=${kind}&sort=code&limit=3`;
    return this.#call('free', { path, headers: { 'X-Forwarded-For': address() } }, (answer) =>
      this.#checkList(kind, 3, answer, answer.body['items'] as Item[]),
    );
  }

  #record(headers: Record<string, string>) {
    const record = anyRecord();
    return this.#call('paid', { path: `/v1/parts/entities/${slugOf(record)}`, headers }, (answer) =>
      this.#checkRecord(record, answer.headers.get('x-dataset-version'), answer.body as unknown as Item),
    );
  }

  #search(headers: Record<string, string>) {
    const kind = KINDS[pick(KINDS.length)]!;
    const path = `/v1/parts/entities?kind=${kind}&sort=code&limit=100&fields=code,stock,price.list`;
    return this.#call('paid', { path, headers }, (answer) =>
      this.#checkList(kind, 100, answer, answer.body['items'] as Item[]),
    );
  }

  /** A purchase with an Idempotency-Key, repeated until it is answered. */
  async #repeated(headers: Record<string, string>): Promise<void> {
    const [record, purchase] = [anyRecord(), randomUUID()];
    const sent = { path: `/v1/parts/entities/${slugOf(record)}`, headers: { ...headers, 'Idempotency-Key': purchase } };
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const { call } = await this.#call(
        'repeated',
        sent,
        (answer) => this.#checkRecord(record, answer.headers.get('x-dataset-version'), answer.body as unknown as Item),
        purchase,
      );
      if (call.status === 200) return;
      await sleep(1_000);
    }
  }

  #mcp(headers: Record<string, string>) {
    const record = anyRecord();
    const body = {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'entity_get', arguments: { dataset: 'parts', entity_id: slugOf(record), format: 'json' } },
    };
    const sent = {
      ...{ path: '/mcp', method: 'POST', body },
      headers: {
        ...headers,
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-11-25',
      },
    };
    return this.#call('mcp', sent, ({ call, body: message }) => {
      const result = message['result'] as {
        isError?: boolean;
        structuredContent: Record<string, unknown>;
        _meta: Record<string, unknown>;
      };
      const { structuredContent, _meta } = result;
      const charge = _meta['charge_eur'] as number | undefined;
      if (charge !== undefined) call.charge = Math.round(charge * 1_000_000);
      if (result.isError) {
        call.status = structuredContent['error'] === 'unavailable' ? 503 : 500;
        call.error = String(structuredContent['error']);
        call.hasRetryAfter = JSON.stringify(structuredContent).includes('retry_after');
        return null;
      }
      return this.#checkRecord(record, String(_meta['dataset_version']), structuredContent as unknown as Item);
    });
  }

  #a2a(headers: Record<string, string>) {
    const kind = KINDS[pick(KINDS.length)]!;
    const data = { skill: 'entity_search', dataset: 'parts', kind, sort: 'code', limit: 5 };
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ data }] };
    return this.#call('a2a', { path: '/a2a/v1/message:send', method: 'POST', body: { message }, headers }, (answer) => {
      const sent = answer.body['message'] as {
        parts: { data?: { items: Item[] } }[];
        metadata: { charge_eur?: number };
      };
      if (sent.metadata.charge_eur !== undefined) answer.call.charge = Math.round(sent.metadata.charge_eur * 1_000_000);
      return this.#checkList(kind, 5, answer, sent.parts.find((part) => part.data !== undefined)?.data?.items ?? []);
    });
  }

  #sql(headers: Record<string, string>) {
    const record = anyRecord();
    const statement = `SELECT code, stock, kind FROM parts WHERE code = '${slugOf(record)}'`;
    return this.#call(
      'sql',
      { path: '/v1/parts/sql', method: 'POST', body: { sql: statement }, headers },
      ({ body }) => {
        const [row] = body['rows'] as [string, number, string][];
        if (row?.[0] !== slugOf(record) || row[2] !== kindOf(record)) return `SQL: ${JSON.stringify(row)}`;
        return this.expected.values((body['releases'] as { parts: string }).parts, [{ record, stock: row[1] }]);
      },
    );
  }

  /** Lists the subscriptions of the key whose changes the receiver gets. */
  #webhook(headers: Record<string, string>) {
    return this.#call('webhook', { path: '/v1/keys/me/subscriptions', headers }, ({ body }) =>
      Array.isArray(body['items']) || Array.isArray(body['subscriptions']) ? null : 'no list of subscriptions',
    );
  }

  /** Buys a record by a payment on the chain, which is repeated until it is answered. */
  async #x402(): Promise<void> {
    const [record, purchase] = [anyRecord(), randomBytes(16).toString('hex')];
    const path = `/v1/parts/entities/${slugOf(record)}`;
    let payment: string | null = null;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const paid: Record<string, string> =
        payment === null ? {} : { 'PAYMENT-SIGNATURE': payment, 'Idempotency-Key': purchase };
      const headers = { 'X-Forwarded-For': address(), ...paid };
      const { call, headers: answered } = await this.#call(
        'x402',
        { path, headers },
        (answer) =>
          answer.headers.has('payment-response')
            ? this.#checkRecord(record, answer.headers.get('x-dataset-version'), answer.body as unknown as Item)
            : 'an answer without PAYMENT-RESPONSE',
        payment === null ? null : purchase,
      );
      if (call.status === 200) return;
      const required = answered.get('payment-required');
      if (call.status === 402 && payment === null && required !== null) {
        // The price, not a failure.
        call.status = 200;
        call.error = null;
        payment = encodePayload(await pay(decoded(required) as unknown as PaymentRequired, ROLES.payer));
        continue;
      }
      if (call.status === 402) return;
      await sleep(1_000);
    }
  }
}
