// State of mailed links for the owners' pages. Reading it changes nothing.

import type { Requester } from '../../data/model/accounts.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Release } from '../../data/releases/release.ts';
import type { LinkState } from '../../data/state/links.ts';
import { type Claim, claimOf, mayEdit } from '../../data/state/owners/claims.ts';
import type { Pack } from '../../packs/define/model.ts';
import { findRecord, type OwnersParts } from './parts.ts';

/** A record as pages and mails name it. */
export interface RecordRef {
  dataset: string;
  slug: string;
  name: string;
}

/**
 * `waiting`: mailed, editing not started. `open`: edits are possible. `over`: expired. `replaced`: the same
 * address requested a newer link.
 */
export type ClaimState = 'waiting' | 'open' | 'over' | 'replaced' | 'unknown';

export interface ClaimPage {
  state: ClaimState;
  /** Null for an unknown token, or if the record is gone. */
  about: { pack: Pack; record: StoredRecord; email: string } | null;
  /** End of the time for edits, milliseconds since 1970; null before it starts. */
  until: number | null;
}

export interface OwnerPages {
  /** The state of a mailed link that restores or confirms a removal. */
  removal(
    kind: 'restore' | 'confirm',
    token: string,
    now: Date,
  ): Promise<{ state: LinkState; record: RecordRef | null }>;
  /** Restores the record, once; null for an invalid link. */
  restore(token: string, requester: Requester): Promise<RecordRef | null>;
  /** Removes the record, once; null for an invalid link. */
  confirm(token: string, requester: Requester): Promise<RecordRef | null>;
  /** The state of a claim. */
  claimed(token: string, now: Date): Promise<ClaimPage>;
  /** The record of an id or slug. Throws `unknown_entity`. */
  subject(release: Release, ref: string): Promise<StoredRecord>;
}

/** The part of the pages' data that is about claims. */
export function claimPages({ store, editing }: OwnersParts): Pick<OwnerPages, 'claimed' | 'subject'> {
  return {
    async claimed(token, now) {
      const claim = await claimOf(store, token);
      if (claim === null) return { state: 'unknown', about: null, until: null };
      const { dataset, entity_id, email, until } = claim;
      const release = editing.current(dataset);
      const record = release ? await findRecord(release, entity_id).catch(() => null) : null;
      const about = release && record ? { pack: release.pack, record, email } : null;
      return { state: stateOf(claim, now.getTime()), about, until };
    },
    subject: findRecord,
  };
}

function stateOf(claim: Claim, now: number): ClaimState {
  if (claim.replaced_at !== null) return 'replaced';
  if (mayEdit(claim, now)) return 'open';
  return claim.verified_at === null && claim.expires_at > now ? 'waiting' : 'over';
}
