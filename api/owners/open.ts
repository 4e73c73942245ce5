// The owners' channel over one store: opt-outs, claims, and the pages behind their mails.
import type { Owners } from '../../data/review/owners.ts';
import { claims } from './claims.ts';
import { claimPages, type OwnerPages } from './mailed-links.ts';
import { optOuts } from './opt-out.ts';
import type { Parts } from './parts.ts';

/** What operations and pages of the owners' channel ask. */
export function openOwners(parts: Parts): Owners & OwnerPages {
  return { ...optOuts(parts), ...claims(parts), ...claimPages(parts) };
}
