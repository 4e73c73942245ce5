// The development server of pack authors: `npm run dev`.
import { enableCompileCache } from 'node:module';
import { ConfigError, readConfig } from '../../config.ts';
import { createPrivateFiles } from '../../data/model/permissions.ts';
import { commandLine } from '../../data/model/program.ts';
import { openDevServer } from '../dev/dev.ts';

const USAGE = `${commandLine('dev')}    build what is missing, serve, and reload pages when a pack or site/ changes

PORT, PACK_DIRS, DATA_DIR and DIST_DIR are those of ${commandLine('serve')} (docs/settings.md). Ctrl+C ends it.`;

async function main(args: readonly string[]): Promise<number> {
  if (args.length > 0) {
    console.log(USAGE);
    return args[0] === '--help' ? 0 : 2;
  }
  try {
    const config = readConfig(process.env);
    // The children start faster when Node keeps their compiled modules.
    const cache = enableCompileCache().directory;
    const env = { ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }), ...process.env };
    const dev = await openDevServer({ config, env, print: (text) => void process.stdout.write(text) });
    const stop = () => void dev.close().then(() => process.exit());
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
    await dev.start();
    return 0;
  } catch (error) {
    const { code, port } = error as NodeJS.ErrnoException & { port?: number };
    if (code === 'EADDRINUSE') process.stderr.write(`PORT: ${port} is taken by another process\n`);
    else if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
    else throw error;
    return 1;
  }
}

createPrivateFiles();
process.exitCode = await main(process.argv.slice(2));
