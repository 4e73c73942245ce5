// Opt-outs: removes a record from every channel at once; its contact can restore it, and operators see it
// (contract section 5).
import { randomUUID } from 'node:crypto';
import type { Requester } from '../../data/model/accounts.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Overlay } from '../../data/plan/overlay.ts';
import { editRecord } from '../../data/releases/overlay-edit.ts';
import type { Release } from '../../data/releases/release.ts';
import type { OptOutRequest, OptOutResult, Owners } from '../../data/review/owners.ts';
import { recordAudit } from '../../data/state/audit.ts';
import { dropAnswersWith } from '../../data/state/idempotency.ts';
import { consumeLink, type LinkState, linkState, linkSubject, newLink, newLinkOf } from '../../data/state/links.ts';
import { holdsOptOuts, noteHeld, OPT_OUT_LIMIT } from '../../data/state/owners/held-opt-outs.ts';
import { closeNotices, openRequest } from '../../data/state/owners/requests.ts';
import { hashActor } from '../../data/state/tables/audit-people.ts';
import type { OwnerPages, RecordRef } from './mailed-links.ts';
import { confirmMail, noticeMail, removedMail } from './mails.ts';
import {
  DAILY_LIMITS,
  domainMismatch,
  domainRelation,
  type OwnersParts,
  readOwnerRequest,
  requestReview,
  requireDelivery,
  sharedDomainReason,
  spendQuota,
  spendRequest,
} from './parts.ts';

const DAY = 24 * 3_600_000;
/**
 * Lifetimes in milliseconds: of a restore link, of the period after a restore in which a removal needs a
 * confirmation, and of the link that confirms it.
 */
const LASTS = { restore: 30 * DAY, again: 90 * DAY, confirm: DAY };
const RESTORE = 'restore';
const CONFIRM = 'opt-out';
/** Why an operator decides about an opt-out that would otherwise take effect at once. */
const WHY_HELD = `The dataset had ${OPT_OUT_LIMIT.most} opt-outs within an hour, so further ones wait for an operator.`;

/** What a removal needs. `domain` null: an operator decided without one. */
export interface RemovalOrder {
  dataset: string;
  record: Pick<StoredRecord, 'id' | 'slug' | 'name'>;
  contact: string;
  domain: string | null;
  /**
   * A reader of the contact's mailbox, or an operator, decided. Else the domain's own addresses get a notice.
   */
  proven: boolean;
  reason: string | null;
  /** For the audit log. */
  who: string;
  request_id: string | null;
  now: number;
}

/** The overlay without a record. */
const withoutRecord = (overlay: Overlay, { id: entity, slug }: RemovalOrder['record'], version: number): Overlay => ({
  ...overlay,
  removed: new Map(overlay.removed).set(entity, { entity, slug, version }),
});

/**
 * Removes a record and the stored answers that contain it, and queues the mail to the contact, in one transaction.
 * Returns false when it is already removed. `before` runs in the same transaction.
 */
export async function removeRecord(
  parts: OwnersParts,
  removing: RemovalOrder,
  before: (db: OwnersParts['store']['db']) => Promise<void> = async () => {},
): Promise<boolean> {
  const { editing, mailer, base_url } = parts;
  const { dataset, record, contact, domain, proven, reason, who, request_id, now } = removing;
  const id = randomUUID();
  const { id: entity_id, slug, name } = record;
  let already = false;
  let token = '';
  const url = () => `${base_url}/optout/restore?token=${token}`;
  await editRecord(editing, {
    dataset,
    entity: entity_id,
    now,
    alter: (overlay, version) => {
      already = overlay.removed.has(entity_id);
      return already ? overlay : withoutRecord(overlay, record, version);
    },
    write: async (db, version) => {
      if (already) return;
      await before(db);
      const back = { restored_at: null, restored_version: null };
      const row = { id, dataset, entity_id, slug, name, contact, domain, reason, at: now, version, ...back };
      await db.insertInto('opt_outs').values(row).execute();
      await dropAnswersWith({ db }, entity_id);
      await recordAudit({ db }, { at: now, who, action: 'opt-out', dataset, entity_id, subject: id, request_id });
      const because = 'An opt-out in force. Approve: the record stays removed. Reject: it is restored.';
      if (domain !== null)
        await openRequest({ db }, { kind: 'notice', dataset, entity_id, slug, name, contact, reason, because }, now);
      token = await newLink({ db }, { purpose: RESTORE, subject: id, now, lasts: LASTS.restore });
      await mailer.tryPost(db, removedMail(contact, { dataset, name }, url()), new Date(now), { token });
    },
  });
  if (already) return false;
  if (domain !== null && !proven)
    await notifyDomain(parts, { domain, contact, record: { dataset, name }, url: url(), token, now });
  return true;
}

