// `npm run lock` after a dependency changed: adds the optional packages of other platforms that npm left out to
// package-lock.json. Without their entries `npm ci` refuses the lock file, on every platform. Every entry gets the
// integrity that the registry states; a package without one ends the program, and nothing is written.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

interface Entry {
  version?: string;
  integrity?: string;
  link?: boolean;
  inBundle?: boolean;
  dev?: boolean;
  optional?: boolean;
  optionalDependencies?: Record<string, string>;
  os?: string[];
  cpu?: string[];
  libc?: string[];
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Entry> };

const OS: Record<string, string> = {
  win32: 'win32',
  windows: 'win32',
  darwin: 'darwin',
  linux: 'linux',
  linuxmusl: 'linux',
  android: 'android',
  freebsd: 'freebsd',
  openbsd: 'openbsd',
  netbsd: 'netbsd',
  sunos: 'sunos',
  aix: 'aix',
  openharmony: 'openharmony',
};
const CPU: Record<string, string> = {
  x64: 'x64',
  amd64: 'x64',
  arm64: 'arm64',
  arm: 'arm',
  armv7: 'arm',
  ia32: 'ia32',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  loong64: 'loong64',
  mips64el: 'mips64el',
  wasm32: 'wasm32',
};

/** Platform fields from a name such as `@scope/binding-linux-arm64-musl`; null when it has none. */
function platformOf(name: string): Entry | null {
  const parts = name.slice(name.lastIndexOf('/') + 1).split('-');
  const os = parts.flatMap((part) => OS[part] ?? []);
  const cpu = parts.flatMap((part) => CPU[part] ?? []);
  if (cpu.length === 0 && os.length === 0) return null;
  const libc = parts.some((part) => part.includes('musl'))
    ? ['musl']
    : parts.some((part) => part.includes('gnu')) && os[0] === 'linux'
      ? ['glibc']
      : [];
  return { ...(cpu.length > 0 ? { cpu } : {}), ...(libc.length > 0 ? { libc } : {}), ...(os.length > 0 ? { os } : {}) };
}

const added: string[] = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    // The folders that npm searches: next to the dependent package, or in a folder above.
    const folders = path.split('node_modules/').map((_, i, all) => all.slice(0, all.length - i).join('node_modules/'));
    if (
      folders.some(
        (folder) => `${folder}${folder && !folder.endsWith('/') ? '/' : ''}node_modules/${name}` in lock.packages,
      )
    )
      continue;
    const platform = platformOf(name);
    if (platform === null) throw new Error(`${name}@${version} is not in the lock file and its name tells no platform`);
    lock.packages[`node_modules/${name}`] = {
      version,
      ...(entry.dev ? { dev: true } : {}),
      optional: true,
      ...platform,
    };
    added.push(`${name}@${version}`);
  }
}

/** Subresource integrity of a package in the registry; undefined when it lacks that version. */
function integrityOf(name: string, version: string): string | undefined {
  try {
    const answer = execFileSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return /^sha512-\S+$/.exec(answer.toString().trim())?.[0];
  } catch {
    return undefined;
  }
}

const missing: string[] = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '' || entry.integrity || entry.link || entry.inBundle || entry.version === undefined) continue;
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const integrity = integrityOf(name, entry.version);
  if (integrity !== undefined) entry.integrity = integrity;
  else missing.push(`${name}@${entry.version}`);
}
if (missing.length > 0)
  throw new Error(
    `The registry states no SHA-512 of ${missing.join(', ')}; package-lock.json is unchanged. Run this again when it has them, or choose other versions.`,
  );
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length === 0 ? 'nothing to add' : `added ${added.length}: ${added.join(', ')}`);
