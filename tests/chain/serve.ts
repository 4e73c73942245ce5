// `npm run chain`: starts a local chain and a facilitator, and prints the settings for a service on them.
import { noChain, ROLES, startChain } from './chain.ts';
import { startFacilitator } from './facilitator.ts';

/** Ports of chain and facilitator; `--free` picks free ones. */
const [CHAIN, FACILITATOR] = process.argv.includes('--free') ? [0, 0] : [8545, 8546];

const why = noChain();
if (why !== null) {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}
const chain = await startChain(CHAIN === 0 ? {} : { port: CHAIN });
const facilitator = await startFacilitator(chain.url, { port: FACILITATOR });
process.stdout.write(`export X402_PAY_TO=${ROLES.merchant.address}
export X402_FACILITATOR_URL=${facilitator.url}
export X402_RPC_URL=${chain.url}
`);
const stop = () => void Promise.all([facilitator.stop(), chain.stop()]).then(() => process.exit(0));
process.on('SIGTERM', stop).on('SIGINT', stop);