/** Addresses that the owner of a domain reads (RFC 2142), and the most notices a day for one domain. */
const NOTIFIED = { names: ['postmaster', 'webmaster'], a_day: 5 };

/** Notifies the domain's owner of a removal that no mailbox confirmed, since its contact may be invented. */
async function notifyDomain(
  { store, quotas, mailer }: OwnersParts,
  removal: {
    domain: string;
    contact: string;
    record: Pick<RecordRef, 'dataset' | 'name'>;
    url: string;
    token: string;
    now: number;
  },
): Promise<void> {
  const { domain, contact, record, url, token } = removal;
  const now = new Date(removal.now);
  if ((await quotas.take({ name: `notices ${domain}`, quota: NOTIFIED.a_day }, 1, now)) === 0) return;
  for (const address of NOTIFIED.names.map((local) => `${local}@${domain}`))
    if (address !== contact.toLowerCase())
      await store.db
        .transaction()
        .execute((tx) => mailer.tryPost(tx, noticeMail(address, record, url), now, { token }));
}

/**
 * Restores the record of an opt-out; null when it is already restored. `before` runs in the same transaction.
 */
export async function restoreRecord(
  { editing, store }: OwnersParts,
  id: string,
  { who, now, request_id }: Pick<RemovalOrder, 'who' | 'now' | 'request_id'>,
  before: (db: OwnersParts['store']['db']) => Promise<void> = async () => {},
): Promise<RecordRef | null> {
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
      if (numUpdatedRows === 0n) throw new AlreadyDone();
      await closeNotices({ db }, dataset, entity_id, await hashActor(db, who, now), now);
      await recordAudit({ db }, { at: now, who, action: 'restore', dataset, entity_id, subject: id, request_id });
    },
  });
  return { dataset, slug, name };
}

/** Another request was first; nothing was written. */
export class AlreadyDone extends Error {}

const nullIfGone = (error: unknown): null => {
  if (error instanceof AlreadyDone) return null;
  throw error;
};

/** Thrown in a removal's transaction when the dataset had too many in an hour; nothing was written. */
class Held extends Error {}

/** The part of an opt-out request that its confirmation link stores. */
type Pending = Pick<RemovalOrder, 'dataset' | 'record' | 'contact' | 'domain' | 'reason'>;
const parsePending = (subject: string | null): Pending | null =>
  subject === null ? null : (JSON.parse(subject) as Pending);
const recordOf = (request: Pending | null): RecordRef | null =>
  request && { dataset: request.dataset, slug: request.record.slug, name: request.record.name };

type OptOuts = Pick<Owners, 'optOut'> & Pick<OwnerPages, 'removal' | 'restore' | 'confirm'>;

/** Opt-outs, and the pages that their mails link to. */
export function optOutHandlers(parts: OwnersParts): OptOuts {
  return {
    optOut: (release, request, requester) => optOut(parts, release, request, requester),
    removal: (kind, token, now) => findRemoval(parts, kind, token, now),
    restore: (token, requester) => restore(parts, token, requester),
    confirm: (token, requester) => confirm(parts, token, requester),
  };
}

async function optOut(
  parts: OwnersParts,
  release: Release,
  { entity_id, contact, reason }: OptOutRequest,
  requester: Requester,
): Promise<OptOutResult> {
  const { store, quotas } = parts;
  const { pack } = release;
  const dataset = pack.id;
  const address = { entity_id, email: contact, member: 'contact' };
  const { record, domain, normal } = await readOwnerRequest(quotas, release, address, requester);
  const { id, slug, name } = record;
  const answer = (status: OptOutResult['status']): OptOutResult => ({ status, dataset, entity_id: id });
  const review = async (because: string): Promise<OptOutResult> => {
    const request = { kind: 'opt_out' as const, dataset, entity_id: id, slug, name, contact, reason, because };
    await requestReview(parts, request, domain, requester);
    return answer('review');
  };
  if (pack.owner.domain === null) return review('The dataset has no domains, so the address proves nothing.');
  const relation = await domainRelation(release, record, domain);
  if (relation === 'none') throw domainMismatch(release, record);
  await spendRequest(quotas, 'opt-outs', `${dataset} ${domain}`, requester);
  if (relation === 'shared') return review(sharedDomainReason(release, domain));
  const pending = { dataset, record: { id, slug, name }, contact, domain, reason };
  if (await restoredRecently(parts, dataset, id, requester.now)) {
    await sendConfirmation(parts, pending, normal, requester);
    return answer('confirmation_sent');
  }
  await spendQuota(
    quotas,
    `removals ${dataset} ${domain}`,
    DAILY_LIMITS.removals,
    requester,
    'removals for this domain',
  );
  if (await removeUnproven(parts, pending, requester)) return answer('removed');
  const reply = await review(WHY_HELD);
  await noteHeld(store, dataset, requester.now);
  parts.onHeldOptOut(dataset);
  return reply;
}

