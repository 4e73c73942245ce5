// Compressed copies of static files, sent to clients that take them: made by the night or by publishing, never for a request.
import { stat } from 'node:fs/promises';
import { COPY_ENDINGS } from '../discovery/hosting.ts';
import type { StaticFile } from './files.ts';

type Coding = keyof typeof COPY_ENDINGS;
const CODINGS = Object.keys(COPY_ENDINGS) as Coding[];

/** A copy of a file in a content coding. */
export interface Copy {
  coding: Coding;
  path: string;
  bytes: number;
}

/**
 * The copies of a file, smallest coding first: beside it, as hosts expect them, or where the build keeps them. One that is older than its file
 * is of another content. Files that are read a part at a time have none: a range is a part of the file as it is.
 */
export async function copiesOf({ path, copies, ranges, last_modified }: StaticFile): Promise<Copy[]> {
  if (ranges) return [];
  const found = await Promise.all(
    CODINGS.map(async (coding): Promise<Copy | null> => {
      for (const place of [path, copies]) {
        const copy = `${place}.${COPY_ENDINGS[coding]}`;
        const known = await stat(copy).catch(() => null);
        if (known?.isFile() && Math.ceil(known.mtimeMs) >= last_modified.getTime())
          return { coding, path: copy, bytes: known.size };
      }
      return null;
    }),
  );
  return found.filter((copy) => copy !== null);
}

/** The copy that an `Accept-Encoding` header takes, by its weights and then by size (RFC 9110 section 12.5.3); null: the file as it is. */
export function taken(copies: readonly Copy[], header: string | undefined): Copy | null {
  const weights = new Map<string, number>();
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((each) => each.trim());
    const weight = parameters.find((each) => each.startsWith('q='));
    if (name !== '') weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  // Who takes a coding less gladly than the file itself gets the file.
  const plain = weights.get('identity') ?? 0;
  const [best] = copies
    .filter(({ coding }) => weightOf(coding) > 0 && weightOf(coding) >= plain)
    .toSorted((a, b) => weightOf(b.coding) - weightOf(a.coding) || a.bytes - b.bytes);
  return best ?? null;
}
