// What the pages behind mailed links ask, and what people see there who never heard of an API. Looking changes nothing.

import type { Asker } from '../../data/model/accounts.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Release } from '../../data/releases/release.ts';
import type { LinkState } from '../../data/state/links.ts';
import { type Claim, claimOf, mayEdit } from '../../data/state/owners/claims.ts';
import type { Pack } from '../../packs/define/model.ts';
import { findRecord, type OwnersParts } from './parts.ts';

/** A record as a page names it. */
export interface RecordRef {
  dataset: string;
  slug: string;
  name: string;
}

/**
 * A claim as its page shows it. `waiting`: mailed, and nobody pressed the button yet. `open`: edits are possible. `over`: its time is up.
 * `replaced`: a later link of the same address took its place.
 */
export type ClaimState = 'waiting' | 'open' | 'over' | 'replaced' | 'unknown';

export interface ClaimPage {
  state: ClaimState;
  /** Null where the token is unknown, or the record is gone. */
  about: { pack: Pack; record: StoredRecord; email: string } | null;
  /** Milliseconds since 1970; null while nobody pressed the button. */
  until: number | null;
}

export interface OwnerPages {
  /** How a mailed link about a removal stands. */
  removal(
    kind: 'restore' | 'confirm',
    token: string,
    now: Date,
  ): Promise<{ state: LinkState; record: RecordRef | null }>;
  /** Brings the record back, once; null when the link is no good any more. */
  restore(token: string, asker: Asker): Promise<RecordRef | null>;
  /** Removes the record, once; likewise. */
  confirm(token: string, asker: Asker): Promise<RecordRef | null>;
  /** How a claim stands. */
  claimed(token: string, now: Date): Promise<ClaimPage>;
  /** The record that somebody wants to edit or have removed. Throws `unknown_entity`. */
  subject(release: Release, ref: string): Promise<StoredRecord>;
}

/** The pages' questions that are about claims. */
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
