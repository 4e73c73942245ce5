// A facilitator with a hot key over HTTP, for tests and local trials; tests make it fail like a real one.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { x402Facilitator } from '@x402/core/facilitator';
import type { SettleRequest, SettleResponse, VerifyResponse } from '@x402/core/types';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { createPublicClient, createWalletClient, http } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { createNonceManager, jsonRpc } from 'viem/nonce';

type Task = 'verify' | 'settle';
type Work = (task: Task, request: SettleRequest) => Promise<SettleResponse | VerifyResponse>;

export interface TestFacilitator {
  url: string;
  /** Calls so far. */
  count: Record<Task, number>;
  /**
   * Called before the work: may change, delay or refuse a request. `null` as an answer cuts the connection.
   */
  between: (task: Task, request: SettleRequest, work: () => ReturnType<Work>) => Promise<object | null>;
  /** Resets `between`. */
  plain(): void;
  /** Stops listening, like a facilitator that is down. */
  stop(): Promise<void>;
}

/** Verifies and settles. `patience`: milliseconds to wait for a transaction. */
function worker(rpc: string, patience: number): Work {
  // Its own nonce manager and queue, since viem shares one among all chains of a process (payments.md 7.9).
  const nonceManager = createNonceManager({ source: jsonRpc() });
  const account = mnemonicToAccount('test test test test test test test test test test test junk', { nonceManager });
  const reader = createPublicClient({ chain: base, transport: http(rpc), pollingInterval: 50 });
  const wallet = createWalletClient({ account, chain: base, transport: http(rpc) });
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(send: () => Promise<T>): Promise<T> => {
    const mine = last.then(send, send);
    last = mine.catch(() => {});
    return mine;
  };
  const signer = toFacilitatorEvmSigner(
    {
      address: account.address,
      readContract: (args) => reader.readContract({ ...args, account } as Parameters<typeof reader.readContract>[0]),
      verifyTypedData: (args) => reader.verifyTypedData(args as Parameters<typeof reader.verifyTypedData>[0]),
      writeContract: (args) =>
        inTurn(() => wallet.writeContract(args as unknown as Parameters<typeof wallet.writeContract>[0])),
      sendTransaction: (args) => inTurn(() => wallet.sendTransaction(args)),
      waitForTransactionReceipt: (args) => reader.waitForTransactionReceipt(args),
      getCode: (args) => reader.getCode(args),
    },
    { confirmationTimeoutMs: patience },
  );
  const facilitator = new x402Facilitator().register('eip155:8453', new ExactEvmScheme(signer));
  return (task, { paymentPayload, paymentRequirements }) => facilitator[task](paymentPayload, paymentRequirements);
}

/** Starts one on a port, or on a free one. */
export async function startFacilitator(
  rpc: string,
  { port = 0, patience = 10_000 }: { port?: number; patience?: number } = {},
): Promise<TestFacilitator> {
  const work = worker(rpc, patience);
  const plain: TestFacilitator['between'] = (_task, _request, go) => go();
  const count = { verify: 0, settle: 0 };
  const server = createServer(async (request, response) => {
    const task = request.url === '/verify' ? 'verify' : request.url === '/settle' ? 'settle' : null;
    if (task === null) return void response.writeHead(404).end();
    count[task] += 1;
    const asked = JSON.parse(await text(request)) as SettleRequest;
    const answer = await it.between(task, asked, () => work(task, asked)).catch((error: Error) => error);
    if (answer === null) return void response.destroy();
    if (answer instanceof Error) return void response.writeHead(500).end(answer.message);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const it: TestFacilitator = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count,
    between: plain,
    plain() {
      it.between = plain;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return it;
}

async function text(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const piece of request) body += String(piece);
  return body;
}
