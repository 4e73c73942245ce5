// What operators decide about requests of the owners' channel, carried out (contract section 5, "Opt-out").
import { recordAudit } from '../../data/state/audit.ts';
import { decideRequest, type OwnerRequest, reopenRequest } from '../../data/state/owners/requests.ts';
import { sendClaim } from './claims.ts';
import { decidedMail } from './mails.ts';
import { AlreadyDone, removeRecord, restoreRecord } from './opt-out.ts';
import { type OwnersParts, readEmail } from './parts.ts';

/** Who decides, and when (milliseconds since 1970). */
interface Decider {
  who: string;
  now: number;
  request_id: string;
}

/**
 * Carries out a decision: an opt-out that is approved removes the record, a claim is mailed its link, a notice that is rejected brings the record
 * back; who asked for what is declined is told. False when somebody else was first: then nothing was done.
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
  /** Takes the decision, with its line in the log; in the transaction of what comes of it, where that changes the overlay. */
  const decide = async (db: OwnersParts['store']['db']) => {
    if (!(await decideRequest({ db }, id, verdict, who, now))) throw new AlreadyDone();
    const about = { dataset, entity_id, subject: id, request_id, told: { kind } };
    await recordAudit({ db }, { at: now, who, action: approved ? 'approve' : 'reject', ...about });
  };
  const alone = () => store.db.transaction().execute(decide);
  try {
    if (kind === 'opt_out' && approved) {
      const record = { id: entity_id, slug, name };
      const removing = { dataset, record, contact, domain: null, proven: true, reason, who, request_id, now };
      // It is gone already, by another request: the decision stands all the same.
      if (!(await removeRecord(parts, removing, decide))) await alone();
    } else if (kind === 'notice' && !approved) {
      const out = await store.db
        .selectFrom('opt_outs')
        .select('id')
        .where('dataset', '=', dataset)
        .where('entity_id', '=', entity_id)
        .where('restored_version', 'is', null)
        .executeTakeFirst();
      if (!out || (await restoreRecord(parts, out.id, decider, decide)) === null) await alone();
    } else await alone();
  } catch (error) {
    if (error instanceof AlreadyDone) return false;
    throw error;
  }
  if (kind === 'claim' && approved) {
    const { normal, domain } = readEmail(contact, 'email');
    const claim = { dataset, entity_id, name, email: contact, email_normal: normal, domain };
    // Without its mail the decision is worth nothing: it is open again, and the operator is told.
    await sendClaim(parts, claim, now, true).catch(async (error: unknown) => {
      await reopenRequest(store, id);
      throw error;
    });
  }
  if (kind !== 'notice' && !approved) {
    const what = kind === 'claim' ? 'let you edit' : 'remove';
    await mailer.post(decidedMail(contact, { dataset, name }, false, what), new Date(now));
  }
  return true;
}
