// `npm run package:client -- <folder>`: the tarball of dataset-register-client. Its manifest is private in the
// repository, since the folder there has no JavaScript; the tarball is what `npm publish` gets.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeClientOperations } from './client-operations.ts';

const ROOT = join(import.meta.dirname, '..');
const SOURCE = join(ROOT, 'clients/typescript');

/** Packs the client into a folder; returns the path of the tarball. */
export function packClient(folder: string): string {
  writeClientOperations();
  const staging = mkdtempSync(join(tmpdir(), 'client-package-'));
  try {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const emit = ['-p', join(SOURCE, 'tsconfig.build.json'), '--outDir', join(staging, 'dist')];
    execFileSync(process.execPath, [tsc, ...emit], { stdio: ['ignore', 'inherit', 'inherit'] });
    const { private: _, ...manifest } = JSON.parse(readFileSync(join(SOURCE, 'package.json'), 'utf8'));
    writeFileSync(join(staging, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    cpSync(join(SOURCE, 'README.md'), join(staging, 'README.md'));
    cpSync(join(ROOT, 'LICENSE'), join(staging, 'LICENSE'));
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', resolve(folder)];
    const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: staging, encoding: 'utf8' }));
    return join(resolve(folder), filename);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

if (import.meta.main) console.log(packClient(process.argv[2] ?? '.'));
