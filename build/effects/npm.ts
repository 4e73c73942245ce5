// Calls the npm client with the machine's configuration, for a tarball or for a package's newest version.
// Installs and runs nothing.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The newest version of a package. `published` is ISO 8601, or null when the registry does not have it. */
export interface Newest {
  version: string;
  integrity: string;
  published: string | null;
}

export interface Npm {
  /** Downloads the tarball of a version into a folder and returns its path. */
  pack: (pkg: string, version: string, into: string) => Promise<string>;
  newest: (pkg: string) => Promise<Newest>;
}

const NAME = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const VERSION = /^\d+\.\d+\.\d+[0-9A-Za-z.+-]*$/;

/**
 * Timeouts in milliseconds: a tarball may be large and the network slow; a look-up must not delay the night.
 */
const PATIENCE = { pack: 600_000, view: 60_000 };

/** The real client. Tests pass other timeouts and further arguments, such as a registry. */
export function npmClient(patience = PATIENCE, more: readonly string[] = []): Npm {
  return {
    async pack(pkg, version, into) {
      const args = ['pack', spec(pkg, version), '--json', '--ignore-scripts', '--pack-destination', into, ...more];
      const reply = JSON.parse(await npm(args, patience.pack)) as unknown;
      // npm before 12 prints a list, later ones an object by package name.
      const [packed] = Array.isArray(reply) ? (reply as unknown[]) : Object.values(reply as object);
      const filename = (packed as { filename?: unknown } | undefined)?.filename;
      if (typeof filename !== 'string') throw new Error(`npm pack ${pkg} printed no file name`);
      // Some versions of npm print the file of a scoped package with its slash.
      return join(into, filename.replace(/^@/, '').replaceAll('/', '-'));
    },
    async newest(pkg) {
      const args = ['view', spec(pkg), 'version', 'dist.integrity', 'time', '--json', '--fetch-retries=0', ...more];
      const reply = JSON.parse(await npm(args, patience.view)) as Record<string, unknown>;
      const version = String(reply['version']);
      if (!VERSION.test(version)) throw new Error(`npm view ${pkg} printed no version`);
      const published = (reply['time'] as Record<string, unknown> | undefined)?.[version];
      return {
        version,
        integrity: String(reply['dist.integrity'] ?? ''),
        published: typeof published === 'string' ? published : null,
      };
    },
  };
}

/** `name@version`, validated, because it becomes an argument of a command. */
function spec(pkg: string, version?: string): string {
  if (!NAME.test(pkg)) throw new Error(`${JSON.stringify(pkg)} is not the name of an npm package`);
  if (version === undefined) return pkg;
  if (!VERSION.test(version)) throw new Error(`${JSON.stringify(version)} is not an exact version of ${pkg}`);
  return `${pkg}@${version}`;
}

/** Runs npm outside of any project, so that only the configuration of the user and the machine applies. */
async function npm(args: string[], timeout: number): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), 'dataset-register-npm-'));
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--no-update-notifier'];
  const windows = process.platform === 'win32';
  try {
    return await new Promise((resolve, reject) => {
      const options = { cwd, timeout, maxBuffer: 1 << 26, shell: windows, windowsHide: true };
      execFile(windows ? 'npm.cmd' : 'npm', [...args, ...quiet], options, (error, stdout, stderr) => {
        if (error) reject(new Error(reason(error, stdout, stderr)));
        else resolve(stdout);
      });
    });
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/** The line of npm's output with the cause of the error. */
function reason(error: Error, stdout: string, stderr: string): string {
  try {
    const failure = (JSON.parse(stdout) as { error?: { code?: string; summary?: string } }).error;
    if (failure?.summary) return `npm: ${failure.code ?? ''} ${failure.summary}`.trim().split('\n')[0]!;
  } catch {
    // Not JSON: npm failed early and wrote only to stderr.
  }
  const line = stderr.split('\n').find((each) => /^npm (error|ERR!)/.test(each) && !/code E?/.test(each));
  return line ?? error.message.split('\n')[0]!;
}
