// Erasing an address, on every store: afterwards no table and no outbox file contains it, and permanent rows
// stay.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { normalEmail } from '../../../data/model/email.ts';
import { auditEntries } from '../../../data/state/audit.ts';
import { MailQueue } from '../../../data/state/mail.ts';
import { verify as verifyLedger } from '../../../data/state/money/ledger.ts';
import { ADDRESSES_STAY, forgetAddress, forgetOldAddresses, NotErasable } from '../../../data/state/ops/forget.ts';
import { forgetMails } from '../../../data/state/outbox.ts';
import type { Store } from '../../../data/state/store.ts';
import { NOW, type TestApp } from '../../support/app.ts';
import { describeApps } from '../../support/money-on-stores.ts';
import { answerStatus, claim, edit, linkTo, mails, optOut, SERVED, send, verify } from '../../support/owners-stage.ts';

const DAY = 86_400_000;
const AT = NOW.getTime();

/** Every table with a text in its rows, in any case. */
async function tablesWith({ db, dialect }: Store, text: string): Promise<string[]> {
  const { rows: tables } = await (dialect === 'sqlite'
    ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
    : sql<{
        name: string;
      }>`select table_name as name from information_schema.tables where table_schema = current_schema()`
  ).execute(db);
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(db);
    if (JSON.stringify(rows).toLowerCase().includes(text.toLowerCase())) found.push(name);
  }
  expect(tables.length).toBeGreaterThan(20);
  return found.sort();
}

/** A mail queue whose server is never asked: it closes before the first attempt. */
const UNSENT = { smtpUrl: 'smtp://127.0.0.1:9', from: 'register@register.example', now: () => NOW, log: () => {} };

