// The settings of the command line: a file that only its owner can read, and the environment.
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** Tokens of a sign-in in the browser. */
export interface OAuthTokens {
  client_id: string;
  token_endpoint: string;
  access_token: string;
  refresh_token?: string;
  /** Milliseconds since 1970. */
  expires_at: number;
}

/** The file. Credentials belong to one address, so that no other server gets them. */
export interface Config {
  /** Address of the service where `--url` and REGISTER_URL are absent. */
  url?: string;
  /** The most that a call may cost, in EUR. */
  max_price?: number;
  /** Credentials by the address of their service. */
  services?: Record<string, { key?: string; oauth?: OAuthTokens }>;
}

/** A wrong argument, setting or file: exit code 2. */
export class UsageError extends Error {}

/** `$XDG_CONFIG_HOME/dataset-register/config.json`; APPDATA on Windows. */
export function configPath(env: NodeJS.ProcessEnv): string {
  const folder = env['XDG_CONFIG_HOME'] ?? env['APPDATA'] ?? join(homedir(), '.config');
  return join(folder, 'dataset-register', 'config.json');
}

/** Reads the file; empty without one. Throws a `UsageError` if others can read it, or it is no JSON object. */
export function readConfig(path: string): Config {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
      throw new UsageError(`${path} has your key and others can read it. Run: chmod 600 ${path}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    const config = JSON.parse(text) as Config;
    if (typeof config === 'object' && config !== null && !Array.isArray(config)) return config;
  } catch {
    // Below.
  }
  throw new UsageError(`${path} must be a JSON object. Correct it, or delete it to start again.`);
}

/** Replaces the file at once; mode 0600. */
function writeConfig(path: string, config: Config): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}

/** Changes the credentials of one service in the file. */
export function storeCredential(path: string, url: string, change: { key?: string; oauth?: OAuthTokens }): void {
  const config = readConfig(path);
  const services = { ...config.services, [url]: { ...config.services?.[url], ...change } };
  writeConfig(path, { ...config, url: config.url ?? url, services });
}
