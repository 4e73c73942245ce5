// Refusals that depend on paid values are free, so they contain no count, and callers without credit never
// get one.
import { beforeAll, expect, it } from 'vitest';
import { BASE, type TestApp } from '../../support/app.ts';
import { balance, describeApps, type MoneyStage, newKey } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies('leak.refusals');

/** More records than a time series takes with either filter: all of them have berths of 0 or more. */
const MANY = 5_003;
const FILTERS = ['min_berths=0', 'min_berths=2'];

const AT_ADDRESSES: readonly [path: string, code: string][] = [
  ['/v1/harbours/timeseries?attribute=depth', 'too_many_records'],
  ['/v1/harbours/timeseries?attribute=depth&group_by=code&max_code=100&days=366', 'invalid_parameter'],
  ['/v1/harbours/timeseries?attribute=depth&group_by=berths&max_code=100&days=366', 'invalid_parameter'],
  ['/v1/harbours/stats?attribute=code&group_by=code', 'invalid_parameter'],
  ['/v1/harbours/stats?attribute=code&group_by=coast,berths', 'invalid_parameter'],
];

const slugs = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `many-${from + index}`);

type Given = Record<string, unknown>;

/** Calls by name whose answers are longer than 1,000 tokens, in two sizes each. */
const BY_NAME: readonly [name: string, given: readonly Given[]][] = [
  [
    'entity_batch',
    [['depth'], []].map((more) => ({
      ids: slugs(0, 30),
      fields: ['code', 'berths', 'coast', ...more],
      format: 'json',
    })),
  ],
  [
    'dataset_stats',
    [0, 2].map((min) => ({ attribute: 'code', group_by: 'code', filters: { max_code: 500, min_berths: min } })),
  ],
  ['dataset_timeseries', [300, 290].map((days) => ({ attribute: 'depth', days, ids: slugs(0, 2) }))],
];

/** Error code and message of a refusal, without request-dependent parts. */
interface Refusal {
  error: unknown;
  message: unknown;
  detail: unknown;
}

const CHANNELS: Record<string, (name: string, given: object) => [path: string, headers: object, body: object]> = {
  mcp: (name, given) => [
    '/mcp?max_tokens=1000',
    { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-06-18', Host: new URL(BASE).host },
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { dataset: 'harbours', ...given } } },
  ],
  a2a: (name, given) => [
    '/a2a/v1/message:send?max_tokens=1000',
    { 'A2A-Version': '1.0' },
    {
      message: { messageId: '1', role: 'ROLE_USER', parts: [{ data: { skill: name, dataset: 'harbours', ...given } }] },
    },
  ],
};

/** The error body of any channel's answer. */
function refusalIn(answer: unknown): Refusal | undefined {
  if (typeof answer === 'string' && answer.startsWith('{')) return refusalIn(JSON.parse(answer));
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { error, message, detail } = answer as Record<string, unknown>;
  if (typeof error === 'string') return { error, message, detail };
  return Object.values(answer)
    .map(refusalIn)
    .find((found) => found !== undefined);
}

async function byName(app: TestApp, channel: string, name: string, given: object, headers: object = {}) {
  const [path, own, body] = CHANNELS[channel]!(name, given);
  const sent = { 'Content-Type': 'application/json', ...own, ...headers };
  return refusalIn((await app.json(path, { method: 'POST', headers: sent, body: JSON.stringify(body) })).body);
}

/** Publishes harbours with so many records. */
async function publishMany({ app }: MoneyStage): Promise<void> {
  const [model] = app.records['harbours']!;
  const many = Array.from({ length: MANY }, (_, index) => ({
    ...model!,
    id: `r-${index.toString(16).padStart(16, '0')}`,
    slug: `many-${index}`,
    attributes: { code: index + 1, coast: 'north', berths: index },
  }));
  await app.publish('harbours', many);
}

describeApps('refusals that cost nothing', { welcome_budget: 0 }, (stage) => {
  beforeAll(() => publishMany(stage));

  it.each(AT_ADDRESSES)('have no count, and need credit: %s', async (path, code) => {
    const { app } = stage;
    const [poor, rich] = [await newKey(app), await newKey(app, 1)];
    const refusals = await Promise.all(
      FILTERS.map(async (filter) => {
        const asked = `${path}&${filter}`;
        const anonymous = await app.json(asked);
        expect([anonymous.status, anonymous.body['error']]).toEqual([402, 'payment_required']);
        const unpaid = await app.json(asked, { headers: poor.headers });
        expect([unpaid.status, unpaid.body['error']]).toEqual([402, 'insufficient_credits']);
        const { status, body, headers } = await app.json(asked, { headers: rich.headers });
        expect([status, body['error'], headers.get('x-charge-eur')]).toEqual([400, code, null]);
        return refusalIn(body);
      }),
    );
    expect(refusals[1]).toEqual(refusals[0]);
    expect(await balance(app, rich.headers)).toBe(1);
  });

  it.each(Object.keys(CHANNELS).flatMap((channel) => BY_NAME.map(([name, given]) => [channel, name, given] as const)))(
    'do not contain the length of an answer: %s %s',
    async (channel, name, given) => {
      const { app } = stage;
      const [poor, rich] = [await newKey(app), await newKey(app, 1)];
      const refusals = await Promise.all(
        given.map(async (each) => {
          expect((await byName(app, channel, name, each))?.error).toBe('payment_required');
          expect((await byName(app, channel, name, each, poor.headers))?.error).toBe('insufficient_credits');
          return byName(app, channel, name, each, rich.headers);
        }),
      );
      expect(refusals[0]).toMatchObject({ error: 'too_many_records', detail: { max_tokens: 1000 } });
      expect(refusals[1]).toEqual(refusals[0]);
      expect(await balance(app, rich.headers)).toBe(1);
    },
  );
});
