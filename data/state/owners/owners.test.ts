// The owners' channel in the store: claims, requests and the audit log, with concurrent callers, the same on
// both databases.
import { expect, test } from 'vitest';
import { describeStores } from '../../../tests/support/stores.ts';
import { verifies } from '../../../tests/support/verifies.ts';
import { auditEntries, recordAudit } from '../audit.ts';
import { consumeLink, dropLinksOf, forgetLinks, linkState, newLink, newLinkOf } from '../links.ts';
import type { Store } from '../store.ts';
import { CLAIM_LASTS, claimOf, forgetClaims, mayEdit, newClaim, verifyClaim } from './claims.ts';
import { decideRequest, openRequest, requestOf, requestsBy } from './requests.ts';

verifies('claim.link-24h', 'claim.verify-idempotent', 'claim.window', 'claim.hashed');

const NOW = Date.parse('2026-11-20T12:00:00Z');
const MINUTE = 60_000;
const DAY = 86_400_000;
const claim = (entity_id: string, email = 'office@harbour.example') => ({
  dataset: 'harbours',
  entity_id,
  email,
  email_normal: email,
  domain: 'harbour.example',
});

/** A mailed claim; an operator's when the mailbox got one recently. */
async function made(store: Store, given: ReturnType<typeof claim>, now: number): Promise<string> {
  const token = await newClaim(store, given, now, true);
  if (token === null) throw new Error('no claim was made');
  return token;
}

describeStores('a claim', ({ open }) => {
  test('stores no token, and reveals nothing to guesses', async () => {
    const store = await open();
    const token = await made(store, claim('r-1'), NOW);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(await store.db.selectFrom('claims').selectAll().execute())).not.toContain(token);
    const flipped = (token.startsWith('A') ? 'B' : 'A') + token.slice(1);
    for (const guess of ['', 'x', flipped, token.slice(1), `${token} `, token.toUpperCase()])
      expect(await verifyClaim(store, guess, NOW), guess).toBeNull();
  });

  test('is verified when first opened within a day, and open for half an hour from then', async () => {
    const store = await open();
    const token = await made(store, claim('r-2'), NOW);
    const before = await claimOf(store, token);
    expect(before && mayEdit(before, NOW)).toBe(false);
    const last = NOW + CLAIM_LASTS.link - 1;
    const first = await verifyClaim(store, token, last);
    expect(first).toMatchObject({ first: true, claim: { verified_at: last, until: last + 30 * MINUTE } });
    const again = await verifyClaim(store, token, last + 20 * MINUTE);
    expect(again).toMatchObject({ first: false, claim: { verified_at: last, until: last + 30 * MINUTE } });
    expect(mayEdit(again!.claim, last + 30 * MINUTE - 1)).toBe(true);
    expect(mayEdit(again!.claim, last + 30 * MINUTE)).toBe(false);
    expect(await verifyClaim(store, token, last + 30 * MINUTE)).toBeNull();
  });

  test('expires after a day without being opened', async () => {
    const store = await open();
    const token = await made(store, claim('r-3'), NOW);
    expect(await verifyClaim(store, token, NOW + CLAIM_LASTS.link)).toBeNull();
    expect(await claimOf(store, token)).toMatchObject({ verified_at: null });
  });

  test('is one for a record and address with concurrent requests; other claims are separate', async () => {
    const [one, two] = [await open(), await open()];
    const bystander = await made(one, claim('r-4', 'chief@harbour.example'), NOW);
    const other = await made(one, claim('r-5'), NOW);
    const ask = (i: number) => made(i % 2 ? one : two, claim('r-4'), NOW + i);
    const tokens = await Promise.all(Array.from({ length: 8 }, (_, i) => ask(i)));
    const good = [];
    for (const token of tokens) if ((await verifyClaim(one, token, NOW + 10)) !== null) good.push(token);
    expect(good).toHaveLength(1);
    expect(await verifyClaim(one, bystander, NOW + 10)).not.toBeNull();
    expect(await verifyClaim(one, other, NOW + 10)).not.toBeNull();
  });

  test('is mailed once an hour while its link is unopened, and at most three times an hour, for one record and mailbox', async () => {
    const [one, two] = [await open(), await open()];
    const ask = (now: number, i = 0) => newClaim(i % 2 ? one : two, claim('r-9'), now);
    const all = await Promise.all(Array.from({ length: 8 }, (_, i) => ask(NOW + i, i)));
    const [first, ...more] = all.filter((token) => token !== null);
    expect(more).toEqual([]);
    expect(await newClaim(one, claim('r-10'), NOW)).not.toBeNull();
    expect(await ask(NOW + 59 * MINUTE)).toBeNull();
    expect(await claimOf(one, first!)).toMatchObject({ replaced_at: null });
    const second = await ask(NOW + 61 * MINUTE);
    expect(await claimOf(one, first!)).toMatchObject({ replaced_at: NOW + 61 * MINUTE });
    // Opened, so another mail is allowed.
    await verifyClaim(one, second!, NOW + 62 * MINUTE);
    const third = await ask(NOW + 93 * MINUTE);
    await verifyClaim(one, third!, NOW + 94 * MINUTE);
    const fourth = await ask(NOW + 95 * MINUTE);
    await verifyClaim(one, fourth!, NOW + 96 * MINUTE);
    expect(await ask(NOW + 97 * MINUTE)).toBeNull();
    expect(await ask(NOW + 122 * MINUTE)).not.toBeNull();
  });

  test('ends the previous one when it is opened, not when it is mailed', async () => {
    const store = await open();
    const former = await made(store, claim('r-6'), NOW);
    await verifyClaim(store, former, NOW);
    const later = await made(store, claim('r-6'), NOW + MINUTE);
    expect(mayEdit((await claimOf(store, former))!, NOW + MINUTE)).toBe(true);
    await verifyClaim(store, later, NOW + 2 * MINUTE);
    expect(mayEdit((await claimOf(store, former))!, NOW + 3 * MINUTE)).toBe(false);
    expect(mayEdit((await claimOf(store, later))!, NOW + 3 * MINUTE)).toBe(true);
  });

  test('is first opened by exactly one of many concurrent calls', async () => {
    const [one, two] = [await open(), await open()];
    const token = await made(one, claim('r-7'), NOW);
    const looks = await Promise.all([one, two, one, two].map((store, i) => verifyClaim(store, token, NOW + i)));
    expect(looks.filter((look) => look?.first)).toHaveLength(1);
    expect(new Set(looks.map((look) => look?.claim.until)).size).toBe(1);
  });

  test('is deleted a month after it expired', async () => {
    const store = await open();
    const token = await made(store, claim('r-8'), NOW);
    await forgetClaims(store, NOW + 31 * DAY - 1);
    expect(await claimOf(store, token)).not.toBeNull();
    await forgetClaims(store, NOW + 31 * DAY + 1);
    expect(await claimOf(store, token)).toBeNull();
  });
});

