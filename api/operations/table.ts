// The table of operations, from which every channel, the guides and the tests are generated (contract section
// 8).
import type { Operation } from '../contract/operation.ts';
import { account_prepay } from './account/account_prepay.ts';
import { keys_grant, keys_list, keys_revoke } from './account/keys_admin.ts';
import { keys_child_change, keys_child_create, keys_child_revoke, keys_children } from './account/keys_children.ts';
import { keys_create } from './account/keys_create.ts';
import { keys_limits } from './account/keys_limits.ts';
import { keys_me } from './account/keys_me.ts';
import { keys_close, keys_rotate, keys_usage } from './account/keys_own.ts';
import { keys_email, keys_recover } from './account/keys_recover.ts';
import {
  keys_deliveries,
  keys_deliveries_repeat,
  keys_subscriptions,
  keys_subscriptions_add,
  keys_subscriptions_remove,
} from './account/keys_subscriptions.ts';
import { keys_subscribe, keys_topup } from './account/keys_topup.ts';
import { dataset_facets } from './analysis/dataset_facets.ts';
import { dataset_stats } from './analysis/dataset_stats.ts';
import { dataset_timeseries } from './analysis/dataset_timeseries.ts';
import { dataset_changelog } from './dataset/dataset_changelog.ts';
import { dataset_changes } from './dataset/dataset_changes.ts';
import { dataset_examples } from './dataset/dataset_examples.ts';
import { dataset_export } from './dataset/dataset_export.ts';
import { dataset_full_text } from './dataset/dataset_full_text.ts';
import { dataset_guide } from './dataset/dataset_guide.ts';
import { dataset_profile } from './dataset/dataset_profile.ts';
import { dataset_samples } from './dataset/dataset_samples.ts';
import { dataset_schema } from './dataset/dataset_schema.ts';
import { dataset_status } from './dataset/dataset_status.ts';
import { datasets_list } from './dataset/datasets_list.ts';
import { quote } from './dataset/quote.ts';
import { register_fetch, register_search } from './dataset/register_search.ts';
import { dataset_sql, sql_query } from './dataset/sql_query.ts';
import { OWNER_OPERATIONS } from './owners/owners.ts';
import { compare_page } from './record/compare_page.ts';
import { entity_audit } from './record/entity_audit.ts';
import { entity_batch } from './record/entity_batch.ts';
import { entity_compare } from './record/entity_compare.ts';
import { entity_get } from './record/entity_get.ts';
import { entity_history } from './record/entity_history.ts';
import { entity_page } from './record/entity_page.ts';
import { entity_prices } from './record/entity_prices.ts';
import { entity_search, entity_search_paid } from './record/entity_search.ts';
import { entity_similar } from './record/entity_similar.ts';

/** In the order in which routes are matched: `entities/batch` precedes `entities/{entity_id}`. */
export const DATASET_OPERATIONS: readonly Operation[] = [
  datasets_list,
  register_search,
  register_fetch,
  sql_query,
  dataset_sql,
  quote,
  dataset_guide,
  dataset_schema,
  dataset_status,
  dataset_samples,
  dataset_examples,
  dataset_facets,
  dataset_profile,
  dataset_full_text,
  dataset_changelog,
  dataset_changes,
  dataset_export,
  entity_search,
  entity_search_paid,
  entity_batch,
  entity_get,
  entity_similar,
  entity_history,
  entity_prices,
  entity_audit,
  entity_compare,
  dataset_stats,
  dataset_timeseries,
];

/** Operations on accounts, REST only. The path with a parameter comes last. */
export const ACCOUNT_OPERATIONS: readonly Operation[] = [
  keys_create,
  account_prepay,
  keys_list,
  keys_me,
  keys_usage,
  keys_email,
  keys_limits,
  keys_child_create,
  keys_children,
  keys_child_change,
  keys_child_revoke,
  keys_rotate,
  keys_close,
  keys_topup,
  keys_subscribe,
  keys_recover,
  keys_subscriptions_add,
  keys_subscriptions,
  keys_deliveries,
  keys_deliveries_repeat,
  keys_subscriptions_remove,
  keys_grant,
  keys_revoke,
];

/** Pages outside /v1: mounted with the static files, read as resources by agents, and never tools. */
export const PAGE_OPERATIONS = { record: entity_page, comparison: compare_page } satisfies Record<string, Operation>;

/**
 * The whole table of /v1.
 *
 * @example
 * ```ts
 * const search = OPERATIONS.find(({ name }) => name === 'entity_search');
 * ```
 */
export const OPERATIONS: readonly Operation[] = [...DATASET_OPERATIONS, ...ACCOUNT_OPERATIONS, ...OWNER_OPERATIONS];
