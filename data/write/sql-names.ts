// Names in SQL statements, also for pages.

/** Words that SQL reserves: a table or column with such a name is quoted. */
const RESERVED = new Set(
  'all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default deferrable desc describe distinct do else end except false fetch for foreign from group having in initially intersect into lambda lateral leading limit not null offset on only or order pivot placing primary qualify references returning select show some summarize symmetric table then to trailing true union unique unpivot using variadic when where window with'.split(
    ' ',
  ),
);

/** A text as a statement writes it. */
export const writtenText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The table of a dataset: its id with `_` for `-`. */
export const tableName = (dataset: string): string => dataset.replaceAll('-', '_');

/** A name of a table or column as a statement writes it: quoted only if it has to be. */
export const writtenName = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name) ? name : `"${name.replaceAll('"', '""')}"`;
