// Requests and answers of the operators' pages, and what the pages depend on.

import type { Accounts } from '../../../data/model/accounts.ts';
import type { NightlyRun } from '../../../data/releases/runs.ts';
import type { ReviewContext } from '../../../data/review/review.ts';
import type { Store } from '../../../data/state/store.ts';
import type { CheckoutService } from '../../checkout/service.ts';
import type { RouteRequest } from '../../http/server.ts';
import type { OpsPage } from './frame.ts';

/** The result of a handler. */
export type OpsAnswer =
  | { page: OpsPage; status?: number }
  | { piece: string; status?: number }
  | { json: unknown; status?: number }
  /** A redirect to a path below /ops. */
  | { to: string };

/** A dataset as the pages show it. Times are ISO 8601. */
export interface OpsDataset {
  dataset: string;
  title: string;
  /** `missing`: no release yet. `damaged`: the release cannot be opened. */
  state: 'open' | 'missing' | 'damaged' | 'unknown';
  release: string | null;
  records: number;
  facts: number;
  median_age_hours: number | null;
  /** 0..1: share of values younger than their attribute's limit. */
  within_sla: number | null;
  last_collection: string | null;
  next_collection: string | null;
  /** When the next run after the last one is due; in the past if it was missed. */
  due: string | null;
  /** Newest first. */
  runs: NightlyRun[];
}

/** The dependencies of the pages. */
export interface OpsParts {
  store: Store;
  /** SHA-256 of every operator's key. */
  admins: ReadonlySet<string>;
  reviewing: ReviewContext;
  accounts: Pick<Accounts, 'revoke' | 'grant'>;
  checkout: Pick<CheckoutService, 'refund'>;
  /** Every dataset with its current state. */
  datasets(now: Date): Promise<OpsDataset[]>;
  /** Figures of this process that are not stored yet. */
  base_url: string;
  now(): Date;
  log(line: string): void;
}

/** Whether htmx requests a part of a page. */
export const isPiece = (request: RouteRequest): boolean => request.header('hx-request') === 'true';
