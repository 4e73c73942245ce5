// The table with the operations on accounts: keys, balances, plans.
import type { Operation } from '../contract/operation.ts';
import { keys_grant, keys_list, keys_revoke } from './account/keys_admin.ts';
import { keys_create } from './account/keys_create.ts';
import { keys_me } from './account/keys_me.ts';
import { keys_recover } from './account/keys_recover.ts';
import { keys_subscribe, keys_topup } from './account/keys_topup.ts';
import { OWNER_OPERATIONS } from './owners/owners.ts';
import { OPERATIONS } from './table.ts';

/** Operations on accounts, for REST alone. The path with a parameter comes last. */
export const ACCOUNT_OPERATIONS: readonly Operation[] = [
  keys_create,
  keys_list,
  keys_me,
  keys_topup,
  keys_subscribe,
  keys_recover,
  keys_grant,
  keys_revoke,
];

/** The whole table, as the running service has it. */
export const EVERY_OPERATION: readonly Operation[] = [...OPERATIONS, ...ACCOUNT_OPERATIONS, ...OWNER_OPERATIONS];
