// Opt-outs: a record leaves every channel at once, its contact can bring it back, and an operator sees it (contract section 5).
import { randomUUID } from 'node:crypto';
import type { Asker } from '../../data/model/accounts.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Overlay } from '../../data/plan/overlay.ts';
import { editRecord } from '../../data/releases/overlay-edit.ts';
import type { OptedOut, Owners } from '../../data/review/owners.ts';
import { recordDeed } from '../../data/state/audit.ts';
import { dropAnswersWith } from '../../data/state/idempotency.ts';
import { consumeLink, dropLink, linkState, linkSubject, newLink, newLinkOf } from '../../data/state/links.ts';
import { HOLD, holdsOptOuts, noteHeld } from '../../data/state/owners/held-opt-outs.ts';
import { closeNotices, openRequest } from '../../data/state/owners/requests.ts';
import { hashedWho } from '../../data/state/tables/audit-people.ts';
import type { NamedRecord, OwnerPages } from './mailed-links.ts';
import { confirmMail, type Named, noticeMail, removedMail } from './mails.ts';
import {
  A_DAY,
  askReview,
  mismatch,
  type Parts,
  readAsked,
  sendNow,
  spend,
  spendAsked,
  standing,
  whyShared,
} from './parts.ts';

const DAY = 24 * 3_600_000;
/** How long a restore link is good, how long after a restore a removal is confirmed first, and how long that may take. */
const LASTS = { restore: 30 * DAY, again: 90 * DAY, confirm: DAY };
const RESTORE = 'restore';
const CONFIRM = 'opt-out';
/** Why an operator has to look at an opt-out that is otherwise done at once. */
const WHY_HELD = `The dataset had ${HOLD.most} opt-outs within an hour, so that further ones wait for an operator.`;

/** Everything that a removal is about. `domain` null: an operator decided without one. */
export interface Removing {
  dataset: string;
  record: Pick<StoredRecord, 'id' | 'slug' | 'name'>;
  contact: string;
  domain: string | null;
  /** A reader of the contact's mailbox, or an operator, decided. Else the domain's own addresses get a notice. */
  proven: boolean;
  reason: string | null;
  /** For the audit log. */
  who: string;
  request_id: string | null;
  now: number;
}

/** An overlay without, or again with, a record. */
const removal = (overlay: Overlay, { id: entity, slug }: Removing['record'], version: number): Overlay => ({
  ...overlay,
  removed: new Map(overlay.removed).set(entity, { entity, slug, version }),
});

/**
 * Removes a record: from the overlay, with kept answers that hold it, in one transaction; then mails the contact. False when it is removed already.
 * `before` runs in the same transaction.
 */
export async function removeRecord(
  parts: Parts,
  removing: Removing,
  before: (db: Parts['store']['db']) => Promise<void> = async () => {},
): Promise<boolean> {
  const { store, editing, mailer, base_url } = parts;
  const { dataset, record, contact, domain, proven, reason, who, request_id, now } = removing;
  const id = randomUUID();
  const { id: entity_id, slug, name } = record;
  let already = false;
  await editRecord(editing, {
    dataset,
    entity: entity_id,
    now,
    alter: (overlay, version) => {
      already = overlay.removed.has(entity_id);
      return already ? overlay : removal(overlay, record, version);
    },
    write: async (db, version) => {
      if (already) return;
      await before(db);
      const back = { restored_at: null, restored_version: null };
      const row = { id, dataset, entity_id, slug, name, contact, domain, reason, at: now, version, ...back };
      await db.insertInto('opt_outs').values(row).execute();
      await dropAnswersWith({ db }, entity_id);
      await recordDeed({ db }, { at: now, who, action: 'opt-out', dataset, entity_id, subject: id, request_id });
      const because = 'An opt-out in force. Approve: it stays removed. Reject: it is shown again.';
      if (domain !== null)
        await openRequest({ db }, { kind: 'notice', dataset, entity_id, slug, name, contact, reason, because }, now);
    },
  });
  if (already) return false;
  const token = await newLink(store, { purpose: RESTORE, subject: id, now, lasts: LASTS.restore });
  const url = `${base_url}/optout/restore?token=${token}`;
  // The record is gone whether the mail leaves or not; one that does not is in the outbox, and the log says so.
  await mailer.post(removedMail(contact, { dataset, name }, url), new Date(now));
  if (domain !== null && !proven) await notifyDomain(parts, { domain, contact, record: { dataset, name }, url, now });
  return true;
}

