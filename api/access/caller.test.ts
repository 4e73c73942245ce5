// Credentials: which one of a request counts, and the caller it identifies.
import { describe, expect, test } from 'vitest';
import { hashSecret } from '../../data/state/key-format.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { credentialError, credentialOf, identifyOperators } from './caller.ts';

verifies('credential.order');

const none = { authorization: undefined, x_api_key: undefined, api_key: undefined };

describe('credentialOf', () => {
  test('nothing sent is nobody', () => {
    expect(credentialOf(none)).toBeNull();
  });

  test('Authorization comes before X-API-Key before api_key', () => {
    const all = { authorization: 'Bearer a', x_api_key: 'b', api_key: 'c' };
    expect(credentialOf(all)).toEqual({ via: 'authorization', secret: 'a' });
    expect(credentialOf({ ...all, authorization: undefined })).toEqual({ via: 'x-api-key', secret: 'b' });
    expect(credentialOf({ ...none, api_key: 'c' })).toEqual({ via: 'api_key', secret: 'c' });
  });

  test('the scheme is case-insensitive; another scheme or an empty secret is presented and empty', () => {
    expect(credentialOf({ ...none, authorization: 'bearer  a ' })?.secret).toBe('a');
    expect(credentialOf({ ...none, authorization: 'Basic eDp5' })?.secret).toBe('');
    expect(credentialOf({ ...none, authorization: 'Bearer ' })?.secret).toBe('');
    expect(credentialOf({ authorization: '', x_api_key: 'good', api_key: undefined })?.secret).toBe('');
    expect(credentialOf({ ...none, x_api_key: '' })?.secret).toBe('');
  });
});

test('an admin key is recognised by its hash alone; an empty secret never is', async () => {
  const identify = identifyOperators([hashSecret('k'.repeat(32)), hashSecret('')]);
  expect(await identify({ via: 'authorization', secret: 'k'.repeat(32) })).toEqual({
    kind: 'admin',
    id: hashSecret('k'.repeat(32)).slice(0, 8),
  });
  expect(await identify({ via: 'authorization', secret: 'k'.repeat(33) })).toBeNull();
  expect(await identify({ via: 'authorization', secret: '' })).toBeNull();
});

test('a refusal never repeats the secret, and tells tokens from keys', () => {
  expect(credentialError({ via: 'x-api-key', secret: 'hunter2' })).toMatchObject({ code: 'invalid_key' });
  expect(credentialError({ via: 'x-api-key', secret: 'hunter2' }).message).not.toContain('hunter2');
  expect(credentialError({ via: 'authorization', secret: 'a.b.c' })).toMatchObject({ code: 'invalid_token' });
  expect(credentialError({ via: 'authorization', secret: '' }).message).toContain('Bearer <API_KEY>');
});
