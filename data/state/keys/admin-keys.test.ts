// Admin keys: created once, stored as a hash in the shared store, replaced by the setting.
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { describeStores } from '../../../tests/support/stores.ts';
import { verifies } from '../../../tests/support/verifies.ts';
import type { Store } from '../store.ts';
import { adminKeys } from './admin-keys.ts';

verifies('setting.admin-key-generated', 'setting.secrets');

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Secrets in the store except the one that its migrations create. */
const stored = ({ db }: Store) => db.selectFrom('secrets').selectAll().where('name', '!=', 'audit_people').execute();

describeStores('admin keys', ({ open }) => {
  it('configured: replace the stored one and store nothing', async () => {
    const store = await open();
    const key = 'k'.repeat(32);
    expect(await adminKeys(store, [key])).toEqual({ hashes: [sha256(key)], made: null });
    expect(await stored(store)).toEqual([]);
  });

  it('starts at the same moment agree on one key, of which only the hash is kept; the next start shows nothing', async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => open()));
    const all = await Promise.all(stores.map((store) => adminKeys(store, null)));
    const made = all.flatMap(({ made }) => made ?? []);
    expect(made).toEqual([expect.stringMatching(/^dsr_admin_[\w-]{43}$/)]);
    const hash = sha256(made[0] ?? '');
    for (const { hashes } of all) expect(hashes).toEqual([hash]);
    expect(await adminKeys(await open(), null)).toEqual({ hashes: [hash], made: null });
    expect(await stored(await open())).toEqual([{ name: 'admin_key', value: hash }]);
  });
});
