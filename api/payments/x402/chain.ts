// Reads the state of a payment from the chain, which decides while an outcome is unclear (payments.md 7.4).
import { createPublicClient, decodeEventLog, http, type Log, type PublicClient, parseAbi, parseEventLogs } from 'viem';
import type { Transfer } from './signed.ts';

/**
 * `settled`: the transfer to us is on the chain. `unused`: not yet, but possible. `void`: impossible, since
 * it expired or was revoked. `unknown`: the node has no answer.
 */
export type Finding =
  | { state: 'settled'; hash: string; transfer: string }
  | { state: 'unused' }
  | { state: 'void'; reason: string }
  | { state: 'unknown' };

export interface Chain {
  /**
   * Never throws. `since` is when the payment was first seen, in milliseconds; `hash` a transaction it may be
   * in.
   */
  look(transfer: Transfer, since: number, hash: string | null): Promise<Finding>;
}

/** Uniswap's Permit2, at the same address on every chain. */
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';

const EVENTS = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
]);
const [TRANSFERRED, USED, CANCELED] = EVENTS;
const READS = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function nonceBitmap(address owner, uint256 word) view returns (uint256)',
]);

/** Blocks per query; most nodes allow ten times as many. */
const RANGE = 1_000n;
/** Maximum difference between the clocks of chain and service, in seconds. */
const SKEW = 300;

type Hex = `0x${string}`;

/** Reads through a node's JSON-RPC. `timeout` in milliseconds for one request. */
export function rpcChain(url: string, timeout = 8_000): Chain {
  const client = createPublicClient({ transport: http(url, { timeout, retryCount: 1, retryDelay: 200 }) });
  return {
    async look(transfer, since, hash) {
      try {
        return await look(client, transfer, since, hash as Hex | null);
      } catch {
        return { state: 'unknown' };
      }
    },
  };
}

async function look(client: PublicClient, transfer: Transfer, since: number, hash: Hex | null): Promise<Finding> {
  if (hash !== null) {
    const finding = await inTransaction(client, transfer, hash);
    if (finding !== null) return finding;
  }
  // Both reads are at one block: a signature that is unused at a block after its expiry is never used.
  const { number, timestamp } = await client.getBlock();
  if (!(await used(client, transfer, number))) {
    const over = timestamp > BigInt(transfer.valid_before);
    return over ? { state: 'void', reason: 'payment_expired' } : { state: 'unused' };
  }
  const first = await blockBefore(client, Math.floor(since / 1000) - SKEW, number);
  const finding = await (transfer.method === 'eip3009' ? byAuthorization : byPermit)(client, transfer, first, number);
  if (finding !== null) return finding;
  // Spent, but not to us. A node may have a state before it lists its events.
  return timestamp > BigInt(transfer.valid_before + SKEW)
    ? { state: 'void', reason: 'payment_revoked' }
    : { state: 'unknown' };
}

/** The transfer in a given transaction; null if it is not in it. A pending transaction is unknown. */
async function inTransaction(client: PublicClient, transfer: Transfer, hash: Hex): Promise<Finding | null> {
  const absent = (error: Error) => {
    if (/NotFound/.test(error.name)) return null;
    throw error;
  };
  const receipt = await client.getTransactionReceipt({ hash }).catch(absent);
  if (receipt !== null) {
    const log = receipt.status === 'success' && paidBy(receipt.logs, transfer);
    return log && (await named(client, transfer, hash)) ? settled(log) : null;
  }
  const waiting = await client.getTransaction({ hash }).catch(absent);
  return waiting === null ? null : { state: 'unknown' };
}

/** Whether a transaction uses this signature: its nonce is in the input. */
async function named(client: PublicClient, { nonce }: Transfer, hash: Hex): Promise<boolean> {
  const { input } = await client.getTransaction({ hash });
  return input.includes(BigInt(nonce).toString(16).padStart(64, '0'));
}

