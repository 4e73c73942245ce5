// Fingerprint of the source code that writes files: when the program changes, the files are written again.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** Folders whose source decides the text of pages and answers; the code of a pack is in its `packVersion`. */
const FOLDERS = [
  ...['contract', 'discovery', 'render', 'pages', 'operations'].map((name) => `../../api/${name}/`),
  ...['model', 'consolidate', 'plan', 'input', 'write', 'releases', 'queries', 'review'].map((name) => `../${name}/`),
  '../../packs/define/',
];

let fingerprint: string | undefined;

/**
 * 16 hex digits of SHA-256 over the source files in FOLDERS, tests excepted. Computed once for each process.
 */
export function codeFingerprint(): string {
  if (fingerprint !== undefined) return fingerprint;
  const digest = createHash('sha256');
  for (const folder of FOLDERS.map((path) => new URL(path, import.meta.url))) {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
    );
    for (const name of names.sort()) digest.update(name).update(readFileSync(new URL(name, folder)));
  }
  fingerprint = digest.digest('hex').slice(0, 16);
  return fingerprint;
}