/** Addresses that a domain's owner reads (RFC 2142), and removals of one domain a day that they get a notice of. */
const NOTIFIED = { names: ['postmaster', 'webmaster'], a_day: 5 };

/** Mails the domain's own addresses about a removal that no mailbox confirmed, since its contact may be invented. */
async function notifyDomain(
  { quotas, mailer }: Parts,
  given: { domain: string; contact: string; record: Named; url: string; now: number },
): Promise<void> {
  const { domain, contact, record, url } = given;
  const now = new Date(given.now);
  if ((await quotas.take({ name: `notices ${domain}`, quota: NOTIFIED.a_day }, 1, now)) === 0) return;
  for (const address of NOTIFIED.names.map((local) => `${local}@${domain}`))
    if (address !== contact.toLowerCase()) await mailer.post(noticeMail(address, record, url), now);
}

/** Brings a record back, by an opt-out's id; null when it is back already. `before` runs in the same transaction. */
export async function restoreRecord(
  { editing, store }: Parts,
  id: string,
  { who, now, request_id }: Pick<Removing, 'who' | 'now' | 'request_id'>,
  before: (db: Parts['store']['db']) => Promise<void> = async () => {},
): Promise<NamedRecord | null> {
  const row = await store.db.selectFrom('opt_outs').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row || row.restored_version !== null) return null;
  const { dataset, entity_id, slug, name } = row;
  await editRecord(editing, {
    dataset,
    entity: entity_id,
    now,
    alter: (overlay, version) => {
      const removed = new Map(overlay.removed);
      removed.delete(entity_id);
      return { ...overlay, removed, restored: new Map(overlay.restored).set(entity_id, version) };
    },
    write: async (db, version) => {
      await before(db);
      const { numUpdatedRows } = await db
        .updateTable('opt_outs')
        .set({ restored_at: now, restored_version: version })
        .where('id', '=', id)
        .where('restored_version', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw new Gone();
      await closeNotices({ db }, dataset, entity_id, await hashedWho(db, who, now), now);
      await recordDeed({ db }, { at: now, who, action: 'restore', dataset, entity_id, subject: id, request_id });
    },
  });
  return { dataset, slug, name };
}

/** Somebody else was first; nothing was written. */
export class Gone extends Error {}

const unlessGone = (error: unknown): null => {
  if (error instanceof Gone) return null;
  throw error;
};

/** Thrown in the transaction of a removal when the dataset had too many within the hour; nothing was written. */
class Held extends Error {}

/** What a confirmation keeps of the request that it confirms. */
type Pending = Pick<Removing, 'dataset' | 'record' | 'contact' | 'domain' | 'reason'>;
const pending = (subject: string | null): Pending | null =>
  subject === null ? null : (JSON.parse(subject) as Pending);
const confirmed = (found: Pending | null): NamedRecord | null =>
  found && { dataset: found.dataset, slug: found.record.slug, name: found.record.name };

type OptOuts = Pick<Owners, 'optOut'> & Pick<OwnerPages, 'removal' | 'restore' | 'confirm'>;

