// Who imports whom: a scanner of import statements, type imports included, and the graph they make.
import { dirname, normalize } from 'node:path/posix';

export interface Import {
  specifier: string;
  line: number;
  /** `import type`: gone at run time. */
  type: boolean;
}

/** Statements start a line, as the formatter leaves them; `import('…')` also names types. */
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

/** The file from the root that a relative import names, or null for a package. */
export function target(from: string, specifier: string): string | null {
  return specifier.startsWith('.') ? normalize(`${dirname(from)}/${specifier}`) : null;
}

/** The package that a bare import names, without its subpath. */
export function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
}

/** The cycles of a graph, each once, as the path that closes. */
export function cycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found = new Map<string, string[]>();
  const done = new Set<string>();
  const visit = (node: string, path: string[]): void => {
    const at = path.indexOf(node);
    if (at >= 0) {
      const cycle = path.slice(at);
      found.set([...cycle].sort().join(), [...cycle, node]);
      return;
    }
    if (done.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...path, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return [...found.values()];
}