describeStores('a mailed link', ({ open }) => {
  test('reveals its state to the holder', async () => {
    const store = await open();
    const make = () => newLink(store, { purpose: 'restore', subject: 'o-1', now: NOW, lasts: DAY });
    const [used, late] = [await make(), await make()];
    expect(await linkState(store, 'restore', used, NOW)).toBe('good');
    expect(await linkState(store, 'recover', used, NOW)).toBe('unknown');
    await consumeLink(store, 'restore', used, NOW);
    expect(await linkState(store, 'restore', used, NOW)).toBe('used');
    expect(await linkState(store, 'restore', late, NOW + DAY)).toBe('over');
    await forgetLinks(store, NOW + 31 * DAY + 1);
    expect(await linkState(store, 'restore', late, NOW + DAY)).toBe('unknown');
  });
});

describeStores('a link that strangers can ask for', ({ open }) => {
  test('is mailed once an hour for a topic while it is unused, with concurrent requests', async () => {
    const [one, two] = [await open(), await open()];
    const ask = (now: number, topic = 'k-1', i = 0) =>
      newLinkOf(i % 2 ? one : two, topic, { purpose: 'recover', subject: 'k-1', now, lasts: 2 * DAY });
    const all = await Promise.all(Array.from({ length: 8 }, (_, i) => ask(NOW + i, 'k-1', i)));
    const [first, ...more] = all.filter((token) => token !== null);
    expect(more).toEqual([]);
    expect(await ask(NOW, 'k-2')).not.toBeNull();
    expect(await ask(NOW + 59 * MINUTE)).toBeNull();
    const second = await ask(NOW + 61 * MINUTE);
    for (const token of [first, second]) expect(await linkState(one, 'recover', token!, NOW + DAY)).toBe('good');
    await consumeLink(one, 'recover', second!, NOW + 62 * MINUTE);
    const third = await ask(NOW + 63 * MINUTE);
    expect(third).not.toBeNull();
    await dropLinksOf(one.db, 'k-1');
    expect(await linkState(one, 'recover', third!, NOW + 64 * MINUTE)).toBe('unknown');
    expect(await linkState(one, 'recover', second!, NOW + 64 * MINUTE)).toBe('used');
    expect(await ask(NOW + 64 * MINUTE)).not.toBeNull();
  });
});

