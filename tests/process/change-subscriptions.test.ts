// Processes that send changes are killed while the receiver has a message and has not answered: nothing is lost, and a
// repeated message has the same id.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';
import { newKey } from '../support/money-on-stores.ts';
import { editAsOwner } from '../support/overlay-world.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

const databaseUrl = process.env['TEST_DATABASE_URL'];
const schema = `test_kill_${process.pid}`;
const KILLS = 4;
let clock = Date.now();
let app: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  if (!databaseUrl) return;
  receiver = await startReceiver();
  app = await testApp({
    ...{ nights: true, records: 12, now: () => new Date(clock), store: { databaseUrl, schema } },
    open_hosts: new Set([receiver.host]),
  });
}, 120_000);
afterAll(async () => {
  if (!databaseUrl) return;
  await receiver.stop();
  await app.state.db.schema.dropSchema(schema).cascade().execute();
  await app.close();
});

test(`${KILLS} kills lose nothing`, { timeout: 300_000 }, async (context) => {
  if (!databaseUrl) return context.skip('TEST_DATABASE_URL is not set');
  const { headers } = await newKey(app);
  const { status } = await app.json('/v1/keys/me/subscriptions', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ dataset: 'tools', url: receiver.url }),
  });
  expect(status).toBe(201);
  await app.sendChanges();
  receiver.received.length = 0;
  const record = app.records['tools']!.find(({ slug }) => slug === 'nordwerk-fs-210')!;
  const editing = { store: app.state, refresh: () => app.register.refresh(), current: app.register.current };
  const edit = async (material: string) => {
    clock += 60_000;
    await editAsOwner(editing, 'tools', record.id, { materials: [material] }, new Date(clock).toISOString());
  };
  await edit('brass');
  for (let kill = 0; kill < KILLS; kill += 1) {
    clock += 60_000;
    const args = ['tests/support/send-changes.ts', databaseUrl, schema, receiver.host, String(clock)];
    const child = spawn(process.execPath, args, { stdio: 'ignore' });
    receiver.answer = () => child.kill('SIGKILL');
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect(signal).toBe('SIGKILL');
    // The lease of a process that was killed ends after a minute.
    await app.state.db.updateTable('change_subscriptions').set({ leased_until: 0 }).execute();
  }
  await edit('copper');
  receiver.answer = null;
  for (let message = 0; message < 2; message += 1) await app.sendChanges();
  const messages = receiver.received.map(({ headers: { 'webhook-id': id }, body }) => ({
    id,
    values: (body.data['changes'] as { new_value: unknown }[]).map(({ new_value }) => new_value),
  }));
  const [first, last] = [messages[0]!, messages.at(-1)!];
  expect(messages).toEqual([...Array<unknown>(KILLS + 1).fill({ id: first.id, values: [['brass']] }), last]);
  expect(last.values).toEqual([['copper']]);
  expect(last.id).not.toBe(first.id);
});
