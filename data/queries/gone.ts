// Records that no source lists any more (`gone` of the pack): the filter that leaves them out, and what answers and
// pages say about them.
import { derive } from '../../packs/define/derive.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Selection } from '../input/parameters.ts';
import type { PublicRecord } from '../model/record.ts';
import type { Release } from '../releases/release.ts';

/** The filter of listed records, as `{ not_status: 'gone' }`; empty where there is none for everyone. */
export function listedFilter({ gone, attributes }: Pack): Record<string, string> {
  const attribute = attributes.find(({ name }) => name === gone?.attribute);
  if (gone === null || !attribute?.public || !attribute.filterable) return {};
  return { [`not_${gone.attribute}`]: gone.value.replaceAll(',', '\\,') };
}

/** A sentence for the page of a record that no source lists any more; null for the others. */
export function goneNote({ gone }: Pack, { name, attributes }: Pick<PublicRecord, 'name' | 'attributes'>) {
  if (gone === null || attributes[gone.attribute] !== gone.value) return null;
  return `${name} is ${gone.value}: no source lists it any more. Its last values are shown.`;
}

/** A sentence for an answer that counts or shows records, whose question does not name whether they are listed. */
export async function goneHint(
  { pack, engine }: Release,
  { names, where }: Pick<Selection, 'names' | 'where'>,
): Promise<string | undefined> {
  const { gone } = pack;
  const [filter] = Object.entries(listedFilter(pack));
  if (gone === null || filter === undefined || names.includes(gone.attribute)) return undefined;
  // The count is that of today.
  if (where.some(({ kind }) => kind === 'ids' || kind === 'as_of')) return undefined;
  const { values } = await derive(engine, 'gone records', () =>
    engine.facets({ where: [], by: gone.attribute, limit: 1000, floor: 0 }),
  );
  const count = values.find(({ value }) => value === gone.value)?.count ?? 0;
  if (count === 0) return undefined;
  const among = `${gone.attribute}=${gone.value}, ${count} in the dataset`;
  return `Counted too: records that no source lists any more (${among}); ${filter.join('=')} leaves them out.`;
}