describeStores('a request to the operators', ({ open }) => {
  const request = (entity_id: string) => ({
    kind: 'opt_out' as const,
    dataset: 'tools',
    entity_id,
    slug: 'saw',
    name: 'A saw',
    contact: 'office@saws.example',
    reason: null,
    because: 'The dataset names no domains.',
  });

  test('is one for repeated requests, until it is decided', async () => {
    const [one, two] = [await open(), await open()];
    const made = await Promise.all([one, two, one, two].map((store) => openRequest(store, request('r-1'), NOW)));
    expect(made.filter(({ fresh }) => fresh)).toHaveLength(1);
    const ids = [...new Set(made.map(({ id }) => id))];
    expect(ids).toHaveLength(1);
    const decided = await Promise.all(
      [one, two].map((store) => decideRequest(store, ids[0]!, 'approved', 'operator 1', NOW)),
    );
    expect(decided.sort()).toEqual([false, true]);
    expect(await requestOf(one, ids[0]!)).toMatchObject({ status: 'approved', decided_by: 'operator 1' });
    expect((await openRequest(one, request('r-1'), NOW + 1)).fresh).toBe(true);
  });

  test('is listed by state, oldest first', async () => {
    const store = await open();
    await openRequest(store, request('r-2'), NOW + 2);
    const open_ = await requestsBy(store, 'open', 10);
    expect(open_.map(({ opened_at }) => opened_at)).toEqual([NOW + 1, NOW + 2]);
    expect(await requestsBy(store, null, 10)).toHaveLength(3);
    expect(await requestsBy(store, 'open', 1)).toHaveLength(1);
    expect(await requestOf(store, 'none')).toBeNull();
  });
});

describeStores('the audit log', ({ open }) => {
  const deed = (at: number, entity_id: string | null, action: string) => ({
    at,
    who: 'owner office@harbour.example',
    action,
    dataset: entity_id === null ? null : 'harbours',
    entity_id,
    subject: 'c-1',
    request_id: 'req-1',
  });

  test('lists actions, newest first, of one record or of all, in pages', async () => {
    const store = await open();
    await recordAudit(store, { ...deed(NOW, 'r-1', 'edit'), details: { values: { name: '"A"' } } });
    await recordAudit(store, deed(NOW + 1, 'r-2', 'opt-out'));
    await recordAudit(store, deed(NOW + 2, null, 'grant'));
    const all = await auditEntries(store, { limit: 10 });
    expect(all.map(({ action }) => action)).toEqual(['grant', 'opt-out', 'edit']);
    expect(all[2]).toMatchObject({ at: NOW, details: '{"values":{"name":"\\"A\\""}}' });
    expect(await auditEntries(store, { limit: 10, before: all[0]!.id })).toEqual(all.slice(1));
    expect(await auditEntries(store, { limit: 10, dataset: 'harbours', entity_id: 'r-1' })).toEqual([all[2]]);
  });

  test('is append-only; a rolled back action is not in it', async () => {
    const store = await open();
    await expect(store.db.updateTable('audit').set({ who: 'nobody' }).execute()).rejects.toThrow('append-only');
    await expect(store.db.deleteFrom('audit').execute()).rejects.toThrow('append-only');
    const undone = store.db.transaction().execute(async (db) => {
      await recordAudit({ db }, deed(NOW, 'r-9', 'edit'));
      throw new Error('the disk is full');
    });
    await expect(undone).rejects.toThrow('the disk is full');
    expect(await auditEntries(store, { limit: 10, entity_id: 'r-9' })).toEqual([]);
  });
});
