// `subscriptions/listen` of MCP 2026-07-28 with the SDK's client over HTTP: which resources changed, bounds, and the end.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { STREAMS } from '../../../api/channels/mcp/listen.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { type Listening, listen } from '../../support/oauth-server.ts';
import { editAsOwner, optOutRecord } from '../../support/overlay-world.ts';

let stage: Listening;
const clients: Client[] = [];
beforeAll(async () => {
  stage = await listen();
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(() => stage.close());

/** A client with the URIs that it was notified of. */
async function connected(headers: Record<string, string> = {}, mode: 'auto' | 'legacy' = 'auto') {
  const client = new Client({ name: 'tests', version: '1.0.0' }, { versionNegotiation: { mode } });
  clients.push(client);
  const updated: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${stage.base}/mcp`), { requestInit: { headers } }));
  return { client, updated };
}

const until = async (condition: () => boolean) => {
  for (let i = 0; i < 100 && !condition(); i += 1) await sleep(100);
};

it('notifies of the named records whose public values changed, by slug or id, and of no other', async () => {
  const { app } = stage;
  const [first, second, third] = app.records['tools']!;
  const { client, updated } = await connected();
  const page = (ref: string) => `service://tools/entity/${ref}`;
  const { resources } = await client.listResources();
  const guide = resources.find(({ uri }) => uri.includes('tools'))!.uri;
  const [bySlug, byId, other] = [page(first!.slug), page(second!.id), page(third!.slug)];
  const wanted = [bySlug, byId, guide, page('no-such-record'), 'file:///etc/passwd'];
  const subscription = await client.listen({ resourceSubscriptions: wanted, toolsListChanged: true });
  expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [bySlug, byId, guide] });
  await sleep(1500);
  const editing = { store: app.state, refresh: () => app.register.refresh(), current: app.register.current };
  const edit = (id: string, materials: string[]) =>
    editAsOwner(editing, 'tools', id, { materials }, new Date().toISOString());
  await edit(first!.id, ['oak']);
  await edit(third!.id, ['oak']);
  await until(() => updated.length > 0);
  await sleep(1500);
  expect([...new Set(updated)]).toEqual([bySlug]);
  expect((await client.readResource({ uri: bySlug })).contents[0]).toMatchObject({
    text: expect.stringContaining('oak'),
  });
  await optOutRecord(editing, 'tools', second!, new Date().toISOString());
  await until(() => updated.includes(byId));
  expect(updated).toContain(byId);
  expect(updated).not.toContain(other);
  await subscription.close();
  const count = updated.length;
  await edit(first!.id, ['ash']);
  await sleep(1500);
  expect(updated).toHaveLength(count);
  expect(app.lent()).toBe(0);
}, 60_000);

it('opens four streams for a caller, and another when one has ended', async () => {
  const { headers } = await newKey(stage.app);
  const { client } = await connected(headers);
  const { resources } = await client.listResources();
  const guide = resources.find(({ uri }) => uri.includes('tools'))!.uri;
  const open = () => client.listen({ resourceSubscriptions: [guide] });
  const streams = [await open(), await open(), await open(), await open()];
  await expect(open()).rejects.toMatchObject({
    data: { error: 'rate_limited', is_retriable: true, retry_after_seconds: 60 },
  });
  const { client: stranger } = await connected();
  await (await stranger.listen({ resourceSubscriptions: [guide] })).close();
  await streams[0]!.close();
  await sleep(500);
  streams[0] = await open();
  for (const stream of streams) await stream.close();
}, 60_000);

it('keeps a share of the streams for callers with a key, for which a stream without one gives way', async () => {
  const message = (id: number) =>
    JSON.stringify({
      ...{ jsonrpc: '2.0', id, method: 'subscriptions/listen' },
      params: {
        notifications: { resourceSubscriptions: [`service://tools/llms.txt`] },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1.0.0' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    });
  const ending = new AbortController();
  const openStream = async (address: string, headers: Record<string, string> = {}) => {
    const sent = {
      ...{ host: new URL(stage.base).host, 'content-type': 'application/json', 'mcp-protocol-version': '2026-07-28' },
      ...{ accept: 'application/json, text/event-stream', 'mcp-method': 'subscriptions/listen' },
    };
    const init = { method: 'POST', body: message(1), headers: { ...sent, ...headers }, signal: ending.signal };
    return stage.app.ask('/mcp', { ...init, address });
  };
  const isStream = (response: Response) => /event-stream/.test(response.headers.get('content-type') ?? '');
  const anonymous: Response[] = [];
  for (let n = 0; n < STREAMS.anonymous; n += 1) anonymous.push(await openStream(`198.51.100.${Math.floor(n / 4)}`));
  expect(anonymous.filter(isStream)).toHaveLength(STREAMS.anonymous);
  const late = await openStream('198.51.100.200');
  expect(late.headers.get('retry-after')).toBe('60');
  expect(await late.json()).toMatchObject({
    id: 1,
    error: { data: { error: 'unavailable', retry_after_seconds: 60 } },
  });
  const keyed: Response[] = [];
  const share = STREAMS.all - STREAMS.anonymous;
  for (let n = 0; n < share / 4; n += 1) {
    const { headers } = await newKey(stage.app);
    for (let of = 0; of < 4; of += 1) keyed.push(await openStream('198.51.100.201', headers));
  }
  expect(keyed.filter(isStream)).toHaveLength(share);
  // All are taken: the oldest stream without a key ends.
  const { headers } = await newKey(stage.app);
  expect(isStream(await openStream('198.51.100.202', headers))).toBe(true);
  expect(await anonymous[0]!.text()).toContain('"result"');
  ending.abort();
}, 60_000);

it('ends at once where no named resource exists, and is not offered to clients of earlier revisions', async () => {
  const { client } = await connected();
  const subscription = await client.listen({ resourceSubscriptions: ['service://nothing/llms.txt'] });
  expect(subscription.honoredFilter).toEqual({});
  expect(await subscription.closed).toBe('graceful');
  expect(client.getServerCapabilities()?.resources?.subscribe).toBe(true);
  const { client: earlier } = await connected({}, 'legacy');
  expect(earlier.getServerCapabilities()?.resources?.subscribe).toBeUndefined();
});
