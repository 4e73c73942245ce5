// What operations and pages may ask of the owners' channel: opt-outs, claims, edits. A port: the store and the mails are behind it.

import type { Asker } from '../model/accounts.ts';
import type { StoredRecord } from '../model/record.ts';
import type { Release } from '../releases/release.ts';

/** A request for a record to be removed. */
export interface OptOutRequest {
  /** Id or slug. */
  entity_id: string;
  contact: string;
  reason: string | null;
}

/**
 * `removed`: it is gone. `review`: an operator has to look at it first. `confirmation_sent`: the contact has to confirm by mail, since the record was
 * brought back lately.
 */
export interface OptedOut {
  status: 'removed' | 'review' | 'confirmation_sent';
  dataset: string;
  /** The record's id. */
  entity_id: string;
}

/** A claim under which edits are possible. */
export interface VerifiedClaim {
  dataset: string;
  entity_id: string;
  /** Milliseconds since 1970. */
  expires_at: number;
}

/** Every refusal is thrown with its code of contract section 4. */
export interface Owners {
  /** `unknown_entity`, `domain_mismatch`, `rate_limited`. */
  optOut(release: Release, request: OptOutRequest, asker: Asker): Promise<OptedOut>;
  /** Mails a magic link, or leaves it to an operator. `unknown_entity`, `domain_mismatch`, `rate_limited`, `unavailable`. */
  claim(release: Release, request: { entity_id: string; email: string }, asker: Asker): Promise<'sent' | 'review'>;
  /** Marks a claim verified; again and again without any further effect. `not_found`. */
  verify(token: string, asker: Asker): Promise<VerifiedClaim>;
  /** Sets attribute values of the claimed record; null takes an owner's earlier value back. `not_owner`, `unknown_entity`, `validation_failed`. */
  update(
    token: string,
    values: Readonly<Record<string, unknown>>,
    asker: Asker,
  ): Promise<{ dataset: string; record: StoredRecord }>;
}