describeApps('an address', { ...SERVED, now: () => NOW }, (stage) => {
  const PERSON = 'Person.Of@null.example';
  const press = async (app: TestApp, path: string, token: string) =>
    (await app.ask(path, { method: 'POST', body: `token=${token}`, headers: { 'Sec-Fetch-Site': 'same-origin' } }))
      .status;
  const files = (app: TestApp) => {
    const box = join(app.dataDir, 'outbox');
    return readdirSync(box).map((name) => readFileSync(join(box, name), 'utf8').toLowerCase());
  };

  it('is in many tables before it is erased, and in none afterwards', async () => {
    const { app } = stage;
    const { state } = app;
    const made = await send(app, 'POST', '/v1/keys', { email: PERSON });
    expect(made.status).toBe(201);
    await send(app, 'POST', '/v1/keys/recover', { email: PERSON });
    const headers = { Authorization: `Bearer ${made.body['key']}`, 'Idempotency-Key': 'one-of-this-person' };
    expect((await app.ask('/v1/harbours/entities/harbour-1', { headers })).status).toBe(200);
    expect(answerStatus(await claim(app, 'harbour-8', PERSON))).toBe('200 sent');
    const { token } = linkTo(app, PERSON);
    await verify(app, token);
    expect(answerStatus(await edit(app, token, { berths: 7 }))).toBe('200');
    const reason = `Write to ${PERSON}`;
    expect(answerStatus(await optOut(app, 'harbour-8', PERSON, { reason }))).toBe('200 removed');
    const back = mails(app).flatMap(({ text }) => /restore\?token=([\w-]+)/.exec(text)?.[1] ?? [])[0]!;
    expect(await press(app, '/optout/restore', back)).toBe(200);
    expect(answerStatus(await optOut(app, 'harbour-8', PERSON, { reason }))).toBe('202 confirmation_sent');
    const slug = app.records['lanterns']![0]!.slug;
    expect(answerStatus(await optOut(app, slug, PERSON, { dataset: 'lanterns', reason }))).toBe('202 review');
    expect(answerStatus(await claim(app, 'harbour-13', 'other@neu.example'))).toBe('200 sent');

    const queue = new MailQueue({ store: state, ...UNSENT, dataDir: app.dataDir });
    for (const to of [PERSON, 'other@neu.example'])
      await queue.post(state.db, { to, subject: 'A mail', text: `For ${to}` }, NOW);
    await queue.close();
    await state.db
      .updateTable('mails')
      .set({ next_at: AT + DAY })
      .execute();
    const before = await tablesWith(state, PERSON);
    expect(before).toEqual(['audit_people', 'claims', 'keys', 'links', 'mails', 'opt_outs', 'requests', 'sends']);
    const log = await auditEntries(state, { limit: 20 });
    expect(log.map(({ who }) => who)).toContain(`contact ${PERSON}`);

    // A key with credit is not ended unless requested.
    await expect(forgetAddress(state, PERSON, AT, false)).rejects.toThrow(NotErasable);
    await expect(forgetAddress(state, PERSON, AT, false)).rejects.toThrow(/has 0\.49\d* EUR; add --revoke/);
    expect(await tablesWith(state, PERSON)).toEqual(before);
    await expect(forgetAddress(state, 'nobody', AT, true)).rejects.toThrow('is not an e-mail address');

    // Another spelling of the same address.
    const erased = await forgetAddress(state, 'person.of+x@NULL.example', AT, true);
    expect(erased).toMatchObject({ keys: 1, opt_outs: 1, requests: 2, claims: 1, audit_people: 1 });
    // The link that recovers the key is deleted when the key is revoked.
    expect([erased['links'], erased['mails']]).toEqual([1, 1]);
    expect(erased['idempotency']).toBe(1);
    const normal = normalEmail(PERSON);
    const names = (address: string) => normalEmail(address) === normal;
    expect(await forgetMails(app.dataDir, { names })).toBeGreaterThan(3);
    expect(await tablesWith(state, PERSON)).toEqual([]);
    expect(files(app).filter((text) => text.includes(PERSON.toLowerCase()))).toEqual([]);
    expect(await tablesWith(state, 'other@neu.example')).toEqual(['claims', 'mails', 'sends']);
    await state.db.deleteFrom('mails').execute();

    // What stays: the ledger, the log without the address, the edit; the secret stops working.
    expect(await verifyLedger(state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
    const after = await auditEntries(state, { limit: 20 });
    expect(after).toHaveLength(log.length);
    expect(after.filter(({ who }) => /^(contact|owner) #[0-9a-f]{32}$/.test(who)).length).toBeGreaterThan(3);
    await expect(state.db.updateTable('audit').set({ who: 'x' }).execute()).rejects.toThrow('append-only');
    expect((await app.json('/v1/keys/me', { headers })).status).toBe(401);
    const open = await state.db.selectFrom('requests').select(['kind', 'status']).execute();
    expect(open).toContainEqual({ kind: 'opt_out', status: 'rejected' });
    expect(await forgetAddress(state, PERSON, AT, true)).toMatchObject({ keys: 0, opt_outs: 0, claims: 0 });
    // The address can be used again.
    expect((await send(app, 'POST', '/v1/keys', { email: PERSON })).status).toBe(201);
    expect([...app.faults, ...stage.other.faults]).toEqual([]);
  });

  it('is erased when it expires', async () => {
    const { app } = stage;
    const { state } = app;
    const { body } = await send(app, 'POST', '/v1/keys', { email: 'gone@example.org' });
    await app.json(`/v1/keys/${body['id']}`, { method: 'DELETE', admin: true });
    expect(answerStatus(await optOut(app, 'harbour-3', 'gone@aether.example'))).toBe('200 removed');
    await forgetOldAddresses(state, AT + ADDRESSES_STAY.keys);
    expect(await tablesWith(state, 'gone@example.org')).toEqual(['keys']);
    await forgetOldAddresses(state, AT + ADDRESSES_STAY.keys + 1);
    expect(await tablesWith(state, 'gone@example.org')).toEqual([]);
    await forgetOldAddresses(state, AT + ADDRESSES_STAY.removals);
    expect(await tablesWith(state, 'gone@aether.example')).toEqual(['audit_people', 'opt_outs', 'requests']);
    await forgetOldAddresses(state, AT + ADDRESSES_STAY.removals + 1);
    expect(await tablesWith(state, 'gone@aether.example')).toEqual([]);
    // It is still removed.
    expect((await app.json('/v1/harbours/entities/harbour-3', { admin: true })).status).toBe(404);

    const count = files(app).length;
    expect(count).toBeGreaterThan(0);
    expect(await forgetMails(app.dataDir, { before: Date.now() - DAY })).toBe(0);
    expect(await forgetMails(app.dataDir, { before: Date.now() + DAY })).toBe(count);
    expect(files(app)).toEqual([]);
  });
});
