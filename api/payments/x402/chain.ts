// Reads the state of a payment from the chain, which decides while an outcome is unclear (payments.md 7.4).
import { setTimeout as sleep } from 'node:timers/promises';
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

/** First topics of events: Keccak-256 of their signatures. A test compares them with viem. */
export const EVENTS = {
  'Transfer(address,address,uint256)': '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  'AuthorizationUsed(address,bytes32)': '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  'AuthorizationCanceled(address,bytes32)': '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81',
} as const;
const TRANSFERRED = EVENTS['Transfer(address,address,uint256)'];
const USED = EVENTS['AuthorizationUsed(address,bytes32)'];
const CANCELED = EVENTS['AuthorizationCanceled(address,bytes32)'];
/** Selectors of functions: the first four bytes of the same. */
export const READS = {
  'authorizationState(address,bytes32)': '0xe94a0102',
  'nonceBitmap(address,uint256)': '0x4fe02b44',
} as const;

/** Blocks per query; most nodes allow ten times as many. */
const RANGE = 1_000n;
/** Maximum difference between the clocks of chain and service, in seconds. */
const SKEW = 300;

/** The used parts of answers of a node; numbers are hex texts. */
interface Block {
  number: string;
  timestamp: string;
}
interface Log {
  address: string;
  topics: string[];
  data: string;
  transactionHash: string;
  logIndex: string;
}
interface Receipt {
  status: string;
  logs: Log[];
}

/** One method of JSON-RPC; throws when the node has no answer. */
type Rpc = <T>(method: string, params: unknown[]) => Promise<T>;

const hex = (number: bigint) => `0x${number.toString(16)}`;
/** 32 bytes in hex, as in topics and arguments: an address, or a number. */
const word = (value: string | bigint) => BigInt(value).toString(16).padStart(64, '0');

/** Reads through a node's JSON-RPC. `timeout` in milliseconds for one request; one that fails is sent once more. */
export function rpcChain(address: string, timeout = 8_000): Chain {
  const { username, password } = new URL(address);
  // fetch refuses an address with a password.
  const url = address.replace(/\/\/[^/@]*@/, '//');
  const headers = {
    'Content-Type': 'application/json',
    ...(username && { Authorization: `Basic ${btoa(decodeURIComponent(`${username}:${password}`))}` }),
  };
  const send = async (body: string): Promise<unknown> => {
    const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(timeout) });
    const { result } = (await response.json()) as { result?: unknown };
    if (result === undefined) throw new Error(`The RPC node returned status ${response.status} without a result.`);
    return result;
  };
  const rpc: Rpc = async <T>(method: string, params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return (await send(body).catch(() => sleep(200).then(() => send(body)))) as T;
  };
  return {
    async look(transfer, since, hash) {
      try {
        return await look(rpc, transfer, since, hash);
      } catch {
        return { state: 'unknown' };
      }
    },
  };
}

async function look(rpc: Rpc, transfer: Transfer, since: number, hash: string | null): Promise<Finding> {
  if (hash !== null) {
    const finding = await inTransaction(rpc, transfer, hash);
    if (finding !== null) return finding;
  }
  // Both reads are at one block: a signature that is unused at a block after its expiry is never used.
  const block = await blockAt(rpc, 'latest');
  const [number, timestamp] = [BigInt(block.number), BigInt(block.timestamp)];
  if (!(await used(rpc, transfer, number))) {
    const over = timestamp > BigInt(transfer.valid_before);
    return over ? { state: 'void', reason: 'payment_expired' } : { state: 'unused' };
  }
  const first = await blockBefore(rpc, Math.floor(since / 1000) - SKEW, number);
  const finding = await (transfer.method === 'eip3009' ? byAuthorization : byPermit)(rpc, transfer, first, number);
  if (finding !== null) return finding;
  // Spent, but not to us. A node may have a state before it lists its events.
  return timestamp > BigInt(transfer.valid_before + SKEW)
    ? { state: 'void', reason: 'payment_revoked' }
    : { state: 'unknown' };
}

/** The transfer in a given transaction; null if it is not in it. A pending transaction is unknown. */
async function inTransaction(rpc: Rpc, transfer: Transfer, hash: string): Promise<Finding | null> {
  const receipt = await rpc<Receipt | null>('eth_getTransactionReceipt', [hash]);
  if (receipt !== null) {
    const log = receipt.status === '0x1' && paidBy(receipt.logs, transfer);
    return log && (await named(rpc, transfer, hash)) ? settled(log) : null;
  }
  const waiting = await rpc<object | null>('eth_getTransactionByHash', [hash]);
  return waiting === null ? null : { state: 'unknown' };
}

/** Whether a transaction uses this signature: its nonce is in the input. */
async function named(rpc: Rpc, { nonce }: Transfer, hash: string): Promise<boolean> {
  const { input } = await rpc<{ input: string }>('eth_getTransactionByHash', [hash]);
  return input.toLowerCase().includes(word(nonce));
}

