// `npm run release -- <folder>`: everything that a release consists of, in one folder: both tarballs, the SBOM, the
// licences of all dependencies, and checksums. It publishes nothing.
import { execFileSync, type StdioOptions } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packClient } from './client-package.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Contradictions between the versions that the files of a release state. */
export function versionProblems(files: (path: string) => string = read): string[] {
  const { version } = JSON.parse(files('package.json')) as { version: string };
  const stated = {
    'clients/typescript/package.json': JSON.parse(files('clients/typescript/package.json')).version,
    'clients/typescript/server.json': JSON.parse(files('clients/typescript/server.json')).version,
    'clients/python/pyproject.toml': /^version = "(.*)"$/m.exec(files('clients/python/pyproject.toml'))?.[1],
    'package-lock.json': JSON.parse(files('package-lock.json')).version,
    'CHANGELOG.md': /^## (?:Unreleased \()?(\d+\.\d+\.\d+)/m.exec(files('CHANGELOG.md'))?.[1],
  };
  return Object.entries(stated).flatMap(([path, other]) =>
    other === version ? [] : [`${path} has version ${other}, package.json ${version}`],
  );
}

interface Component {
  name: string;
  version: string;
  group?: string;
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
}

/** A line for each dependency with its licence, from the SBOM. */
export function licenceLines(components: readonly Component[]): string[] {
  const lines = components.map(({ group, name, version, licenses = [] }) => {
    const texts = licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? '');
    return `${group ? `${group}/` : ''}${name} ${version}: ${texts.join(', ') || 'not stated'}`;
  });
  return [...new Set(lines)].sort();
}

function release(folder: string): void {
  const problems = versionProblems();
  if (execFileSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' }) !== '')
    problems.push('there are changes without a commit');
  if (problems.length > 0) throw new Error(problems.join('\n'));
  mkdirSync(folder, { recursive: true });
  const inherit = { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] as StdioOptions };
  // .npmrc turns scripts off, and the scripts of this package emit its JavaScript.
  execFileSync('npm', ['pack', '--ignore-scripts=false', '--pack-destination', folder], inherit);
  packClient(folder);
  const sbom = execFileSync('npm', ['sbom', '--omit=dev', '--sbom-format=cyclonedx', '--package-lock-only'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  writeFileSync(join(folder, 'sbom.cdx.json'), sbom);
  const { components } = JSON.parse(sbom) as { components: Component[] };
  writeFileSync(join(folder, 'licences.txt'), `${licenceLines(components).join('\n')}\n`);
  const sums = readdirSync(folder)
    .filter((name) => name !== 'SHA256SUMS')
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}`,
    );
  writeFileSync(join(folder, 'SHA256SUMS'), `${sums.join('\n')}\n`);
  console.log(sums.join('\n'));
}

if (import.meta.main) {
  try {
    release(resolve(process.argv[2] ?? 'release'));
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
