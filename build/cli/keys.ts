// `npm run keys` lists the signing keys; `rotate tokens|crawler|releases` makes new ones, `forget <email>` erases an
// address.
import { ConfigError, readConfig } from '../../config.ts';
import { normalEmail } from '../../data/model/email.ts';
import { createPrivateFiles } from '../../data/model/permissions.ts';
import { commandLine } from '../../data/model/program.ts';
import { crawlerKeys, rotateCrawlerKeys } from '../../data/state/keys/crawler-keys.ts';
import { releaseKeys, rotateReleaseKeys } from '../../data/state/keys/release-keys.ts';
import { rotateSigningKeys, signingKeys } from '../../data/state/keys/signing-keys.ts';
import { forgetAddress, NotErasable } from '../../data/state/ops/forget.ts';
import { forgetMails } from '../../data/state/outbox.ts';
import { openStore, type Store, StoreError } from '../../data/state/store.ts';

const print = (line: string) => void process.stdout.write(`${line}\n`);

const USAGE = `usage: ${commandLine('keys', '[rotate tokens|crawler|releases | forget <email> [--revoke]]')}`;

/** The key rings: what each signs, and what the operator does after a rotation. */
const RINGS = {
  tokens: {
    about: 'ES256, signs access tokens and the agent card',
    after: 'Restart every API process; it then signs with the new key. The old key stays published for a day.',
    list: async (store: Store, now: number) => (await signingKeys(store, now)).keys,
    rotate: async (store: Store, now: number) => (await rotateSigningKeys(store, now)).keys,
  },
  crawler: {
    about: 'Ed25519, signs requests of the crawler and its directory',
    after:
      'The directory lists it immediately, and the next nightly run signs with it. The old key stays listed for a day.',
    list: crawlerKeys,
    rotate: rotateCrawlerKeys,
  },
  releases: {
    about: 'Ed25519, signs the manifests of releases',
    after: 'The next release is signed with it. The old key stays listed, because the releases that it signed stay.',
    list: releaseKeys,
    rotate: rotateReleaseKeys,
  },
} as const;

/** Erases an address and prints how many rows and files contained it. */
async function forget(store: Store, dataDir: string, email: string, revoke: boolean): Promise<number> {
  try {
    const erased = await forgetAddress(store, email, Date.now(), revoke);
    const normal = normalEmail(email);
    const mails = await forgetMails(dataDir, { names: (address) => normalEmail(address) === normal });
    print(`erased from ${store.place}`);
    for (const [table, rows] of Object.entries({ ...erased, 'outbox files': mails })) print(`  ${table}: ${rows}`);
    print(
      'Not erased: backups, ledger rows (they contain the id of the key), operators’ notes, data at the payment provider.',
    );
    return 0;
  } catch (error) {
    if (!(error instanceof NotErasable)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

/** Returns the exit code. */
async function main([command, ring, ...rest]: string[]): Promise<number> {
  const chosen = Object.hasOwn(RINGS, ring ?? '') ? RINGS[ring as keyof typeof RINGS] : undefined;
  const forgetting = command === 'forget' && ring !== undefined && (rest.length === 0 || rest.join() === '--revoke');
  const rotating = command === 'rotate' && chosen !== undefined && rest.length === 0;
  if (command !== undefined && !rotating && !forgetting) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const { DATA_DIR, DATABASE_URL } = readConfig(process.env);
  const store = await openStore({ dataDir: DATA_DIR, databaseUrl: DATABASE_URL });
  try {
    if (forgetting) return await forget(store, DATA_DIR, ring, rest.length > 0);
    if (rotating) {
      const [made] = await chosen.rotate(store, Date.now());
      print(`new key ${made.kid} (${chosen.about})`);
      print(chosen.after);
      return 0;
    }
    for (const [name, { about, list }] of Object.entries(RINGS)) {
      print(`${name}: ${about}`);
      for (const [i, { kid }] of (await list(store, Date.now())).entries())
        print(`  ${kid}${i === 0 ? ', signs' : ', published until its last signature expires'}`);
    }
    return 0;
  } finally {
    await store.close();
  }
}

try {
  createPrivateFiles();
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ConfigError) && !(error instanceof StoreError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
