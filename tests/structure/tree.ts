// The files of the repository that people write, without installed, built, collected or measured ones.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute path of the repository. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const IGNORED = new Set(['node_modules', '.git', 'dist', 'coverage', '.astro', 'data/var', '.env']);

function walk(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (IGNORED.has(path) || entry.name === 'node_modules' || entry.name.endsWith('.log')) return [];
    return entry.isDirectory() ? walk(path) : entry.isFile() ? [path] : [];
  });
}

/** Every file, as a path from the root with forward slashes, sorted. */
export const FILES: readonly string[] = walk('').sort();

/** Program text. */
export const MODULES: readonly string[] = FILES.filter((path) => /\.(ts|mjs|astro)$/.test(path));

/** Tests and their helpers; the rest is product. */
export function isTest(path: string): boolean {
  return path.startsWith('tests/') || /\.test\.ts$/.test(path);
}

/** The text of a file. */
export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Whether a path from the root exists. */
export function exists(path: string): boolean {
  return existsSync(join(ROOT, path));
}

/** Rows of the Markdown tables in a document. */
export const tableRows = (path: string): string[][] => rowsOf(read(path));

/** Rows of the tables in a Markdown text, cells trimmed and without backticks; headings and rules are left out. */
export function rowsOf(markdown: string): string[][] {
  return markdown
    .split('\n')
    .filter((line, index, lines) => line.startsWith('|') && !isRule(line) && !isRule(lines[index + 1] ?? ''))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}

function isRule(line: string): boolean {
  return /^\|[\s:|-]+\|$/.test(line);
}
