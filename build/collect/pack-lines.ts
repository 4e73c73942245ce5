// Finds the line of a pack that a mistake comes from, when no stack has it.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Most bytes of a program file that are searched. */
const LARGEST = 1_000_000;

/** The program files of a pack: collect.ts first, pack.ts last, without tests. */
function programs(folder: string): string[] {
  let names: string[];
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  } catch {
    return [];
  }
  const rank = (name: string) =>
    ['collect.ts', '', 'pack.ts'].indexOf(name === 'collect.ts' || name === 'pack.ts' ? name : '');
  const files = names.filter((name) => /(?<!\.test)\.ts$/.test(name));
  return files.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** `collect.ts:18`: the first line with this name, or that matches a pattern; undefined when there is none. */
export function lineInPack(folder: string, wanted: string | RegExp): string | undefined {
  const pattern = typeof wanted === 'string' ? wholeName(wanted) : wanted;
  for (const name of programs(folder)) {
    const text = readFileSync(join(folder, name), 'utf8');
    if (text.length > LARGEST) continue;
    const line = text.split('\n').findIndex((content) => pattern.test(content));
    if (line >= 0) return `${name}:${line + 1}`;
  }
  return undefined;
}

const wholeName = (name: string) => new RegExp(`(?<![\\w.])${RegExp.escape(name)}(?![\\w.])`);

/** `collect.ts:18`: the innermost line of the pack in the stack of an error. */
export function lineInStack(folder: string, error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // The message may contain the folder too: only frames end with a file and a line.
  for (const frame of (error.stack ?? '').split('\n').filter((entry) => entry.includes(`/${basename(folder)}/`))) {
    const line = /([\w.-]+\.ts:\d+)(?::\d+)?\)?$/.exec(frame)?.[1];
    if (line !== undefined) return line;
  }
  return error.cause === undefined ? undefined : lineInStack(folder, error.cause);
}
