// Opens the source of a new pack: one version of a file, a query or an address.

import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { publicOnly, WEB_PORTS } from '../../../data/model/guard.ts';
import { type DeclaredSource, DeclaredSourceShape } from '../../../packs/define/sources.ts';
import { Web } from '../../crawl/web.ts';
import type { SourceContext, SourceReader, SourceVersion } from '../../sources/reader.ts';
import { READERS } from '../../sources/readers.ts';
import { UsageError } from './flags.ts';
import type { DeclaredPlace } from './pack-text.ts';

/** Environment and network of the command; tests pass their own. */
export interface ReadContext {
  environment: Readonly<Record<string, string | undefined>>;
  /** Opens the web client; unset: one that reaches public addresses and `open_hosts`. */
  web?: (() => Promise<Web>) | undefined;
  /** COLLECT_ALLOW_HOSTS. */
  open_hosts?: readonly string[] | undefined;
}

/** A web client without signature: requests of a publisher to the own source. */
async function plainWeb(open_hosts: readonly string[] = []): Promise<Web> {
  return new Web({
    allowed: publicOnly,
    ports: WEB_PORTS,
    open_hosts: new Set(open_hosts),
    sign: null,
    base_url: 'https://example.org/',
    now: () => new Date(),
    wait: (ms) => setTimeout(ms),
    random: Math.random,
  });
}

/** The declaration of a place, with `target` as file or address. Throws UsageError for a wrong option. */
export function declarationOf({ kind, options }: DeclaredPlace, target: string | null): DeclaredSource {
  const where = kind === 'postgres' ? {} : kind === 'http' ? { urls: [target] } : { file: target };
  const parsed = DeclaredSourceShape.safeParse({ kind, ...where, ...options });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(`--${String(issue?.path[0]).replace('url_env', 'url-env')}: expected ${issue?.message}`);
}

/** Opens the only version of a source. `broken` receives rows that cannot be read. */
export async function openVersion(
  declared: DeclaredSource,
  folder: string,
  context: ReadContext,
  broken: SourceContext['broken'],
): Promise<{ version: SourceVersion; close: () => Promise<void> }> {
  const read = READERS[declared.kind] as SourceReader;
  const versions = read(declared, {
    folder,
    // Empty: all columns.
    wanted: new Set(),
    known: [],
    environment(name) {
      const value = context.environment[name];
      if (value === undefined || value === '') throw new Error(`the environment variable ${name} is not set`);
      return value;
    },
    // The reader closes it.
    web: context.web ?? (() => plainWeb(context.open_hosts)),
    now: () => new Date(),
    broken,
    progress: () => {},
  })[Symbol.asyncIterator]();
  const close = async () => {
    await versions.return?.(undefined);
  };
  try {
    const first = await versions.next();
    if (first.done) throw new Error('the source has no version');
    return { version: first.value, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Tables and views of a SQLite file. Throws when it is none. */
export function sqliteTables(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = database
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
      )
      .all();
    return rows.map((row) => String(row['name']));
  } finally {
    database.close();
  }
}
