// Reports of mistakes: anyone describes what is wrong with a record, and operators see it in the review
// (contract section 9).
import type { Owners } from '../../data/review/owners.ts';
import { openRequest } from '../../data/state/owners/requests.ts';
import { type NetworkQuota, takeUnit } from '../access/network-quotas.ts';
import { findRecord, type OwnersParts, tooMany } from './parts.ts';

/** Reports from one network per day. */
const REPORTS: NetworkQuota = { name: 'reports', address: 10, blocks: { 48: 30 } };
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
