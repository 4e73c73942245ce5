// Which e-mail domain proves ownership of a record: the record's host or a parent of it, unless it is open to
// all.
import { createRequire } from 'node:module';
import { domainToASCII } from 'node:url';
import type { Release } from '../../data/releases/release.ts';
import { fold } from '../../packs/define/text.ts';
import { isDisposable } from '../access/emails.ts';

/**
 * Names below a private suffix of the public suffix list (github.io) belong to different people, like those
 * below co.uk.
 */
const SUFFIXES = { allowPrivateDomains: true } as const;

const require = createRequire(import.meta.url);
// Loaded for the first owner: else every thread would keep some 3 MB of suffixes and providers in memory.
let suffixes: typeof import('tldts') | undefined;
let providers: ReadonlySet<string> | undefined;

/** The parser of host names, with the public suffix list. */
function hostNames(): typeof import('tldts') {
  suffixes ??= require('tldts') as typeof import('tldts');
  return suffixes;
}

/** The domains of mail providers that are open to all. */
function freeProviders(): ReadonlySet<string> {
  providers ??= new Set(require('email-providers/all.json') as string[]);
  return providers;
}

/** The domain of an e-mail address in ASCII and lower case, without a final dot; null for an invalid one. */
export function mailDomain(email: string): string | null {
  const domain = domainToASCII(email.slice(email.lastIndexOf('@') + 1).toLowerCase()).replace(/\.$/, '');
  return domain === '' || hostNames().parse(domain).isIp ? null : domain;
}

/** The host of a value of a domain attribute, which is a host name or a URL; null without one. */
export function parseHost(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const { hostname, isIp } = hostNames().parse(value.trim());
  const host = domainToASCII((hostname ?? '').toLowerCase()).replace(/\.$/, '');
  return host === '' || isIp || !host.includes('.') ? null : host;
}

/**
 * Whether the domain is the host or a parent of it, but no public suffix: `a.example` for `www.a.example`,
 * never `example`.
 */
export function coversHost(domain: string, host: string): boolean {
  return (domain === host || host.endsWith(`.${domain}`)) && hostNames().getDomain(domain, SUFFIXES) !== null;
}

/** The domains whose addresses prove ownership of a host, the most likely first: `www.a.example` has `a.example`. */
export function ownerDomains(host: string): string[] {
  const parent = hostNames().getDomain(host, SUFFIXES);
  return parent === null ? [] : [...new Set([host.replace(/^www\./, ''), parent])];
}

/**
 * Whether anyone can get an address at the domain: mail providers, disposable addresses, and names below
 * them.
 */
export function isOpenToAll(domain: string): boolean {
  const free = freeProviders();
  const registered = hostNames().getDomain(domain) ?? domain;
  return free.has(domain) || free.has(registered) || isDisposable(`x@${domain}`);
}

/** Records read at once, and in total; with more, the domain counts as shared. */
const PAGE = 200;
const MOST = 4_000;

/** The number of records whose host the domain covers, counted up to `bound` + 1. */
export async function countDomainRecords({ engine, pack }: Release, domain: string, bound: number): Promise<number> {
  const attribute = pack.owner.domain;
  if (attribute === null) return 0;
  const where = [{ kind: 'like' as const, attribute, needle: fold(domain) }];
  const sort = { key: 'quality', descending: true };
  let [count, scanned] = [0, 0];
  let after: Awaited<ReturnType<Release['engine']['search']>>['next'] = null;
  do {
    const page = await engine.search({ where, sort, after, limit: PAGE, total: false });
    for (const { body } of await engine.bodies(page.ordinals)) {
      const host = parseHost((JSON.parse(body) as { attributes: Record<string, unknown> }).attributes[attribute]);
      if (host !== null && coversHost(domain, host)) count++;
    }
    scanned += page.ordinals.length;
    after = page.next;
  } while (after !== null && count <= bound && scanned < MOST);
  return after !== null && count <= bound ? bound + 1 : count;
}
