// Bodies of requests: the messages for wrong members, and the example for missing ones.
import { expect, test } from 'vitest';
import type { Context, Operation } from '../../contract/operation.ts';
import { keys_grant } from '../account/keys_admin.ts';
import { keys_create } from '../account/keys_create.ts';
import { keys_subscribe } from '../account/keys_topup.ts';
import { OWNER_OPERATIONS } from '../owners/owners.ts';

function refusal(operation: Operation, body: unknown): string {
  try {
    operation.parse({}, { body } as Context);
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
}

const optout = OWNER_OPERATIONS.find(({ name }) => name === 'optout') as Operation;
const key_id = '00000000-0000-4000-8000-000000000000';

test.each([
  [keys_create, undefined, 'email: is required; send {"email":"you@example.org"}'],
  [keys_create, {}, 'email: is required; send {"email":"you@example.org"}'],
  [keys_create, [], 'body: must be an object'],
  [keys_create, { email: 5 }, 'email: must be a text'],
  [keys_create, { email: 'x' }, 'email: must be an e-mail address'],
  [keys_create, { email: 'you@example.org', plan: 'gold' }, 'plan: must be payg, pro or scale'],
  [optout, { dataset: '', entity_id: 'a', contact: 'you@example.org' }, 'dataset: must not be empty'],
  [optout, { dataset: 'tools', entity_id: '', contact: 'you@example.org' }, 'entity_id: must not be empty'],
  [keys_subscribe, { plan: 'gold' }, 'plan: must be one of pro, scale'],
  [keys_subscribe, {}, 'plan: is required; send {"plan":"pro"}'],
  [
    keys_grant,
    { key_id, plan: 'pro' },
    'amount_eur: is required; send {"key_id":"<id of the key>","amount_eur":0,"plan":"pro"}',
  ],
  [keys_grant, { key_id, amount_eur: -1 }, 'amount_eur: must be at least 0'],
  [keys_grant, { key_id, amount_eur: 0 }, 'amount_eur: must be above 0 where no plan is granted'],
  [keys_grant, { key_id, amount_eur: 1, reason: 'x'.repeat(501) }, 'reason: must be at most 500 characters'],
  [keys_grant, { key_id, amount_eur: 0, plan: 'pro' }, 'accepted'],
])('%# %o', (operation, body, message) => expect(refusal(operation, body)).toBe(message));
