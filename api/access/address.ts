// Client addresses: which X-Forwarded-For entry is trusted, and which addresses count as one caller.
import { isIP } from 'node:net';

/**
 * Client address of a request. With `hops` trusted proxies, it is the entry at that position from the right
 * of X-Forwarded-For, which the outermost trusted proxy wrote (contract section 1, TRUST_PROXY). With none
 * the header is ignored.
 */
export function clientAddress(socket: string, forwarded: string | undefined, hops: number): string {
  if (hops === 0 || forwarded === undefined) return socket;
  const entries = forwarded.split(',').map((entry) => bare(entry.trim()));
  const believed = entries[Math.max(0, entries.length - hops)] ?? '';
  return isIP(believed) === 0 ? socket : believed;
}

/** An address without brackets, port or zone: `[::1]:80`, `1.2.3.4:80`, `fe80::1%eth0`. */
function bare(entry: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1];
  if (bracketed !== undefined) return bracketed.replace(/%.*$/, '');
  return entry.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1').replace(/%.*$/, '');
}

/** The 16-bit groups of an IPv6 address, as the URL parser normalises it. */
function groups(address: string): string[] {
  const compact = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = compact.split('::');
  const left = head === '' ? [] : head.split(':');
  if (tail === undefined) return left;
  const right = tail === '' ? [] : tail.split(':');
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
}

/**
 * The address that limits and quotas count: an IPv4 address, or the /64 of an IPv6 address, since one
 * subscriber gets a whole /64. An IPv4 address mapped into IPv6 counts as the IPv4 address.
 */
export function countedAddress(address: string): string {
  if (isIP(address) === 4) return address;
  const plain = bare(address);
  if (isIP(plain) !== 6) return plain;
  const parts = groups(plain);
  if (parts.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    const bytes = parts.slice(6).flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]);
    return bytes.join('.');
  }
  return `${parts.slice(0, 4).join(':')}::/64`;
}

/**
 * The wider IPv6 block around an address returned by `countedAddress`, such as `2001:db8:1::/48`; null for
 * IPv4 and anything else.
 */
export function networkBlock(counted: string, bits: 48 | 56): string | null {
  const groups = /^([0-9a-f]+):([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)::\/64$/.exec(counted)?.slice(1);
  if (groups === undefined) return null;
  const last = (Number.parseInt(groups[3] ?? '0', 16) & 0xff00).toString(16);
  return bits === 48 ? `${groups.slice(0, 3).join(':')}::/48` : `${groups.slice(0, 3).join(':')}:${last}::/56`;
}
