// A scanner of import statements, type imports included.
import { dirname, normalize } from 'node:path/posix';

export interface Import {
  specifier: string;
  line: number;
  /** `import type`: removed at run time. */
  type: boolean;
}

/** A statement starts a line, as the formatter ensures; `import('…')` also imports types. */
const STATEMENT =
  /^[ \t]*(?:import|export)\b[^'"`;=]*?\bfrom\s+['"]([^'"\n]+)['"]|^[ \t]*import\s+['"]([^'"\n]+)['"]|^(?![ \t]*(?:\/\/|\*)).*?\bimport\(\s*['"]([^'"\n]+)['"]/gm;

/** The imports of a module, in order. */
export function importsOf(text: string): Import[] {
  return [...text.matchAll(STATEMENT)].map((match) => ({
    specifier: match[1] ?? match[2] ?? match[3] ?? '',
    line: text.slice(0, match.index).split('\n').length,
    type: /^\s*(?:import|export)\s+type\b/.test(match[0]),
  }));
}

/** The file from the root of a relative import, or null for a package. */
export function target(from: string, specifier: string): string | null {
  return specifier.startsWith('.') ? normalize(`${dirname(from)}/${specifier}`) : null;
}

/** The package of a bare import, without its subpath. */
export function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
}
