// One or two calls of every operation as clients make them: path, query and body as one object of arguments.
import { ADMIN, type TestApp } from './app.ts';
import { endingKeys, everyCall, type OperationCall, ownedParts } from './every-call.ts';
import { newKey } from './money-on-stores.ts';
import { claimToken } from './owners-stage.ts';

/** Paid by x402 alone, which the test app does not offer: the service answers 503. */
export const X402_ONLY = 'account_prepay';

export interface ClientCall {
  call: OperationCall;
  credential: string | undefined;
  input: Record<string, unknown>;
  /** Whether a second call has the same answer, whatever calls are made between them. */
  compared: boolean;
}

/** The calls, each with the credential that it needs. */
export async function callsOfClients(app: TestApp): Promise<ClientCall[]> {
  const packs = ['harbours', 'tools'].map((dataset) => app.register.packs.get(dataset)!);
  const slugs = packs.map(({ id }) => [id, app.records[id]!.slice(0, 2).map(({ slug }) => slug)]);
  const { id, key } = await newKey(app, 10);
  const parts = await ownedParts(app, key);
  const account = { id, key, token: await claimToken(app), ending: await endingKeys(app), parts };
  const calls = everyCall(packs, Object.fromEntries(slugs), account);
  const byOperation = Map.groupBy(calls, ({ operation, dataset }) => `${operation.name} ${dataset}`);
  return [...byOperation.values()]
    .flatMap((list) => list.slice(0, 2))
    .filter(({ operation }) => operation.name !== X402_ONLY)
    .map((call) => ({
      call,
      credential: call.init.admin ? ADMIN : new Headers(call.init.headers).get('Authorization')?.slice(7),
      input: inputOf(call),
      compared: call.dataset !== null && call.operation.rest.method === 'GET',
    }));
}

function inputOf({ operation, path, init }: OperationCall): Record<string, unknown> {
  const { pathname, searchParams } = new URL(path, 'http://localhost');
  const names = [...operation.rest.path.matchAll(/:(\w+)/g)].map(([, name = '']) => (name === 'ds' ? 'dataset' : name));
  const pattern = operation.rest.path.replaceAll('.', '\\.').replace(/:\w+/g, '([^/]+)');
  const values = new RegExp(`^${pattern}$`).exec(pathname);
  const parts = names.map((name, index) => [name, decodeURIComponent(values?.[index + 1] ?? '')]);
  return { ...Object.fromEntries([...parts, ...searchParams]), ...(init.body ? JSON.parse(String(init.body)) : {}) };
}
