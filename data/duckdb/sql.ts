// Statements as values: text with `?` for every value. Values can only be bound, identifiers only quoted, never pasted.

export type SqlValue = string | number | boolean | null;

/** A piece of a statement; pieces are combined, never edited. */
export interface Sql {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

const isSql = (part: Sql | SqlValue): part is Sql => typeof part === 'object' && part !== null;

/**
 * Template of a statement: a piece is spliced, anything else becomes a bound value.
 * `sql\`${name('country:fold')} = ${'peru'}\`` is `{text: '"country:fold" = ?', values: ['peru']}`.
 */
export function sql(texts: TemplateStringsArray, ...parts: (Sql | SqlValue)[]): Sql {
  let text = texts[0] ?? '';
  const values: SqlValue[] = [];
  parts.forEach((part, index) => {
    text += (isSql(part) ? part.text : '?') + (texts[index + 1] ?? '');
    values.push(...(isSql(part) ? part.values : [part]));
  });
  return { text, values };
}

/** A quoted identifier. Callers pass names of the pack or of the layout, never of a request. */
export function name(identifier: string): Sql {
  if (identifier.includes('\0')) throw new Error('an identifier cannot hold NUL');
  return { text: `"${identifier.replaceAll('"', '""')}"`, values: [] };
}

/** Pieces with a separator between them. */
export function join(parts: readonly Sql[], separator: ', ' | ' AND ' | ' OR '): Sql {
  return { text: parts.map((part) => part.text).join(separator), values: parts.flatMap((part) => part.values) };
}

/** A string literal for the few statements that take no bound values: CREATE, SET. Paths of ours only. */
export function literal(text: string): Sql {
  if (text.includes('\0')) throw new Error('a literal cannot hold NUL');
  return { text: `'${text.replaceAll("'", "''")}'`, values: [] };
}

/** Rows of many texts as one bound value. */
export function textsOf(texts: readonly string[]): Sql {
  return sql`SELECT unnest(from_json(${JSON.stringify(texts)}, '["VARCHAR"]'))`;
}

/** A count written into the text: a bound LIMIT keeps the planner from taking the best few without sorting all. */
export function whole(count: number): Sql {
  if (!Number.isSafeInteger(count) || count < 0) throw new Error('a count must be a whole number');
  return { text: String(count), values: [] };
}
