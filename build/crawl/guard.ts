// Which addresses the crawler may connect to: public ones, checked at every connection, so that no name leads inside.
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent } from 'undici';

/** Whether an address may be connected to. */
export type Allowed = (address: string) => boolean;

/** Only addresses that are routed in the public Internet; IPv4 inside IPv6 counts as what it is. */
export const publicOnly: Allowed = (address) =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';

/** A page lies where the crawler does not go: a private address, another scheme, a port of another service. */
export class Refused extends Error {}

/** Milliseconds for a connection to be made. */
const CONNECT = 10_000;

/**
 * An HTTP client that looks every name up itself and connects to nothing but what it found allowed: a name that answers
 * differently the second time gains nothing. Redirects are not followed; each is a request of its own (RFC 9110 section 15.4).
 */
export function guardedAgent(allowed: Allowed): Agent {
  const checked: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '', 0);
      const wrong = found.find(({ address }) => !allowed(address));
      if (wrong) return callback(new Refused(`${hostname} leads to ${wrong.address}, which is not public`), '', 0);
      if (options.all) return callback(null, found);
      const [first] = found;
      return callback(null, first?.address ?? '', first?.family ?? 0);
    });
  };
  return new Agent({ connect: { lookup: checked, timeout: CONNECT }, connections: 2, pipelining: 1 });
}

/** Throws Refused for an address that is none of the web's, or that names a host by a number that is not allowed. */
export function checkUrl(url: URL, allowed: Allowed): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Refused(`${url.protocol} is not fetched`);
  if (url.username !== '' || url.password !== '') throw new Refused('an address with a password is not fetched');
  // A host given as a number is not looked up, so it is looked at here.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (ipaddr.isValid(host) && !allowed(host)) throw new Refused(`${host} is not public`);
}
