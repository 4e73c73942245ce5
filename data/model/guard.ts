// Network addresses that untrusted URLs may reach: public ones only, checked at every connection, so that DNS
// cannot lead to a private network.
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, fetch } from 'undici';

/** Whether an address may be connected to. */
export type Allowed = (address: string) => boolean;

/**
 * The unicast addresses of the Internet (RFC 4291, section 2.4), and blocks among them that lead elsewhere: Teredo and
 * other protocols, documentation, 6to4.
 */
const UNICAST = '2000::/3';
const ELSEWHERE = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/**
 * Allows only addresses that are routed in the public Internet. An IPv4 address mapped into IPv6 is judged as IPv4; every
 * other IPv6 address outside 2000::/3 is refused, such as `::127.0.0.1` and those that a NAT64 turns into IPv4.
 */
export const publicOnly: Allowed = (address) => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.range() === 'unicast';
  const within = (block: string) => parsed.match(ipaddr.IPv6.parseCIDR(block));
  return within(UNICAST) && !ELSEWHERE.some(within);
};

/** Ports of the web. Other ports belong to other services, which a request must not reach. */
export const WEB_PORTS: readonly number[] = [80, 443];

/** The URL is not allowed: a private address, another scheme, a port of another service. */
export class Refused extends Error {}

/** `host:port` pairs that may be reached wherever they are (COLLECT_ALLOW_HOSTS); IPv6 without brackets. */
export type OpenHosts = ReadonlySet<string>;

const NO_HOSTS: OpenHosts = new Set();

/** Milliseconds until a connection must be open. */
const CONNECT = 10_000;

/**
 * An HTTP client that resolves names itself and connects only to addresses that it found allowed, so that DNS
 * rebinding gains nothing. Redirects are not followed; each is a new request (RFC 9110 section 15.4). Hosts in
 * `open` are not checked.
 */
export function guardedAgent(allowed: Allowed, open = NO_HOSTS): Agent {
  const checked: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const wrong = addresses.find(({ address }) => !allowed(address));
      if (wrong)
        return callback(new Refused(`${hostname} resolves to ${wrong.address}, which is not a public address`), '', 0);
      if (options.all) return callback(null, addresses);
      const [first] = addresses;
      return callback(null, first?.address ?? '', first?.family ?? 0);
    });
  };
  const guarded = buildConnector({ lookup: checked, timeout: CONNECT });
  const unguarded = buildConnector({ timeout: CONNECT });
  const connect: buildConnector.connector = (options, callback) =>
    (open.has(hostPort(options)) ? unguarded : guarded)(options, callback);
  return new Agent({ connect, connections: 2, pipelining: 1 });
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** `host:port` as in `OpenHosts`. */
function hostPort({ protocol, hostname, port }: { protocol: string; hostname: string; port: string }): string {
  return `${hostname.replace(/^\[(.*)\]$/, '$1')}:${port === '' ? DEFAULT_PORTS[protocol] : port}`;
}

/**
 * Throws Refused for a URL that is not http(s), has a port that is not in `ports` (null: any), or names its
 * host by an address that is not allowed. Hosts in `open` may have any port and address.
 */
export function checkUrl(url: URL, allowed: Allowed, ports: readonly number[] | null, open = NO_HOSTS): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new Refused(`the URL must begin with http: or https: (got ${url.protocol})`);
  if (url.username !== '' || url.password !== '') throw new Refused('a URL must not contain a password');
  if (open.has(hostPort(url))) return;
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol]! : Number(url.port);
  if (ports !== null && !ports.includes(port))
    throw new Refused(`port ${port} is not allowed; use ${ports.join(' or ')}`);
  // A numeric host is not resolved, so the lookup cannot check it.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (ipaddr.isValid(host) && !allowed(host)) throw new Refused(`${host} is not a public address`);
}

/** Milliseconds after which a failed fetch of a document ends, whatever the cause. */
const FAILURE_TIME = 3_000;

/**
 * `fetch` for untrusted URLs, such as client ID metadata documents: https on port 443 of public addresses
 * only, checked before a connection is made. Every failure takes `failureTime` milliseconds, so that the time
 * reveals nothing about the network.
 */
export function guardedFetch(allowed: Allowed, failureTime = FAILURE_TIME): typeof globalThis.fetch {
  const dispatcher = guardedAgent(allowed);
  const guarded = async (input: string | URL | Request, init: RequestInit = {}) => {
    const end = wait(failureTime, undefined, { ref: false });
    try {
      const url = new URL(String(input));
      if (url.protocol !== 'https:') throw new Refused(`the URL must begin with https: (got ${url.protocol})`);
      checkUrl(url, allowed, [443]);
      // The dispatcher of the caller would check an address only after it has connected.
      return await fetch(url, { ...init, headers: [...new Headers(init.headers)], dispatcher } as Parameters<
        typeof fetch
      >[1]);
    } catch (error) {
      await end;
      throw error;
    }
  };
  return guarded as unknown as typeof globalThis.fetch;
}
