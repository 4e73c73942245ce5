// Mistakes in a pack with file, path, value, expectation and nearest known name.
import { closestMatch } from 'leven';
import type { z } from 'zod';

export interface Mistake {
  /** File inside the pack folder, empty for the folder itself. */
  file: string;
  /** Path in the file: `attributes.price.input.unit`; empty for the whole file. */
  path: string;
  actual: string;
  expected: string;
  /** The likely intended name. */
  nearest?: string | undefined;
}

/** All mistakes in a pack, in one message. */
export class PackError extends Error {
  readonly mistakes: Mistake[];
  /** @param folder the pack's folder as the author wrote it, for the message */
  constructor(folder: string, all: Mistake[]) {
    const mistakes = withoutConsequences(all);
    const count = mistakes.length === 1 ? '1 mistake' : `${mistakes.length} mistakes`;
    super(`${count} in pack ${folder}\n\n${mistakes.map((mistake) => tell(folder, mistake)).join('\n\n')}`);
    this.name = 'PackError';
    this.mistakes = mistakes;
  }
}

/** The mistakes without those that only follow from another: `title` is missing because it is written `titel`. */
function withoutConsequences(mistakes: Mistake[]): Mistake[] {
  const intended = new Set<string>();
  for (const { file, path, actual, nearest } of mistakes) {
    const name = /^a member '(.+)'$/.exec(actual)?.[1];
    if (name !== undefined && nearest !== undefined) intended.add(`${file}:${path.slice(0, -name.length)}${nearest}`);
  }
  return mistakes.filter(({ file, path, actual }) => actual !== 'nothing' || !intended.has(`${file}:${path}`));
}

function tell(folder: string, { file, path, actual, expected, nearest }: Mistake): string {
  const at = file === '' ? folder : `${folder}/${file}`;
  const lines = [path === '' ? at : `${at}: ${path}`, `  found     ${actual}`, `  expected  ${expected}`];
  if (nearest !== undefined) lines.push(`  nearest   ${quoteValue(nearest)}`);
  return lines.join('\n');
}

/** A value for a message: short, on one line. */
export function quoteValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'string') return `'${shorten(value.replace(/\s+/g, ' '))}'`;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  try {
    return shorten(JSON.stringify(value) ?? String(value));
  } catch {
    return `a ${typeof value}`;
  }
}

function shorten(text: string): string {
  return text.length > 70 ? `${text.slice(0, 69)}…` : text;
}

/** The known name closest to a wrong one, or undefined when none is close. */
export function nearestName(wrong: string, names: readonly string[]): string | undefined {
  // One character is close to any other.
  if (wrong.length < 2) return undefined;
  const maxDistance = wrong.length < 4 ? 1 : Math.max(2, Math.floor(wrong.length / 3));
  return closestMatch(wrong, names, { maxDistance });
}

/** A mistake where one of several known names is expected. */
export function notOneOf(path: string, wrong: unknown, what: string, names: readonly string[]): Omit<Mistake, 'file'> {
  const near = typeof wrong === 'string' ? nearestName(wrong, names) : undefined;
  return { path, actual: quoteValue(wrong), expected: what, nearest: near };
}

/**
 * Mistakes of a zod error. The messages of the shapes are the expectations; `keys` returns the members of an
 * object.
 */
export function fromZod(error: z.ZodError, input: unknown, base: string[], keys: (path: PropertyKey[]) => string[]) {
  const mistakes = error.issues.flatMap((issue): Omit<Mistake, 'file'>[] => {
    const path = [...base, ...issue.path.map(String)].join('.');
    if (issue.code === 'unrecognized_keys') {
      const names = keys(issue.path);
      return issue.keys.map((key) => ({
        path: [path, key].filter(Boolean).join('.'),
        actual: `a member '${key}'`,
        expected: `one of ${names.join(', ')}`,
        nearest: nearestName(key, names),
      }));
    }
    const value = issue.path.reduce<unknown>(
      (at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key],
      input,
    );
    const names = issue.code === 'invalid_value' ? issue.values.map(String) : [];
    return [notOneOf(path, value, issue.message, names)];
  });
  // Several rules of one member may have the same message.
  return [...new Map(mistakes.map((mistake) => [JSON.stringify(mistake), mistake])).values()];
}
