// Secrets that the service creates at first start and all its processes share (contract section 1).
import { randomBytes } from 'node:crypto';
import type { Store } from './store.ts';

const randomText = () => randomBytes(32).toString('base64url');

/**
 * The secret with this name, created on first use: 256 random bits as text, or the result of `make`.
 * Concurrent processes get the same one.
 */
export async function sharedSecret(
  store: Store,
  name: string,
  make: () => string | Promise<string> = randomText,
): Promise<string> {
  const stored = () => store.db.selectFrom('secrets').select('value').where('name', '=', name).executeTakeFirst();
  const secret = await stored();
  if (secret) return secret.value;
  const made = await make();
  await store.db
    .insertInto('secrets')
    .values({ name, value: made })
    .onConflict((c) => c.column('name').doNothing())
    .execute();
  return (await stored())?.value ?? made;
}
