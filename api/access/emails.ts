// E-mail addresses: which ones count as the same, and which are disposable.
import { createRequire } from 'node:module';

export { normalEmail } from '../../data/model/email.ts';

let disposable: ReadonlySet<string> | undefined;

/** The 9,000 domains of disposable addresses, loaded for the first address. */
function disposableDomains(): ReadonlySet<string> {
  if (disposable === undefined) {
    const list = createRequire(import.meta.url)('disposable-email-domains-js');
    disposable = (list as typeof import('disposable-email-domains-js')).disposableEmailBlocklistSet();
  }
  return disposable;
}

/** Whether the domain of a normalised address, or a parent domain, offers disposable addresses. */
export function isDisposable(normal: string): boolean {
  const domains = disposableDomains();
  const labels = normal.slice(normal.lastIndexOf('@') + 1).split('.');
  return labels.some((_, i) => i < labels.length - 1 && domains.has(labels.slice(i).join('.')));
}
