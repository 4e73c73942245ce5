// Admin keys: from a setting, or created at the first start, shown once and stored as a hash (contract
// section 1).
import { randomBytes } from 'node:crypto';
import { hashSecret } from '../key-format.ts';
import type { Store } from '../store.ts';

/** Hashes to compare credentials with; `made` is a new key to show once. */
export interface AdminKeys {
  hashes: string[];
  made: string | null;
}

const NAME = 'admin_key';

/**
 * The admin keys of this service. `configured` (ADMIN_KEYS) replaces the stored one. Processes that start
 * together agree: one writes the row and the others read it.
 */
export async function adminKeys(store: Store, configured: readonly string[] | null): Promise<AdminKeys> {
  if (configured !== null) return { hashes: configured.map(hashSecret), made: null };
  const stored = async () => store.db.selectFrom('secrets').select('value').where('name', '=', NAME).executeTakeFirst();
  const hash = await stored();
  if (hash) return { hashes: [hash.value], made: null };
  const key = `dsr_admin_${randomBytes(32).toString('base64url')}`;
  const written = await store.db
    .insertInto('secrets')
    .values({ name: NAME, value: hashSecret(key) })
    .onConflict((c) => c.column('name').doNothing())
    .returning('name')
    .executeTakeFirst();
  if (written) return { hashes: [hashSecret(key)], made: key };
  return { hashes: [(await stored())?.value ?? ''], made: null };
}
