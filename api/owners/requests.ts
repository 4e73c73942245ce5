// Requests of people: opens reports of mistakes (contract section 9), and applies the decisions of operators about all
// requests (section 5, "Opt-out").

import type { Owners } from '../../data/review/owners.ts';
import { recordAudit } from '../../data/state/audit.ts';
import { decideRequest, type OwnerRequest, openRequest, reopenRequest } from '../../data/state/owners/requests.ts';
import { type NetworkQuota, takeUnit } from '../access/network-quotas.ts';
import { sendClaim } from './claims.ts';
import { declinedMail } from './mails.ts';
import { AlreadyDone, removeRecord, restoreRecord } from './opt-out.ts';
import { findRecord, type OwnersParts, readEmail, tooMany } from './parts.ts';

/** Reports from one network per day. */
export const REPORTS: NetworkQuota = { name: 'reports', address: 10, blocks: { 48: 30 } };
const BECAUSE = 'A reader reports a mistake. Correct it at its source, then close the report.';

/** Stores reports as requests for operators. */
export function reportHandler({ store, quotas }: OwnersParts): Pick<Owners, 'report'> {
  return {
    async report(release, report, requester, keep): Promise<string> {
      const { id: entity_id, slug, name } = await findRecord(release, report.entity_id);
      const now = new Date(requester.now);
      const used = await takeUnit(quotas, REPORTS, requester.address, now);
      if (used !== null) throw tooMany(`${used.quota} reports from ${used.block}`, now);
      const { attribute, message: reason, contact } = report;
      const about = { dataset: release.pack.id, entity_id, slug, name, attribute };
      const request = { kind: 'report' as const, ...about, contact: contact ?? '', reason, because: BECAUSE };
      return store.db.transaction().execute(async (db) => {
        const { id } = await openRequest({ db }, request, requester.now);
        await keep?.(db, id);
        return id;
      });
    },
  };
}

/** The operator, and the time in milliseconds since 1970. */
interface Decider {
  who: string;
  now: number;
  request_id: string;
}

/**
 * Applies a decision. An approved opt-out removes the record, an approved claim gets its link by mail, a
 * rejected notice restores the record; other rejections are mailed to the contact. A report is only closed. Returns false, without a
 * change, when the request was decided before.
 */
export async function applyDecision(
  parts: OwnersParts,
  request: OwnerRequest,
  verdict: 'approved' | 'rejected',
  decider: Decider,
): Promise<boolean> {
  const { store, mailer } = parts;
  const { id, kind, dataset, entity_id, slug, name, contact, reason } = request;
  const { who, now, request_id } = decider;
  const approved = verdict === 'approved';
  /** Stores the decision, its audit entry and the mail of a refusal, in the transaction that changes the overlay if there is one. */
  const decide = async (db: OwnersParts['store']['db']) => {
    if (!(await decideRequest({ db }, id, verdict, who, now))) throw new AlreadyDone();
    const about = { dataset, entity_id, subject: id, request_id, details: { kind } };
    await recordAudit({ db }, { at: now, who, action: approved ? 'approve' : 'reject', ...about });
    if (approved || (kind !== 'opt_out' && kind !== 'claim')) return;
    const what = kind === 'claim' ? 'let you edit' : 'remove';
    await mailer.tryPost(db, declinedMail(contact, { dataset, name }, what), new Date(now));
  };
  const decideOnly = () => store.db.transaction().execute(decide);
  try {
    if (kind === 'opt_out' && approved) {
      const record = { id: entity_id, slug, name };
      const removing = { dataset, record, contact, domain: null, proven: true, reason, who, request_id, now };
      // Already removed by another request; the decision is stored all the same.
      if (!(await removeRecord(parts, removing, decide))) await decideOnly();
    } else if (kind === 'notice' && !approved) {
      const out = await store.db
        .selectFrom('opt_outs')
        .select('id')
        .where('dataset', '=', dataset)
        .where('entity_id', '=', entity_id)
        .where('restored_version', 'is', null)
        .executeTakeFirst();
      if (!out || (await restoreRecord(parts, out.id, decider, decide)) === null) await decideOnly();
    } else await decideOnly();
  } catch (error) {
    if (error instanceof AlreadyDone) return false;
    throw error;
  }
  if (kind === 'claim' && approved) {
    const { normal, domain } = readEmail(contact, 'email');
    const claim = { dataset, entity_id, name, email: contact, email_normal: normal, domain };
    // A claim without its mail is useless, so the request is reopened and the operator gets the error.
    await sendClaim(parts, claim, now, { always: true }).catch(async (error: unknown) => {
      await reopenRequest(store, id);
      throw error;
    });
  }
  return true;
}
