// Signing in with one's own key, and the little that the forms ask: what counts as a key here, what counts as an amount.
import type { Identify } from '../access/caller.ts';

/** Whose key it is, or why it signs nobody in. */
export type SignedIn = { key_id: string } | { wrong: string };

/** Signs in by a key itself. Neither an operator's key, which has no credit, nor an access token does (contract section 3). */
export async function signIn(identify: Identify, typed: string): Promise<SignedIn> {
  const secret = typed.trim().replace(/^Bearer +/i, '');
  const caller = secret === '' ? null : await identify({ via: 'authorization', secret });
  if (caller?.kind === 'admin')
    return { wrong: 'This is an operator’s key. It has no credit to spend; use a key of your own.' };
  if (caller?.kind !== 'key' || caller.grant)
    return { wrong: 'This is no key of ours, or it was revoked. A key begins with dsr_ and has 47 characters.' };
  return { key_id: caller.id };
}

/** An amount as people write it, in micro-euros; null for an empty field, undefined for what is none. */
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
