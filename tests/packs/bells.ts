// The smallest pack that definePack accepts, and messages about invalid variants.
import { definePack } from '../../packs/define/define.ts';
import { PackError } from '../../packs/define/mistakes.ts';
import type { PackInput } from '../../packs/define/shape.ts';

/** The required members of a pack. */
export const least = (): PackInput => ({
  title: 'Bells',
  description: 'Fictional bells.',
  license: { name: 'CC0-1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  attribution: 'Nobody',
  sources: {
    tower: { title: 'Tower', url: 'https://tower.example/', license: 'CC0-1.0', trust: 0.9, newest: 'tower' },
  },
  attributes: {
    name: { type: 'string', description: 'Its name', example: 'Big one', public: true, sla: 100 },
    weight: {
      type: 'number',
      unit: 'kg',
      description: 'Its weight',
      example: 2.000000000049,
      sla: { warn: 1, error: 2 },
    },
    'price.hire': { type: 'price', unit: 'EUR/day', currency: 'EUR', description: 'Hire', example: 2, sla: 100 },
  },
  identity: { attributes: ['name'] },
  group_by: 'name',
  serving: { showcase: { per_group: 1 } },
  compare: ['weight'],
  prices: { search: 0.008, get: 0.000001, facts: 0.01, compare: 0.012, stats: 0.015 },
  schedule: '0 3 * * *',
});

/** Mistakes, a line each: `place | value | expectation`, and the nearest name; pack-mistakes.test.ts has the layout. */
export const mistakeLines = ({ mistakes }: PackError): string =>
  mistakes
    .map(({ file, path, actual: found, expected, nearest }) => {
      const place = [file, path].filter((part) => part !== '').join(': ');
      return [place, found, expected, ...(nearest === undefined ? [] : [nearest])].join(' | ');
    })
    .join('\n');

/**
 * The mistakes in the smallest pack with some members replaced, by path with slashes; undefined removes.
 */
export function wrong(changes: Record<string, unknown>): string {
  const input = least() as unknown as Record<string, unknown>;
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split('/');
    const last = keys.pop()!;
    const at = keys.reduce((node, key) => node[key] as Record<string, unknown>, input);
    if (value === undefined) delete at[last];
    else at[last] = value;
  }
  const { mistakes, settings } = definePack(input as unknown as PackInput);
  if (settings !== null) throw new Error('this variant has no mistake');
  const inPack = mistakes.map((mistake) => ({ file: '', ...mistake }));
  return mistakeLines(new PackError('bells', inPack));
}
