// First module of a thread (`startThread`): loads the thread's program from the cache of compiled code. Plain
// JavaScript, because Node would load its TypeScript compiler, some 15 MB, to read a first module in TypeScript.
import { enableCompileCache, flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';

enableCompileCache();
await import(pathToFileURL(process.argv[2]).href);
// Now, because a thread that is killed writes nothing at its end.
flushCompileCache();
