// `npm run buy -- <address> [--usdt] [--key <Idempotency-Key>]`: pays for one call with the stock x402 buyer
// on the local chain.
import { parseArgs } from 'node:util';
import { createPublicClient, formatUnits, http } from 'viem';
import { decoded, stockBuyer } from './buyer.ts';
import { ADDRESSES, ROLES, TOKEN } from './chain.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { usdt: { type: 'boolean', default: false }, key: { type: 'string' } },
});
const [url] = positionals;
if (url === undefined) throw new Error('which address?');
const token = values.usdt ? 'usdt' : 'usdc';
const payer = values.usdt ? ROLES.payerUsdt : ROLES.payer;

const reader = createPublicClient({ transport: http(process.env['X402_RPC_URL'] ?? 'http://127.0.0.1:8545') });
const holds = async (address: `0x${string}`) =>
  formatUnits(
    await reader.readContract({ address: ADDRESSES[token], abi: TOKEN, functionName: 'balanceOf', args: [address] }),
    6,
  );
const say = (name: string, text: string) => process.stdout.write(`${`${name}:`.padEnd(10)}${text}\n`);
const balances = async (name: string) =>
  say(
    name,
    `payer ${await holds(payer.address)}, merchant ${await holds(ROLES.merchant.address)} ${token.toUpperCase()}`,
  );

/** Prints what the stock client sends and receives. */
const told: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const signed = request.headers.has('payment-signature');
  const response = await fetch(request);
  const required = response.headers.get('payment-required');
  const asked = required === null ? [] : (decoded(required)['accepts'] as { amount: string; network: string }[]);
  const price = asked[0] ? `, ${formatUnits(BigInt(asked[0].amount), 6)} USD on ${asked[0].network}` : '';
  say(signed ? 'signed' : 'request', `${response.status} ${response.statusText}${price}`);
  return response;
};

await balances('before');
const headers = values.key === undefined ? {} : { 'Idempotency-Key': values.key };
const response = await stockBuyer(told, payer, token)(url, { headers });
const receipt = response.headers.get('payment-response');
const body = await response.text();
if (receipt !== null) say('receipt', JSON.stringify({ ...decoded(receipt), extensions: undefined }));
if (response.headers.has('idempotency-replayed')) say('repeated', 'true');
const members =
  response.headers.get('content-type') === 'application/json' ? Object.keys(JSON.parse(body) as object) : [];
say('answer', members.length > 0 ? `JSON with ${members.join(', ')}` : `${body.length} characters`);
await balances('after');
