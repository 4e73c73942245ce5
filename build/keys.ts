// `npm run keys`: the pairs that the service signs with, and `npm run keys -- rotate tokens|crawler`, which makes new ones.
import { ConfigError, readConfig } from '../config.ts';
import { crawlerKeys, rotateCrawlerKeys } from '../data/state/crawler-keys.ts';
import { rotateSigningKeys, signingKeys } from '../data/state/signing-keys.ts';
import { openStore, type Store, StoreError } from '../data/state/store.ts';

const print = (line: string) => void process.stdout.write(`${line}\n`);

const USAGE = 'usage: npm run keys [-- rotate tokens|crawler]';

/** What each ring is for, and what a new pair of it takes. */
const RINGS = {
  tokens: {
    about: 'ES256, signs access tokens and the agent card',
    after: 'Start every API process again: it signs with the new key from then on. The old one is published for a day.',
    list: async (store: Store, now: number) => (await signingKeys(store, now)).keys,
    rotate: async (store: Store, now: number) => (await rotateSigningKeys(store, now)).keys,
  },
  crawler: {
    about: 'Ed25519, signs requests of the crawler and its directory',
    after: 'The directory lists it at once, and the next night signs with it. The old one stays listed for a day.',
    list: crawlerKeys,
    rotate: rotateCrawlerKeys,
  },
} as const;

/** Answers the exit code. */
async function main([command, ring, ...rest]: string[]): Promise<number> {
  const chosen = ring === 'tokens' || ring === 'crawler' ? RINGS[ring] : undefined;
  const rotating = command === 'rotate' && chosen !== undefined && rest.length === 0;
  if (command !== undefined && !rotating) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const { DATA_DIR, DATABASE_URL } = readConfig(process.env);
  const store = await openStore({ dataDir: DATA_DIR, databaseUrl: DATABASE_URL });
  try {
    if (rotating) {
      const [made] = await chosen.rotate(store, Date.now());
      print(`new key ${made.kid} (${chosen.about})`);
      print(chosen.after);
      return 0;
    }
    for (const [name, { about, list }] of Object.entries(RINGS)) {
      print(`${name}: ${about}`);
      for (const [i, { kid }] of (await list(store, Date.now())).entries())
        print(`  ${kid}${i === 0 ? ', signs' : ', published until what it signed is over'}`);
    }
    return 0;
  } finally {
    await store.close();
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ConfigError) && !(error instanceof StoreError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
