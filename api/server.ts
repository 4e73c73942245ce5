// Entry point of the API: reads the settings and starts it, or prints in one line why it cannot.
import { enableCompileCache } from 'node:module';

// Half of a start is stripping and compiling TypeScript; the cache speeds up the next one. Before the
// imports.
enableCompileCache();
const { ConfigError, readConfig } = await import('../config.ts');
const { PackDirsError, PackError } = await import('../packs/define/load.ts');
const { StoreError } = await import('../data/state/store.ts');

/** Error message of a failed start: one line if the user can fix it, else the stack. */
function complaint(error: unknown): string {
  if ([ConfigError, PackDirsError, PackError, StoreError].some((kind) => error instanceof kind))
    return (error as Error).message;
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (code === 'EADDRINUSE')
    return `PORT: ${address}:${port} is taken by another process, perhaps this service; set PORT for a second one`;
  if (code === 'EACCES' && port !== undefined) return `PORT: not allowed to listen on ${address}:${port}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

const { createPrivateFiles } = await import('../data/model/permissions.ts');
const { stopWithParent } = await import('../data/model/program.ts');

// Until the service has its own handlers. As the first process of a container it would ignore the signals.
const exitEarly = () => process.exit(143);
process.on('SIGTERM', exitEarly).on('SIGINT', exitEarly);
stopWithParent(process.env);

try {
  createPrivateFiles();
  const config = readConfig(process.env);
  const credentials = Object.entries(process.env).filter(([name]) => name.startsWith('AWS_'));
  const run =
    config.WORKERS === 1 ? (await import('./serve.ts')).serve : (await import('./workers.ts')).serveWithWorkers;
  // `npm start` builds what has no release yet, `npm run serve` does not.
  const builds = process.argv.includes('--build');
  await run(config, Object.fromEntries(credentials), builds ? process.env : null);
  process.off('SIGTERM', exitEarly).off('SIGINT', exitEarly);
} catch (error) {
  process.stderr.write(`${complaint(error)}\n`);
  process.exit(1);
}
