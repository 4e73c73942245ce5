// A line of the search index: name, what distinguishes it, address. The nightly run writes the lines;
// the API replaces those of changed records.
import type { Attribute, Pack, Value } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';

/** The public texts of a record that a search shows, in order: `United Kingdom`, `EGLL`, `LHR`. */
export function hintAttributes({ attributes, group_by }: Pick<Pack, 'attributes' | 'group_by'>): Attribute[] {
  const group = attributes.find(({ name }) => name === group_by);
  const texts = attributes.filter(
    ({ name, type, public: open, searchable }) => open && searchable && type === 'string' && name !== 'name',
  );
  // A country is shown by its name rather than its code.
  const named = attributes.find(
    ({ name, type, public: open, vocabulary }) =>
      open && type === 'string' && name !== group_by && vocabulary !== null && vocabulary === group?.vocabulary,
  );
  const first = named ?? (group?.public ? group : undefined);
  return first === undefined ? texts : [first, ...texts.filter(({ name }) => name !== first.name)];
}

/** Tab-separated, without a line end. `value` reads an attribute of the record. */
export function searchLine(
  pack: Pick<Pack, 'id' | 'attributes' | 'group_by'>,
  { slug, name }: { slug: string; name: string },
  value: (attribute: string) => Value | null | undefined,
): string {
  const texts = hintAttributes(pack).flatMap((attribute) => {
    const text = value(attribute.name);
    return typeof text === 'string' && fold(text) !== fold(name) ? [text] : [];
  });
  const cells = [name, [...new Set(texts)].join(' · '), `/datasets/${pack.id}/${slug}`];
  return cells.map((cell) => cell.replace(/\s+/g, ' ')).join('\t');
}
