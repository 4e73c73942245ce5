// E-mail addresses: which ones count as the same, and which are disposable.
import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';

export { normalEmail } from '../../data/model/email.ts';

/** The function makes a new set of the 9,000 domains on every call. */
const DISPOSABLE = disposableEmailBlocklistSet();

/** Whether the domain of a normalised address, or a parent domain, offers disposable addresses. */
export function isDisposable(normal: string): boolean {
  const labels = normal.slice(normal.lastIndexOf('@') + 1).split('.');
  return labels.some((_, i) => i < labels.length - 1 && DISPOSABLE.has(labels.slice(i).join('.')));
}
