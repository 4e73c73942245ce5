// Dependencies: exact, locked, without install scripts, and each with a written reason.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { read, tableRows } from './tree.ts';

interface Locked {
  version?: string;
  integrity?: string;
  resolved?: string;
  link?: boolean;
  inBundle?: boolean;
  hasInstallScript?: boolean;
  optionalDependencies?: Record<string, string>;
}

const manifest = JSON.parse(read('package.json')) as {
  private?: boolean;
  scripts: Record<string, string>;
  engines: { node: string };
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};
const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> };
const installed = Object.entries(lock.packages).filter(([path, entry]) => path !== '' && !entry.link);

const { dependencies, optionalDependencies, devDependencies } = manifest;
const declared = { ...dependencies, ...optionalDependencies, ...devDependencies };

/** Folders in which a package at this path finds its dependencies, nearest first. */
function above(path: string): string[] {
  const cut = path.lastIndexOf('/node_modules/');
  return [`${path}/`, ...(cut < 0 ? [''] : above(path.slice(0, cut)))];
}

describe('package.json', () => {
  test('names exact versions', () => {
    const loose = Object.entries(declared).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version));
    expect(loose).toEqual([]);
  });

  test('brings one Node for every platform, and the suite runs on it', () => {
    const nodes = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('node-'));
    const versions = new Set(nodes.map(([, version]) => version));
    expect(nodes).toHaveLength(5);
    expect([...versions]).toEqual([process.version.slice(1)]);
    expect(manifest.engines.node).toBe('>=20');
    for (const page of ['docs/install.md', 'README.md']) expect(read(page), page).toMatch(/Node 20 or newer/);
  });

  test('can be published, since docs/install.md installs it by its name', () => {
    expect(manifest.private).toBeUndefined();
    expect(read('docs/install.md')).toContain('npm publish');
  });

  test('has no install hooks', () => {
    const hooks = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];
    expect(hooks.filter((hook) => hook in manifest.scripts)).toEqual([]);
  });
});

describe('the lock file', () => {
  test('has the integrity of every package, and contains no host', () => {
    const open = installed.filter(([, entry]) => !entry.inBundle && !entry.integrity?.startsWith('sha512-'));
    expect(open.map(([path]) => path)).toEqual([]);
    expect(installed.filter(([, entry]) => entry.resolved).map(([path]) => path)).toEqual([]);
  });

  test('is left as it is when the registry states no integrity of a package', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lock-'));
    const text = JSON.stringify({ packages: { '': {}, 'node_modules/absent': { version: '1.0.0', optional: true } } });
    writeFileSync(join(folder, 'package-lock.json'), text);
    // The registry cannot be reached: there is no npm.
    const fill = () =>
      execFileSync(process.execPath, [join(import.meta.dirname, '../../.ci/lock.ts')], {
        cwd: folder,
        env: { PATH: folder },
        stdio: 'pipe',
      });
    expect(fill).toThrow(/The registry states no SHA-512 of absent@1\.0\.0/);
    expect(readFileSync(join(folder, 'package-lock.json'), 'utf8')).toBe(text);
    rmSync(folder, { recursive: true });
  });

  test('contains the dependencies of package.json', () => {
    for (const [name, version] of Object.entries(declared)) {
      expect(lock.packages[`node_modules/${name}`]?.version, name).toBe(version);
    }
  });

  // npm omits a package that the registry lacked when the lock was made, and `npm ci` then refuses the lock.
  test('contains the packages of every platform, or `npm ci` refuses it', () => {
    const missing = installed.flatMap(([path, entry]) =>
      Object.entries(entry.optionalDependencies ?? {})
        .filter(([name]) => !above(path).some((folder) => `${folder}node_modules/${name}` in lock.packages))
        .map(([name, version]) => `${name}@${version}, wanted by ${path}`),
    );
    expect(missing).toEqual([]);
  });

  test('install scripts do not run, and each package that has one is known to work without', () => {
    expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
    const scripted = installed
      .filter(([, entry]) => entry.hasInstallScript)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    const known = tableRows('docs/decisions/dependencies.md')
      .filter((row) => row.length === 2)
      .map(([name]) => name);
    expect([...new Set(scripted)].sort()).toEqual(known.sort());
  });
});

describe('docs/decisions/dependencies.md', () => {
  const rows = tableRows('docs/decisions/dependencies.md').filter((row) => row.length > 2);

  test('has one row for each dependency and no others', () => {
    expect(rows.map(([name]) => name).sort()).toEqual(Object.keys(declared).sort());
  });

  test('every row has version policy, licence and reason', () => {
    for (const row of rows) {
      expect(row, row[0] ?? '').toHaveLength(5);
      for (const cell of row) expect(cell, row[0] ?? '').not.toBe('');
      expect((row[4] ?? '').split(' ').length, `${row[0]}: a reason in words`).toBeGreaterThan(3);
    }
  });
});
