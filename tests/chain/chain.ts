// A local chain like Base: anvil with doubles of the tokens at their real addresses.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createPublicClient, createTestClient, createWalletClient, type Hex, http, parseAbi } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { freePort } from '../support/free-port.ts';
import RUNTIME from './runtime.json' with { type: 'json' };

/** Addresses of Base, which are the same here. */
export const ADDRESSES = {
  usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  usdt: '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2',
  permit2: '0x000000000022D473030F116dDEE9F6B43aC78BA3',
  proxy: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  multicall: '0xcA11bde05977b3631167028862bE2a173976CA11',
} as const;

const CODE: Record<keyof typeof ADDRESSES, string> = {
  usdc: RUNTIME.TestUSDC,
  usdt: RUNTIME.TestUSDT,
  permit2: RUNTIME.TestPermit2,
  proxy: RUNTIME.TestX402ExactProxy,
  multicall: RUNTIME.TestMulticall3,
};

/** Anvil's public mnemonic. */
const MNEMONIC = 'test test test test test test test test test test test junk';
const account = (addressIndex: number) => mnemonicToAccount(MNEMONIC, { addressIndex });

/**
 * Accounts by role. Payers have 1,000 USDC or USDT, and Permit2 is approved unless the name has `Unapproved`.
 */
export const ROLES = {
  facilitator: account(0),
  merchant: account(1),
  payer: account(2),
  poor: account(3),
  payerUsdt: account(4),
  payerUsdtUnapproved: account(5),
  stranger: account(6),
} as const;
export type Role = (typeof ROLES)[keyof typeof ROLES];

export const TOKEN = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function mint(address,uint256)',
  'function approve(address,uint256) returns (bool)',
  'function transfer(address,uint256) returns (bool)',
]);

/** Why this machine has no chain; null when it has one. */
export function noChain(): string | null {
  return binary() === null ? `no anvil for ${process.platform} ${process.arch} among the packages` : null;
}

function binary(): string | null {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  try {
    const found = createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${process.platform}-${arch}/package.json`);
    const file = join(dirname(found), 'bin', 'anvil');
    return existsSync(file) ? file : null;
  } catch {
    return null;
  }
}

export type TestChain = Awaited<ReturnType<typeof startChain>>;

/** Starts a chain with a block for each transaction, or every `blockTime` seconds. */
export async function startChain({ port, blockTime }: { port?: number; blockTime?: number } = {}) {
  const file = binary();
  if (file === null) throw new Error(noChain() ?? '');
  const at = port ?? (await freePort());
  const args = ['--host', '127.0.0.1', '--port', String(at), '--chain-id', '8453', '--mnemonic', MNEMONIC, '--silent'];
  if (blockTime !== undefined) args.push('--block-time', String(blockTime));
  const child = spawn(file, args, { stdio: 'ignore' });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `http://127.0.0.1:${at}`;
  const transport = http(url);
  const node = createTestClient({ mode: 'anvil', chain: base, transport });
  const reader = createPublicClient({ chain: base, transport, pollingInterval: 50 });
  for (let tries = 0; ; tries++) {
    if (child.exitCode !== null || tries > 400) throw new Error(`anvil does not answer on port ${at}`);
    if ((await reader.getChainId().catch(() => 0)) === 8453) break;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  for (const [name, address] of Object.entries(ADDRESSES))
    await node.setCode({ address, bytecode: CODE[name as keyof typeof CODE] as Hex });

  const wallet = (role: Role) => createWalletClient({ account: role, chain: base, transport });
  const mined = async (sent: Promise<Hex>) => void (await reader.waitForTransactionReceipt({ hash: await sent }));
  const write = (
    role: Role,
    token: keyof typeof ADDRESSES,
    functionName: 'mint' | 'transfer' | 'approve',
    to: Hex,
    value: bigint,
  ) => mined(wallet(role).writeContract({ address: ADDRESSES[token], abi: TOKEN, functionName, args: [to, value] }));
  const mint = (token: 'usdc' | 'usdt', role: Role, value = 1_000_000_000n) =>
    write(ROLES.stranger, token, 'mint', role.address, value);
  await mint('usdc', ROLES.payer);
  await mint('usdt', ROLES.payerUsdt);
  await mint('usdt', ROLES.payerUsdtUnapproved);
  await write(ROLES.payerUsdt, 'usdt', 'approve', ADDRESSES.permit2, 2n ** 256n - 1n);

  return {
    url,
    node,
    reader,
    wallet,
    mint,
    write,
    balance: (token: 'usdc' | 'usdt', role: Role) =>
      reader.readContract({ address: ADDRESSES[token], abi: TOKEN, functionName: 'balanceOf', args: [role.address] }),
    async stop() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
