// The owners' channel over the fictional harbours: requests, the resulting mails, and their tokens.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, type TestApp, type TestOptions, testApp } from './app.ts';
import { type ReceivedMail, readMail } from './mail-server.ts';

/** A pack without domains. */
const LANTERNS = 'app/static/lanterns/input/lanterns';

/** Options of an app that serves the packs' own sources: harbours has domains of its own, and shared ones. */
export const SERVED: TestOptions = { nights: true, packs: [LANTERNS] };

export const owned = (options: TestOptions = {}): Promise<TestApp> => testApp({ ...SERVED, ...options });

let turn = 0;

/**
 * Sends a request to the owners' channel, by default from a new address, so that limits of tests do not
 * interfere.
 */
export function send(
  app: TestApp,
  method: string,
  path: string,
  body: unknown,
  init: { address?: string | undefined; headers?: Record<string, string> } = {},
): Promise<Answer> {
  turn += 1;
  const address = init.address ?? `2001:db8:${turn.toString(16)}::1`;
  return app.json(path, { method, address, headers: init.headers ?? {}, body: JSON.stringify(body) });
}

export const optOut = (app: TestApp, entity_id: string, contact: string, more: object = {}, address?: string) =>
  send(app, 'DELETE', '/v1/optout', { dataset: 'harbours', entity_id, contact, ...more }, { address });

export const claim = (app: TestApp, entity_id: string, email: string, more: object = {}, address?: string) =>
  send(app, 'POST', '/v1/claim', { dataset: 'harbours', entity_id, email, ...more }, { address });

export const edit = (app: TestApp, token: string, values: unknown) => send(app, 'PUT', '/v1/claim', { token, values });

export const verify = (app: TestApp, token: string) => app.json(`/v1/claim/verify?token=${token}`);

/** `status code` of an answer. */
export const answerStatus = ({ status, body }: Answer): string =>
  `${status} ${body['error'] ?? body['status'] ?? ''}`.trim();

/** Mails in the outbox, oldest first. */
export function mails(app: TestApp): Omit<ReceivedMail, 'from' | 'to'>[] {
  const box = join(app.dataDir, 'outbox');
  if (!existsSync(box)) return [];
  return readdirSync(box)
    .map((name) => readFileSync(join(box, name), 'utf8'))
    .map(readMail);
}

/** The newest link in a mail to a reader: its path with the token, and the token. */
export function linkTo(app: TestApp, reader: string): { url: string; token: string } {
  const texts = mails(app).filter(({ headers }) => headers['to'] === reader);
  const links = texts.flatMap(({ text }) => [...text.matchAll(/^https?:\/\/\S+token=([\w-]+)$/gm)]);
  const known = seen.get(app) ?? new Set();
  seen.set(app, known);
  const fresh = links.filter(([, token]) => !known.has(token!));
  const [url = '', token = ''] = fresh[0] ?? [];
  if (fresh.length !== 1) throw new Error(`${fresh.length} new links were mailed to ${reader}`);
  known.add(token);
  return { url, token };
}

const seen = new WeakMap<TestApp, Set<string>>();

/** The token of a mailed and unopened claim of harbour-8. */
export async function claimToken(app: TestApp): Promise<string> {
  const { status, body } = await claim(app, 'harbour-8', 'office@null.example');
  if (status !== 200) throw new Error(JSON.stringify(body));
  return linkTo(app, 'office@null.example').token;
}

/** The newest token in a mail to a reader, from the outbox of a folder; `words` matches the link. */
export function linkIn(dataDir: string, reader: string, words: RegExp): string {
  const box = join(dataDir, 'outbox');
  const texts = readdirSync(box)
    .sort()
    .map((name) => readMail(readFileSync(join(box, name), 'utf8')))
    .filter(({ headers }) => headers['to'] === reader);
  const found = texts.flatMap(({ text }) => words.exec(text)?.[1] ?? []).at(-1);
  if (found === undefined) throw new Error(`no such link was mailed to ${reader}`);
  return found;
}