/** Removes a record at once. False, without a write, when the dataset had too many opt-outs in an hour. */
async function removeUnproven(parts: OwnersParts, pending: Pending, { now, request_id }: Requester): Promise<boolean> {
  const { dataset, contact } = pending;
  const checkHold = async (db: OwnersParts['store']['db']) => {
    if (await holdsOptOuts({ db }, dataset, now)) throw new Held();
  };
  try {
    const removing = { ...pending, proven: false, who: `contact ${contact}`, request_id, now };
    await removeRecord(parts, removing, checkHold);
    return true;
  } catch (error) {
    if (!(error instanceof Held)) throw error;
    return false;
  }
}

/** Whether the record was restored less than 90 days ago. */
async function restoredRecently(
  { store }: OwnersParts,
  dataset: string,
  entity_id: string,
  now: number,
): Promise<boolean> {
  const row = await store.db
    .selectFrom('opt_outs')
    .select('id')
    .where('dataset', '=', dataset)
    .where('entity_id', '=', entity_id)
    .where('restored_at', '>', now - LASTS.again)
    .executeTakeFirst();
  return row !== undefined;
}

/** Mails the link that confirms an opt-out of a recently restored record, at most hourly per mailbox. */
async function sendConfirmation(
  parts: OwnersParts,
  pending: Pending,
  normal: string,
  { now, address: network }: Requester,
): Promise<void> {
  const { store, mailer, base_url } = parts;
  const { dataset, record, contact } = pending;
  const link = { purpose: CONFIRM, subject: JSON.stringify(pending), now, lasts: LASTS.confirm };
  let mail_id: string | null = null;
  await newLinkOf(store, `${dataset} ${record.id} ${normal}`, link, async (tx, token) => {
    const url = `${base_url}/optout/confirm?token=${token}`;
    const mail = confirmMail(contact, { dataset, name: record.name }, url);
    mail_id = await mailer.post(tx, mail, new Date(now), { token, network });
  });
  if (mail_id !== null) await requireDelivery(parts, mail_id);
}

/** The state of a mailed link, and the record that it restores or removes. */
async function findRemoval(
  { store }: OwnersParts,
  kind: 'restore' | 'confirm',
  token: string,
  now: Date,
): Promise<{ state: LinkState; record: RecordRef | null }> {
  const purpose = kind === 'restore' ? RESTORE : CONFIRM;
  const subject = await linkSubject(store, purpose, token, now.getTime());
  if (subject === null) return { state: await linkState(store, purpose, token, now.getTime()), record: null };
  const record = kind === 'restore' ? await removedRecord(store, subject) : recordOf(parsePending(subject));
  // Null: an operator, or another link, was first.
  return record === null ? { state: 'used', record } : { state: 'good', record };
}

/** The record of an opt-out in force, by the opt-out's id. */
async function removedRecord({ db }: OwnersParts['store'], id: string): Promise<RecordRef | null> {
  const row = await db
    .selectFrom('opt_outs')
    .select(['dataset', 'slug', 'name'])
    .where('id', '=', id)
    .where('restored_version', 'is', null)
    .executeTakeFirst();
  return row ?? null;
}

async function restore(parts: OwnersParts, token: string, { now, request_id }: Requester): Promise<RecordRef | null> {
  const { store } = parts;
  const id = await linkSubject(store, RESTORE, token, now);
  if (id === null) return null;
  const row = await store.db.selectFrom('opt_outs').select('contact').where('id', '=', id).executeTakeFirst();
  if (!row) return null;
  const consume = async (db: OwnersParts['store']['db']) => {
    if ((await consumeLink({ db }, RESTORE, token, now)) === null) throw new AlreadyDone();
  };
  return restoreRecord(parts, id, { who: `contact ${row.contact}`, now, request_id }, consume).catch(nullIfGone);
}

async function confirm(parts: OwnersParts, token: string, { now, request_id }: Requester): Promise<RecordRef | null> {
  const pending = parsePending(await consumeLink(parts.store, CONFIRM, token, now));
  if (!pending) return null;
  await removeRecord(parts, { ...pending, proven: true, who: `contact ${pending.contact}`, request_id, now });
  return recordOf(pending);
}
