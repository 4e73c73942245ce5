// Calls the npm client with the machine's configuration, for a tarball or for a package's newest version.
// Installs and runs nothing.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

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

const Packed = z.object({ filename: z.string() });
/** `npm pack` before version 12 prints a list, later ones an object by package name. */
const PackReply = z.union([z.array(Packed), z.record(z.string(), Packed).transform((reply) => Object.values(reply))]);
const ViewReply = z.object({
  version: z.string().regex(VERSION),
  'dist.integrity': z.string().default(''),
  time: z.record(z.string(), z.unknown()).default({}),
});
const ErrorReply = z.object({ error: z.object({ code: z.string().default(''), summary: z.string() }) });

/** The real client. Tests pass other timeouts and further arguments, such as a registry. */
export function npmClient(patience = PATIENCE, more: readonly string[] = []): Npm {
  return {
    async pack(pkg, version, into) {
      const args = ['pack', spec(pkg, version), '--json', '--ignore-scripts', '--pack-destination', into, ...more];
      const [packed] = PackReply.safeParse(JSON.parse(await npm(args, patience.pack))).data ?? [];
      if (packed === undefined) throw new Error(`npm pack ${pkg} printed no file name`);
      // Some versions of npm print the file of a scoped package with its slash.
      return join(into, packed.filename.replace(/^@/, '').replaceAll('/', '-'));
    },
    async newest(pkg) {
      const args = ['view', spec(pkg), 'version', 'dist.integrity', 'time', '--json', '--fetch-retries=0', ...more];
      const reply = ViewReply.safeParse(JSON.parse(await npm(args, patience.view))).data;
      if (reply === undefined) throw new Error(`npm view ${pkg} printed no version`);
      const { version, 'dist.integrity': integrity, time } = reply;
      const published = time[version];
      return { version, integrity, published: typeof published === 'string' ? published : null };
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
    const { error: failure } = ErrorReply.parse(JSON.parse(stdout));
    return `npm: ${failure.code} ${failure.summary}`.trim().split('\n')[0]!;
  } catch {
    // Another text: npm failed early and wrote only to stderr.
  }
  const line = stderr.split('\n').find((text) => /^npm (error|ERR!)/.test(text) && !/code E?/.test(text));
  return line ?? error.message.split('\n')[0]!;
}