async function used(rpc: Rpc, { method, asset, from, nonce }: Transfer, block: bigint): Promise<boolean> {
  const read = async (to: string, data: string) => {
    const result = await rpc<string>('eth_call', [{ to, data }, hex(block)]);
    if (!/^0x[0-9a-f]{64}$/i.test(result)) throw new Error(`${to} did not return 32 bytes.`);
    return BigInt(result);
  };
  if (method === 'eip3009')
    return (await read(asset, READS['authorizationState(address,bytes32)'] + word(from) + word(nonce))) !== 0n;
  const position = BigInt(nonce);
  const bits = await read(PERMIT2, READS['nonceBitmap(address,uint256)'] + word(from) + word(position >> 8n));
  return ((bits >> (position & 255n)) & 1n) === 1n;
}

/** The event among those of a transaction that is the transfer. */
function paidBy(logs: Log[], transfer: Transfer): Log | undefined {
  if (transfer.method === 'permit2') return logs.find((log) => pays(log, transfer));
  // The token emits AuthorizationUsed first, then Transfer.
  const topics = [USED, transfer.from, transfer.nonce];
  const use = logs.find((log) => log.address.toLowerCase() === transfer.asset && hasTopics(log, topics));
  return logs.find((log) => use && BigInt(log.logIndex) === BigInt(use.logIndex) + 1n && pays(log, transfer));
}

/** EIP-3009: the token emits an event for each used or revoked nonce. */
async function byAuthorization(rpc: Rpc, transfer: Transfer, first: bigint, last: bigint): Promise<Finding | null> {
  const emitted = (event: string, range: Range) =>
    logsOf(rpc, transfer.asset, [event, transfer.from, transfer.nonce], range);
  for (const range of ranges(first, last)) {
    const [use] = await emitted(USED, range);
    if (use) {
      const { logs } = await rpc<Receipt>('eth_getTransactionReceipt', [use.transactionHash]);
      const log = paidBy(logs, transfer);
      return log ? settled(log) : { state: 'void', reason: 'payment_spent_elsewhere' };
    }
    const [cancel] = await emitted(CANCELED, range);
    if (cancel) return { state: 'void', reason: 'payment_revoked' };
  }
  return null;
}

/** Permit2 emits no event: finds a transfer of the amount to us in a transaction that contains the nonce. */
async function byPermit(rpc: Rpc, transfer: Transfer, first: bigint, last: bigint): Promise<Finding | null> {
  for (const range of ranges(first, last)) {
    const logs = await logsOf(rpc, transfer.asset, [TRANSFERRED, transfer.from, transfer.to], range);
    for (const log of logs)
      if (pays(log, transfer) && (await named(rpc, transfer, log.transactionHash))) return settled(log);
  }
  return null;
}

/** Whether an event is the transfer: this token, from payer to us, the exact amount. */
const pays = (log: Log, { asset, from, to, amount }: Transfer): boolean =>
  log.address.toLowerCase() === asset &&
  hasTopics(log, [TRANSFERRED, from, to]) &&
  log.data.toLowerCase() === `0x${word(amount)}`;

const hasTopics = ({ topics }: Log, expected: readonly string[]): boolean =>
  topics.length === expected.length && topics.every((topic, at) => BigInt(topic) === BigInt(expected[at]!));

const settled = ({ transactionHash, logIndex }: Log): Finding => ({
  state: 'settled',
  hash: transactionHash,
  transfer: `${transactionHash}:${Number(logIndex)}`,
});

/** Events of a contract with these topics in a range of blocks. */
const logsOf = (rpc: Rpc, address: string, topics: readonly string[], [first, last]: Range): Promise<Log[]> =>
  rpc('eth_getLogs', [
    { address, topics: topics.map((topic) => `0x${word(topic)}`), fromBlock: hex(first), toBlock: hex(last) },
  ]);

const blockAt = (rpc: Rpc, number: string): Promise<Block> => rpc('eth_getBlockByNumber', [number, false]);

/** A block at or before a time, found in growing steps back from the last block. */
async function blockBefore(rpc: Rpc, seconds: number, last: bigint): Promise<bigint> {
  for (let step = 64n, at = last; ; step *= 4n) {
    at = at > step ? at - step : 0n;
    if (at === 0n) return at;
    if (BigInt((await blockAt(rpc, hex(at))).timestamp) <= BigInt(seconds)) return at;
  }
}

/** First and last block. */
type Range = readonly [bigint, bigint];

/** Ranges of blocks, newest first, since payments are recent. */
function* ranges(first: bigint, last: bigint): Generator<Range> {
  for (let to = last; to >= first; to -= RANGE) yield [to - RANGE + 1n > first ? to - RANGE + 1n : first, to];
}
