// Entry of the nightly run. Exits with 0 when every step succeeded; USAGE lists the options.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { olderFormat } from '../data/index/container.ts';
import { INDEX_FILE, INDEX_FOLDER } from '../data/model/layout.ts';
import { createPrivateFiles } from '../data/model/permissions.ts';
import { commandLine, stopWithNpm } from '../data/model/program.ts';

const USAGE = `${commandLine('nightly')}: collect, consolidate, check, release, prerender, publish
  --only <dataset>                   only this dataset; repeatable
  --if-missing                       do nothing when every pack has a release, or RELEASES_URL is set
  --daemon                           keep running: run each dataset on its schedule, and catch up on missed runs
  --rewrite                          read no source; build releases and files again with the latest opt-outs, edits and decisions
  --accept                           accept a release that differs a lot from the last one`;

/**
 * Whether every pack has a release, with an index that this program can read. Reads only some bytes, so that a
 * service start is not delayed.
 */
function nothingMissing(env: NodeJS.ProcessEnv): boolean {
  // A process of several machines fetches what one of them built.
  if (env['RELEASES_URL']) return true;
  const dataDir = resolve(env['DATA_DIR'] || './data/var');
  const dirs = (env['PACK_DIRS'] || './packs').split(',').map((dir) => resolve(dir.trim()));
  const packs = dirs.flatMap((dir) =>
    existsSync(dir) ? readdirSync(dir).filter((name) => existsSync(join(dir, name, 'pack.ts'))) : [],
  );
  return packs.length > 0 && packs.every((name) => isReadable(join(dataDir, 'releases', name)));
}

/** Whether a dataset has a release, and its index is not of an earlier program version. */
function isReadable(releases: string): boolean {
  const current = join(releases, 'current');
  if (!existsSync(current)) return false;
  const index = join(releases, readFileSync(current, 'utf8').trim(), INDEX_FOLDER, INDEX_FILE);
  return !existsSync(index) || !olderFormat(index);
}

/** Loads nothing that the run did not load. */
async function stopTraces(): Promise<void> {
  if (process.env['OTEL_EXPORTER_OTLP_ENDPOINT']) await (await import('../data/model/tracing.ts')).stopTracing();
}

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true },
      'if-missing': { type: 'boolean', default: false },
      accept: { type: 'boolean', default: false },
      rewrite: { type: 'boolean', default: false },
      daemon: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (values['if-missing'] && nothingMissing(process.env)) return 0;
  const [{ readConfig, ConfigError }, { realEffects }, { LockedError }, { anyReleased, runNight }] = await Promise.all([
    import('../config.ts'),
    import('./effects/effects.ts'),
    import('../data/model/lock.ts'),
    import('./night/run.ts'),
  ]);
  try {
    const config = readConfig(process.env);
    const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: ratio } = config;
    // Sources are other people's servers: no header is added to requests.
    if (endpoint !== undefined) {
      const { startTracing } = await import('../data/model/opentelemetry.ts');
      startTracing({ ratio, service: 'dataset-register-nightly', outgoing: false });
    }
    const effects = realEffects(config.SOURCE_DATE_EPOCH, {
      base_url: config.BASE_URL,
      database_url: config.DATABASE_URL,
      environment: process.env,
      open_hosts: config.COLLECT_ALLOW_HOSTS,
    });
    stopWithNpm(process.env);
    if (values.daemon) {
      const { daemonUntilStopped } = await import('./night/daemon.ts');
      await daemonUntilStopped(config, effects);
      return 0;
    }
    // Without a handler the first process of a container ignores the signals.
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(143));
    const { failures } = await runNight(config, effects, {
      only: values.only ?? null,
      accept: values.accept,
      rewrite: values.rewrite,
    });
    if (values['if-missing']) return (await anyReleased(config.DATA_DIR, config.PACK_DIRS)) ? 0 : 1;
    return failures.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof LockedError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

try {
  createPrivateFiles();
  process.exitCode = await main(process.argv.slice(2)).finally(stopTraces);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
// A collector that was stopped may have open sockets or timers, which must not keep the process alive.
setTimeout(() => process.exit(), 2000).unref();
