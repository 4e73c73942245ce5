// `subscriptions/listen` of MCP 2026-07-28 with the SDK's client over HTTP: which resources changed, bounds, and the end.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
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
  await expect(open()).rejects.toThrow(/Subscription limit reached/);
  const { client: stranger } = await connected();
  await (await stranger.listen({ resourceSubscriptions: [guide] })).close();
  await streams[0]!.close();
  await sleep(500);
  streams[0] = await open();
  for (const stream of streams) await stream.close();
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
