// Daily quotas by network address. One IPv6 customer has a /64, often a /56 or /48, so wider blocks have
// quotas of their own.
import type { Quotas } from '../../data/state/quotas.ts';
import { networkBlock } from './address.ts';

/** Units a day: for one address (an IPv4 address or an IPv6 /64), and for the IPv6 blocks around it. */
export interface NetworkQuota {
  name: string;
  address: number;
  /** By prefix length. */
  blocks: Readonly<Partial<Record<48 | 56, number>>>;
}

/** An exhausted quota and the block that it is for. */
export interface ExhaustedQuota {
  quota: number;
  /** `192.0.2.7` or `2001:db8:1::/48`. */
  block: string;
}

/**
 * Takes one unit from the quota of an address (see access/address.ts) and of its blocks, the narrowest first;
 * null when each had one left.
 *
 * @example
 * ```ts
 * const exhausted = await takeUnit(quotas, { name: 'owners', address: 40, blocks: { 48: 120 } }, '192.0.2.7', new Date());
 * if (exhausted !== null) reject(`${exhausted.block} has used its ${exhausted.quota} units`);
 * ```
 */
export async function takeUnit(
  quotas: Quotas,
  networkQuota: NetworkQuota,
  address: string,
  now: Date,
): Promise<ExhaustedQuota | null> {
  const { name, blocks } = networkQuota;
  const levels: ExhaustedQuota[] = [{ block: address, quota: networkQuota.address }];
  for (const bits of [56, 48] as const) {
    const quota = blocks[bits];
    const block = quota === undefined ? null : networkBlock(address, bits);
    if (quota !== undefined && block !== null) levels.push({ block, quota });
  }
  for (const level of levels)
    if ((await quotas.take({ name: `${name} ${level.block}`, quota: level.quota }, 1, now)) === 0) return level;
  return null;
}
