// Loads TypeScript files that Node itself refuses: those below node_modules, and those of a folder whose
// package.json has the type commonjs, as `npm init` writes it. They are ES modules in both. Plain JavaScript,
// because the launcher of the package loads it before any TypeScript.
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Whether Node cannot load a file as an ES module written in TypeScript. */
function refused(url, format) {
  if (!url.startsWith('file:') || !/\.m?ts$/.test(url)) return false;
  return url.includes('/node_modules/') || format === 'commonjs-typescript';
}

let warned = false;

/** JavaScript with the same lines. Node warns about the first call only; that warning is dropped. */
function strip(text, sourceUrl) {
  const { emitWarning } = process;
  if (!warned) process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text, { sourceUrl });
  } finally {
    process.emitWarning = emitWarning;
    warned = true;
  }
}

function javascriptOf(path) {
  const text = readFileSync(path, 'utf8');
  try {
    return strip(text);
  } catch {
    // With its path, the syntax error names file and line as Node's own does.
    return strip(text, path);
  }
}

registerHooks({
  load: (url, context, next) =>
    refused(url, context.format)
      ? { format: 'module', source: javascriptOf(fileURLToPath(url)), shortCircuit: true }
      : next(url, context),
});
