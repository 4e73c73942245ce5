// E-mail addresses: which ones count as the same, and which are disposable.
import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';

export { normalEmail } from '../../data/model/email.ts';

/** Whether the domain of a normalised address, or a parent domain, offers disposable addresses. */
export function isDisposable(normal: string): boolean {
  const list = disposableEmailBlocklistSet();
  const labels = normal.slice(normal.lastIndexOf('@') + 1).split('.');
  return labels.some((_, i) => i < labels.length - 1 && list.has(labels.slice(i).join('.')));
}
