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

/** Writes the line of a record. `value` reads an attribute of the record. */
type SearchLine = (
  record: { slug: string; name: string },
  value: (attribute: string) => Value | null | undefined,
) => string;

/** Lines of a dataset: tab-separated, without a line end. */
export function searchLines(pack: Pick<Pack, 'id' | 'attributes' | 'group_by'>): SearchLine {
  const hints = hintAttributes(pack);
  return ({ slug, name }, value) => {
    const folded = fold(name);
    const texts: string[] = [];
    for (const attribute of hints) {
      const text = value(attribute.name);
      if (typeof text === 'string' && !texts.includes(text) && fold(text) !== folded) texts.push(text);
    }
    return `${inOneLine(name)}\t${inOneLine(texts.join(' · '))}\t${inOneLine(`/datasets/${pack.id}/${slug}`)}`;
  };
}

/** The line of one record (`searchLines`). */
export function searchLine(
  pack: Pick<Pack, 'id' | 'attributes' | 'group_by'>,
  ...line: Parameters<SearchLine>
): ReturnType<SearchLine> {
  return searchLines(pack)(...line);
}

/** White space that a cell cannot contain: other than a space, or several. */
const GAP = /[^\S ]| {2}/;
const inOneLine = (cell: string): string => (GAP.test(cell) ? cell.replace(/\s+/g, ' ') : cell);