/** Opt-outs and the pages behind their mails. */
export function optOuts(parts: Parts): OptOuts {
  const { store, quotas, base_url } = parts;

  /** Whether the record came back less than 90 days ago. */
  const restoredLately = async (dataset: string, entity_id: string, now: number): Promise<boolean> => {
    const found = await store.db
      .selectFrom('opt_outs')
      .select('id')
      .where('dataset', '=', dataset)
      .where('entity_id', '=', entity_id)
      .where('restored_at', '>', now - LASTS.again)
      .executeTakeFirst();
    return found !== undefined;
  };

  /** Mails the page that removes a record which came back lately, unless the mailbox got such a mail within the hour. */
  const sendConfirmation = async (removing: Pending, normal: string, now: number): Promise<void> => {
    const { dataset, record, contact } = removing;
    const link = { purpose: CONFIRM, subject: JSON.stringify(removing), now, lasts: LASTS.confirm };
    const token = await newLinkOf(store, `${dataset} ${record.id} ${normal}`, link);
    if (token === null) return;
    const url = `${base_url}/optout/confirm?token=${token}`;
    const mail = confirmMail(contact, { dataset, name: record.name }, url);
    await sendNow(parts, mail, now).catch(async (error) => {
      await dropLink(store, token);
      throw error;
    });
  };
  const named = async (id: string | null): Promise<NamedRecord | null> => {
    if (id === null) return null;
    const row = await store.db
      .selectFrom('opt_outs')
      .select(['dataset', 'slug', 'name'])
      .where('id', '=', id)
      .where('restored_version', 'is', null)
      .executeTakeFirst();
    return row ?? null;
  };

  return {
    async optOut(release, { entity_id, contact, reason }, asker) {
      const { pack } = release;
      const dataset = pack.id;
      const asked = { entity_id, email: contact, member: 'contact' };
      const { record, domain, normal } = await readAsked(quotas, release, asked, asker);
      const { id, slug, name } = record;
      const answer = (status: OptedOut['status']): OptedOut => ({ status, dataset, entity_id: id });
      const about = { dataset, entity_id: id, slug, name, contact, reason };
      if (pack.owner.domain === null) {
        const because = 'The dataset names no domains, so that the address proves nothing.';
        await askReview(parts, { kind: 'opt_out', ...about, because }, domain, asker);
        return answer('review');
      }
      const place = await standing(release, record, domain);
      if (place === 'none') throw mismatch(release);
      await spendAsked(quotas, 'opt-outs', `${dataset} ${domain}`, asker);
      if (place === 'shared') {
        await askReview(parts, { kind: 'opt_out', ...about, because: whyShared(release, domain) }, domain, asker);
        return answer('review');
      }
      const removing = { dataset, record: { id, slug, name }, contact, domain, reason };
      if (await restoredLately(dataset, id, asker.now)) {
        await sendConfirmation(removing, normal, asker.now);
        return answer('confirmation_sent');
      }
      const { now, request_id } = asker;
      await spend(quotas, `removals ${dataset} ${domain}`, A_DAY.removals, asker, 'removals for this domain');
      const brake = async (db: Parts['store']['db']) => {
        if (await holdsOptOuts({ db }, dataset, now)) throw new Held();
      };
      try {
        const unproven = { ...removing, proven: false, who: `contact ${contact}`, request_id, now };
        await removeRecord(parts, unproven, brake);
        return answer('removed');
      } catch (error) {
        if (!(error instanceof Held)) throw error;
        await askReview(parts, { kind: 'opt_out', ...about, because: WHY_HELD }, domain, asker);
        await noteHeld(store, dataset, now);
        parts.onHeldOptOut(dataset);
        return answer('review');
      }
    },
    async removal(kind, token, now) {
      const purpose = kind === 'restore' ? RESTORE : CONFIRM;
      const subject = await linkSubject(store, purpose, token, now.getTime());
      if (subject === null) return { state: await linkState(store, purpose, token, now.getTime()), record: null };
      const record = kind === 'restore' ? await named(subject) : confirmed(pending(subject));
      // An operator, or another link, was first.
      return record === null ? { state: 'used', record } : { state: 'good', record };
    },
    async restore(token, { now, request_id }: Asker) {
      const id = await linkSubject(store, RESTORE, token, now);
      const row =
        id === null
          ? undefined
          : await store.db.selectFrom('opt_outs').select('contact').where('id', '=', id).executeTakeFirst();
      if (id === null || !row) return null;
      const used = async (db: Parts['store']['db']) => {
        if ((await consumeLink({ db }, RESTORE, token, now)) === null) throw new Gone();
      };
      return restoreRecord(parts, id, { who: `contact ${row.contact}`, now, request_id }, used).catch(unlessGone);
    },
    async confirm(token, { now, request_id }: Asker) {
      const found = pending(await consumeLink(store, CONFIRM, token, now));
      if (!found) return null;
      await removeRecord(parts, { ...found, proven: true, who: `contact ${found.contact}`, request_id, now });
      return confirmed(found);
    },
  };
}
