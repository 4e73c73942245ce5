// Side effects of the nightly run: clock, npm client, network and screen. Tests pass their own.

import { setTimeout } from 'node:timers/promises';
import { crawlerKeys } from '../../data/state/keys/crawler-keys.ts';
import { openStore } from '../../data/state/store.ts';
import { publicOnly, WEB_PORTS } from '../crawl/guard.ts';
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
}

/** Where the crawler's key is stored, and the base URL of its directory. */
export interface CrawlerIdentity {
  base_url: string;
  database_url: string | undefined;
}

/**
 * The real effects. `epoch` (seconds since 1970, SOURCE_DATE_EPOCH) stops the clock, so that equal inputs
 * give equal bytes.
 */
export function realEffects(epoch: number | undefined, { base_url, database_url }: CrawlerIdentity): Effects {
  const { stdout } = process;
  const now = () => (epoch === undefined ? new Date() : new Date(epoch * 1000));
  return {
    now,
    ticks: () => performance.now(),
    npm: npmClient(),
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
      columns: stdout.isTTY ? stdout.columns : undefined,
      ticks: () => performance.now(),
    }),
  };
}
