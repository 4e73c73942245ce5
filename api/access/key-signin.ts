// Sign-in with an API key, and parsing of amounts in forms.
import type { Identify } from './caller.ts';

/** The key's id, or the error to show. */
export type SignedIn = { key_id: string } | { wrong: string };

/** Signs in with an API key; an operator's key and an access token are rejected (contract section 3). */
export async function signIn(identify: Identify, typed: string): Promise<SignedIn> {
  const secret = typed.trim().replace(/^Bearer +/i, '');
  const caller = secret === '' ? null : await identify({ via: 'authorization', secret });
  if (caller?.kind === 'admin') return { wrong: 'This is an operator’s key, which has no credit. Use an API key.' };
  if (caller?.kind === 'key' && caller.child)
    return { wrong: 'This is a child key. Sign in with the key that created it.' };
  if (caller?.kind !== 'key' || caller.grant)
    return { wrong: 'Key not recognised, or revoked. A key starts with dsr_ and has 47 characters.' };
  return { key_id: caller.id };
}

/** Parses an amount in EUR to micro-euros; null for an empty field, undefined for invalid input. */
export function readAmount(typed: string): number | null | undefined {
  const text = typed
    .trim()
    .replace(/\s*(€|EUR)$/i, '')
    .replace(',', '.');
  if (text === '') return null;
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(text)) return undefined;
  const [whole = '0', part = ''] = text.split('.');
  const micros = Number(whole) * 1_000_000 + Number(part.padEnd(6, '0'));
  return micros > 0 ? micros : undefined;
}
