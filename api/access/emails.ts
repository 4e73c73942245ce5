// E-mail addresses: which ones count as the same, and which are thrown away after use.
import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';

export { normalEmail } from '../../data/model/email.ts';

/** Whether the domain of a normal address, or one above it, gives out addresses to throw away. */
export function isDisposable(normal: string): boolean {
  const list = disposableEmailBlocklistSet();
  const labels = normal.slice(normal.lastIndexOf('@') + 1).split('.');
  return labels.some((_, i) => i < labels.length - 1 && list.has(labels.slice(i).join('.')));
}