async function used(client: PublicClient, { method, asset, from, nonce }: Transfer, block: bigint): Promise<boolean> {
  const at = { abi: READS, blockNumber: block } as const;
  if (method === 'eip3009')
    return client.readContract({
      ...at,
      address: asset as Hex,
      functionName: 'authorizationState',
      args: [from as Hex, nonce as Hex],
    });
  const position = BigInt(nonce);
  const word = await client.readContract({
    ...at,
    address: PERMIT2,
    functionName: 'nonceBitmap',
    args: [from as Hex, position >> 8n],
  });
  return ((word >> (position & 255n)) & 1n) === 1n;
}

/** The event among those of a transaction that is the transfer. */
function paidBy(logs: Log[], transfer: Transfer): Log | undefined {
  if (transfer.method === 'permit2') return logs.find((log) => pays(log, transfer));
  // The token emits AuthorizationUsed first, then Transfer.
  const use = parseEventLogs({ abi: [USED], logs }).find(
    ({ address, args }) =>
      address.toLowerCase() === transfer.asset &&
      args.authorizer.toLowerCase() === transfer.from &&
      args.nonce === transfer.nonce,
  );
  return logs.find((log) => use?.logIndex != null && log.logIndex === use.logIndex + 1 && pays(log, transfer));
}

/** EIP-3009: the token emits an event for each used or revoked nonce. */
async function byAuthorization(
  client: PublicClient,
  transfer: Transfer,
  first: bigint,
  last: bigint,
): Promise<Finding | null> {
  const address = transfer.asset as Hex;
  const args = { authorizer: transfer.from as Hex, nonce: transfer.nonce as Hex };
  for (const [fromBlock, toBlock] of ranges(first, last)) {
    const [use] = await client.getLogs({ address, event: USED, args, fromBlock, toBlock });
    if (use) {
      const { logs } = await client.getTransactionReceipt({ hash: use.transactionHash });
      const log = paidBy(logs, transfer);
      return log ? settled(log) : { state: 'void', reason: 'payment_spent_elsewhere' };
    }
    const [cancel] = await client.getLogs({ address, event: CANCELED, args, fromBlock, toBlock });
    if (cancel) return { state: 'void', reason: 'payment_revoked' };
  }
  return null;
}

/** Permit2 emits no event: finds a transfer of the amount to us in a transaction that contains the nonce. */
async function byPermit(
  client: PublicClient,
  transfer: Transfer,
  first: bigint,
  last: bigint,
): Promise<Finding | null> {
  const args = { from: transfer.from as Hex, to: transfer.to as Hex };
  for (const [fromBlock, toBlock] of ranges(first, last)) {
    const address = transfer.asset as Hex;
    const logs = await client.getLogs({ address, event: TRANSFERRED, args, fromBlock, toBlock });
    for (const log of logs)
      if (pays(log, transfer) && (await named(client, transfer, log.transactionHash))) return settled(log);
  }
  return null;
}

/** Whether an event is the transfer: this token, from payer to us, the exact amount. */
function pays(log: Log, { asset, from, to, amount }: Transfer): boolean {
  if (log.address.toLowerCase() !== asset) return false;
  try {
    const { args } = decodeEventLog({ abi: [TRANSFERRED], data: log.data, topics: log.topics });
    return args.from.toLowerCase() === from && args.to.toLowerCase() === to && args.value === amount;
  } catch {
    return false;
  }
}

const settled = (log: Log): Finding => ({
  state: 'settled',
  hash: log.transactionHash ?? '',
  transfer: `${log.transactionHash}:${log.logIndex}`,
});

/** A block at or before a time, found in growing steps back from the last block. */
async function blockBefore(client: PublicClient, seconds: number, last: bigint): Promise<bigint> {
  for (let step = 64n, at = last; ; step *= 4n) {
    at = at > step ? at - step : 0n;
    if (at === 0n) return at;
    const { timestamp } = await client.getBlock({ blockNumber: at });
    if (timestamp <= BigInt(seconds)) return at;
  }
}

/** Ranges of blocks, newest first, since payments are recent. */
function* ranges(first: bigint, last: bigint): Generator<[bigint, bigint]> {
  for (let to = last; to >= first; to -= RANGE) yield [to - RANGE + 1n > first ? to - RANGE + 1n : first, to];
}
