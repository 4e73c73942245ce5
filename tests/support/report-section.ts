// Sections of a measured report in docs/: each command replaces its own, between markers, and keeps the others.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** The escaped form of a text in a regular expression. */
const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/**
 * Puts `text` (Markdown) between `<!-- <name>:start -->` and `<!-- <name>:end -->` of the file. A file without the
 * markers gets them at its end; a missing file is created with `heading` as its first line.
 *
 * @example replaceSection('docs/reliability.md', 'kills', table) // between <!-- kills:start --> and <!-- kills:end -->
 */
export function replaceSection(file: string, name: string, text: string, heading = '# Reliability'): void {
  const start = `<!-- ${name}:start -->`;
  const end = `<!-- ${name}:end -->`;
  const section = `${start}\n${text.trim()}\n${end}`;
  const before = existsSync(file) ? readFileSync(file, 'utf8') : `${heading}\n`;
  const present = new RegExp(`${literal(start)}[\\s\\S]*?${literal(end)}`);
  if (present.test(before))
    writeFileSync(
      file,
      before.replace(present, () => section),
    );
  else if (before.includes(start) || before.includes(end)) throw new Error(`${file} has only one marker of ${name}`);
  else writeFileSync(file, `${before.trimEnd()}\n\n${section}\n`);
}
