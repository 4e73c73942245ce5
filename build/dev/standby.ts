// Preloaded into a program (`--import standby.ts?module=<url>`): imports its modules, which takes most of a
// start, and then waits for a message with the program's arguments before it begins.
import { once } from 'node:events';

for (const module of new URL(import.meta.url).searchParams.getAll('module')) await import(module);
// The parent process ended: so does this one, in order when it serves already.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
const [args] = (await once(process, 'message')) as [string[]];
process.argv.push(...args);
process.channel?.unref();
