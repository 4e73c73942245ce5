// Entry of the nightly run. Exits with 0 when every step succeeded, with 75 while another run is in progress; USAGE lists
// the options.

import { parseArgs } from 'node:util';
import { createPrivateFiles } from '../data/model/permissions.ts';
import { commandLine, stopWithParent } from '../data/model/program.ts';

const USAGE = `${commandLine('nightly')}: collect, consolidate, check, release, prerender, publish
  --only <dataset>                   only this dataset; repeatable
  --if-missing                       only datasets without a release, and their files; nothing where RELEASES_URL is set
  --daemon                           keep running: run each dataset on its schedule, and catch up on missed runs
  --rewrite                          read no source; build releases and files again with the latest opt-outs, edits and decisions
  --accept                           accept a release that differs a lot from the last one`;

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
  const [
    { readConfig, ConfigError },
    { realEffects },
    { EXIT_BUSY, LockedError },
    { runNight },
    { findMissing, packIds },
  ] = await Promise.all([
    import('../config.ts'),
    import('./effects/effects.ts'),
    import('../data/model/lock.ts'),
    import('./night/run.ts'),
    import('../data/releases/missing.ts'),
  ]);
  try {
    const config = readConfig(process.env);
    const missing = values['if-missing'] ? findMissing(config, values.only ?? packIds(config.PACK_DIRS)) : null;
    if (values['if-missing'] && missing === null) return 0;
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
    stopWithParent(process.env);
    if (values.daemon) {
      const { daemonUntilStopped } = await import('./night/daemon.ts');
      await daemonUntilStopped(config, effects);
      return 0;
    }
    // Without a handler the first process of a container ignores the signals.
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(143));
    const { failures } = await runNight(config, effects, {
      only: missing?.releases ?? values.only ?? null,
      accept: values.accept,
      rewrite: values.rewrite,
      ...(missing && { files: missing.files }),
    });
    return failures.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof LockedError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error instanceof LockedError ? EXIT_BUSY : 1;
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
