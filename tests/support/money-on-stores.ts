// The app on every store: SQLite always, PostgreSQL where the machine has one.
import { afterAll, beforeAll } from 'vitest';
import { type TestApp, type TestOptions, testApp } from './app.ts';
import { describeStores } from './stores.ts';

export interface MoneyStage {
  app: TestApp;
  /** Another app on the same state: a second process on PostgreSQL, the same one on SQLite. */
  other: TestApp;
}

/** One `describe` per store with an app in it; `stage` is filled before the tests run. */
export function describeApps(title: string, options: TestOptions, body: (stage: MoneyStage) => void): void {
  describeStores(title, ({ options: { databaseUrl, schema }, open }) => {
    const stage = {} as MoneyStage;
    beforeAll(async () => {
      await open();
      const store = { ...(databaseUrl ? { databaseUrl } : {}), ...(schema ? { schema } : {}) };
      stage.app = await testApp({ records: 12, ...options, store });
      stage.other = databaseUrl ? await testApp({ records: 12, ...options, store }) : stage.app;
    });
    afterAll(async () => {
      await stage.app.close();
      if (stage.other !== stage.app) await stage.other.close();
    });
    body(stage);
  });
}

let made = 0;

/** Makes a key from an address of its own, with this credit in addition to the welcome credit. */
export async function newKey(
  app: TestApp,
  more = 0,
): Promise<{ id: string; key: string; headers: Record<string, string> }> {
  made += 1;
  const { status, body } = await app.json('/v1/keys', {
    method: 'POST',
    body: JSON.stringify({ email: `reader${made}@example.org` }),
    address: `2001:db8:${made.toString(16)}::1`,
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  const { id, key } = body as { id: string; key: string };
  if (more > 0) await grant(app, { key_id: id, amount_eur: more });
  return { id, key, headers: { Authorization: `Bearer ${key}` } };
}

/** An operator's grant. */
export const grant = (app: TestApp, body: Record<string, unknown>, headers: Record<string, string> = {}) =>
  app.json('/v1/keys/grant', { method: 'POST', body: JSON.stringify(body), admin: true, headers });

/** `status code` of an answer. */
export async function callStatus(
  app: TestApp,
  path: string,
  init: Parameters<TestApp['ask']>[1] = {},
): Promise<string> {
  const { status, body } = await app.json(path, init);
  return `${status} ${body['error'] ?? ''}`.trim();
}

/** Balance of a key in EUR. */
export const balance = async (app: TestApp, headers: Record<string, string>): Promise<unknown> =>
  (await app.json('/v1/keys/me', { headers })).body['balance_eur'];
