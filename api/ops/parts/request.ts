// What the operators' pages are asked and what they answer, between the channel that reads requests and the pages themselves.

import type { Accounts } from '../../../data/model/accounts.ts';
import type { NightlyRun } from '../../../data/releases/runs.ts';
import type { ReviewContext } from '../../../data/review/review.ts';
import type { Traffic } from '../../../data/state/ops/traffic.ts';
import type { Store } from '../../../data/state/store.ts';
import type { OpsPage } from './frame.ts';

/** A request as the channel read it. */
export interface OpsRequest {
  /** Path parameters and query, without credentials. */
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string | string[] | undefined>>;
  /** Body of a POST; null for a GET. */
  form: URLSearchParams | null;
  header(name: string): string | undefined;
  /** Path as it was asked, without prefix and query. */
  path: string;
  /** The operator whose key stands in the request; null where none does. */
  operator: string | null;
  /** The address that limits count by. */
  address: string;
  request_id: string;
  /** The client wants a page rather than JSON. */
  html: boolean;
  /** htmx asks for a piece of a page. */
  piece: boolean;
  /** Counts an attempt to sign in; throws `rate_limited`. */
  attempt(): Promise<void>;
}

/** What an address answers. */
export type OpsAnswer =
  | { page: OpsPage; status?: number }
  | { piece: string; status?: number }
  | { json: unknown; status?: number }
  /** Leads on, to a path below /ops. */
  | { to: string };

/** How a dataset stands. Times are ISO 8601. */
export interface OpsDataset {
  dataset: string;
  title: string;
  /** `missing`: nothing was released yet. `damaged`: what was cannot be opened. */
  state: 'open' | 'missing' | 'damaged' | 'unknown';
  release: string | null;
  records: number;
  facts: number;
  median_age_hours: number | null;
  /** 0..1: share of values younger than their attribute's limit. */
  within_sla: number | null;
  last_collection: string | null;
  next_collection: string | null;
  /** When the run after the last one is due; in the past where it was missed. */
  due: string | null;
  /** Newest first. */
  runs: NightlyRun[];
}

/** What the pages are made of. */
export interface OpsParts {
  store: Store;
  /** SHA-256 of every operator's key. */
  admins: ReadonlySet<string>;
  reviewing: ReviewContext;
  accounts: Pick<Accounts, 'revoke' | 'grant'>;
  /** Every dataset, as it stands now. */
  datasets(now: Date): Promise<OpsDataset[]>;
  /** Figures of this process that the store may still lack. */
  traffic: Pick<Traffic, 'flush' | 'backlog'>;
  base_url: string;
  now(): Date;
  log(line: string): void;
}

/** One text of a query; undefined where it is absent or repeated. */
export function queryText(asked: OpsRequest, name: string): string | undefined {
  const value = asked.query[name];
  return typeof value === 'string' ? value : undefined;
}
