// What distinguishes a record from others of the same name: `openai · gpt-4.1`.
import type { StoredRecord } from '../../data/model/record.ts';
import type { Pack } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';
import { printValue } from './print.ts';

/** Values of the pack's `distinguish_by` that the name does not repeat, as text; '' without one. */
export function distinctionOf(pack: Pack, { name, attributes }: Pick<StoredRecord, 'name' | 'attributes'>): string {
  const values = pack.serving.distinguish_by.flatMap((attribute) => {
    const value = attributes[attribute];
    return value === undefined ? [] : [printValue(value)];
  });
  return [...new Set(values)].filter((text) => fold(text) !== fold(name)).join(' · ');
}
