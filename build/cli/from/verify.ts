// Reads the sample with the written pack, and counts the cells that it rejects.
import { pathToFileURL } from 'node:url';
import { isDefinition, type PackSettings } from '../../../packs/define/define.ts';
import { checkValue } from '../../../packs/define/schema.ts';
import { type DeclaringSource, RowParser } from '../../sources/rows.ts';
import type { RowSample } from './sample.ts';

/** Cells that the pack rejects, by attribute, and an example of each. */
export type Rejections = ReadonlyMap<string, { count: number; example: string; expected: string }>;

/**
 * Imports a pack.ts and reads the rows of the sample with it. Node caches modules: the path must be a new one.
 * Throws when the file has mistakes.
 */
export async function rejectedCells(path: string, sample: RowSample): Promise<Rejections> {
  const { default: exported } = (await import(pathToFileURL(path).href)) as { default?: unknown };
  if (!isDefinition(exported) || exported.settings === null) {
    const mistakes = isDefinition(exported) ? exported.mistakes : [];
    const listed = mistakes.slice(0, 5).map((each) => `${each.path}: found ${each.found}, expected ${each.expected}`);
    throw new Error(`the proposed pack has mistakes: ${listed.join('; ')}`);
  }
  return countRejections(exported.settings, sample);
}

function countRejections(settings: PackSettings, { name, columns, rows }: RowSample): Rejections {
  const rejections = new Map<string, { count: number; example: string; expected: string }>();
  const add = (attribute: string, example: unknown, expected: string) => {
    const known = rejections.get(attribute);
    if (known === undefined) rejections.set(attribute, { count: 1, example: String(example).slice(0, 60), expected });
    else known.count++;
  };
  const report = {
    reject: ({ attribute, text, expected }: { attribute: string; text: string; expected: string }) =>
      add(attribute, text, expected),
    brokenRow: () => {},
  };
  const source = settings.sources[0] as DeclaringSource;
  const parser = new RowParser(settings, source, { name, columns, now: Number.MAX_SAFE_INTEGER }, report);
  rows.forEach((cells, i) => {
    const observed = parser.observation({ line: i + 1, cells });
    for (const attribute of settings.attributes) {
      const value = observed?.values[attribute.name];
      if (value === undefined) continue;
      const checked = checkValue(attribute, value);
      if (!checked.ok) add(attribute.name, typeof value === 'object' ? JSON.stringify(value) : value, checked.reason);
    }
  });
  return rejections;
}
