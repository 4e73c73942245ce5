// Claims of an Idempotency-Key: one request runs and renews its lease; a lease of a dead process expires
// soon.
import { beforeAll, expect, it } from 'vitest';
import { describeStores } from '../../tests/support/stores.ts';
import { CLAIM_LEASE, claimRequest, renewClaim } from './idempotency.ts';
import { storeAnswer } from './statements.ts';
import type { Store } from './store.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

const claimOf = (idempotency_key: string, claimed_at = NOW) => ({ owner: 'owner', idempotency_key, claimed_at });

describeStores('claims of an Idempotency-Key', ({ open }) => {
  let store: Store;
  let other: Store;
  beforeAll(async () => {
    store = await open();
    other = await open();
  });

  it('one of many parallel requests gets the claim', async () => {
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, i) => claimRequest(i % 2 ? store : other, 'owner', 'parallel', 'request', NOW)),
    );
    const states = claims.map(({ state }) => state).sort();
    expect(states).toEqual(['claimed', ...Array<string>(19).fill('running')]);
  });

  it('a claim whose process died is free after its lease, and the answer of the dead one is not kept', async () => {
    const first = await claimRequest(store, 'owner', 'dead', 'request', NOW);
    expect(first).toEqual({ state: 'claimed', claim: claimOf('dead') });
    const during = await claimRequest(other, 'owner', 'dead', 'request', NOW + CLAIM_LEASE);
    expect(during).toEqual({ state: 'running', leased_until: NOW + CLAIM_LEASE });
    const later = NOW + CLAIM_LEASE + 1;
    const second = await claimRequest(other, 'owner', 'dead', 'request', later);
    expect(second).toEqual({ state: 'claimed', claim: claimOf('dead', later) });
    await storeAnswer(store.db, { ...claimOf('dead'), text: 'of the dead one', records: '' });
    expect(await claimRequest(store, 'owner', 'dead', 'request', later)).toMatchObject({ state: 'running' });
  });

  it('a claim that is renewed stays with its request, however long it runs', async () => {
    await claimRequest(store, 'owner', 'long', 'request', NOW);
    for (let now = NOW; now < NOW + 10 * CLAIM_LEASE; now += CLAIM_LEASE / 3) {
      await renewClaim(store, claimOf('long'), now);
      expect(await claimRequest(other, 'owner', 'long', 'request', now + 1)).toMatchObject({ state: 'running' });
    }
    await storeAnswer(store.db, { ...claimOf('long'), text: 'answer', records: '' });
    const claim = await claimRequest(other, 'owner', 'long', 'request', NOW + 20 * CLAIM_LEASE);
    expect(claim).toEqual({ state: 'kept', text: 'answer' });
  });

  it('belongs to one request', async () => {
    await claimRequest(store, 'owner', 'used', 'one request', NOW);
    expect(await claimRequest(store, 'owner', 'used', 'another', NOW)).toEqual({ state: 'other' });
    expect(await claimRequest(store, 'another owner', 'used', 'another', NOW)).toMatchObject({ state: 'claimed' });
  });
});
