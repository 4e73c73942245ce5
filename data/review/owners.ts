// The owners' channel as operations and pages use it: opt-outs, claims, edits. The store and the mailer
// implement it.

import type { KeepAnswer, Requester } from '../model/accounts.ts';
import type { StoredRecord } from '../model/record.ts';
import type { Release } from '../releases/release.ts';

/** A request to remove a record. */
export interface OptOutRequest {
  /** Id or slug. */
  entity_id: string;
  contact: string;
  reason: string | null;
}

/**
 * `removed`: applied. `review`: an operator decides first. `confirmation_sent`: the contact must confirm by
 * mail, since the record was restored recently.
 */
export interface OptOutResult {
  status: 'removed' | 'review' | 'confirmation_sent';
  dataset: string;
  /** The record's id. */
  entity_id: string;
}

/** A mistake in a record, as a reader describes it. */
export interface MistakeReport {
  /** Id or slug. */
  entity_id: string;
  /** null: the record as a whole. */
  attribute: string | null;
  message: string;
  contact: string | null;
}

/** A claim that allows edits. */
export interface VerifiedClaim {
  dataset: string;
  entity_id: string;
  /** Milliseconds since 1970. */
  expires_at: number;
}

/** Each method throws errors with a code of contract section 4. */
export interface Owners {
  /** Errors: `unknown_entity`, `domain_mismatch`, `rate_limited`. */
  optOut(release: Release, request: OptOutRequest, requester: Requester): Promise<OptOutResult>;
  /**
   * Mails a magic link, or opens a request for an operator. Errors: `unknown_entity`, `domain_mismatch`,
   * `rate_limited`, `unavailable`.
   */
  claim(
    release: Release,
    request: { entity_id: string; email: string },
    requester: Requester,
  ): Promise<'sent' | 'review'>;
  /** Marks a claim as verified; repeated calls have no further effect. Error: `not_found`. */
  verify(token: string, requester: Requester): Promise<VerifiedClaim>;
  /** Stores a report for operators and returns its id. Errors: `unknown_entity`, `rate_limited`. */
  report(release: Release, report: MistakeReport, requester: Requester, keep?: KeepAnswer<string>): Promise<string>;
  /**
   * Sets attribute values of the claimed record; null withdraws an owner's earlier value. Errors:
   * `not_owner`, `unknown_entity`, `validation_failed`.
   */
  update(
    token: string,
    values: Readonly<Record<string, unknown>>,
    requester: Requester,
  ): Promise<{ dataset: string; record: StoredRecord }>;
}
