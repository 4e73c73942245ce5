// SQL statements as values: text with `?` for every value. Values can only be bound and identifiers only
// quoted.

export type SqlValue = string | number | boolean | null;

/** A fragment of a statement; fragments are combined, never edited. */
export interface Sql {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

const isSql = (part: Sql | SqlValue): part is Sql => typeof part === 'object' && part !== null;

/**
 * Template of a statement: a fragment is inserted, anything else becomes a bound value.
 *
 * @example
 * ```ts
 * sql`${identifier('country:fold')} = ${'peru'}`; // {text: '"country:fold" = ?', values: ['peru']}
 * ```
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
export function identifier(text: string): Sql {
  if (text.includes('\0')) throw new Error('an identifier must not contain NUL');
  return { text: `"${text.replaceAll('"', '""')}"`, values: [] };
}

/** Fragments with a separator. */
export function join(parts: readonly Sql[], separator: ', ' | ' AND ' | ' OR ' | ' UNION ALL '): Sql {
  return { text: parts.map((part) => part.text).join(separator), values: parts.flatMap((part) => part.values) };
}

/** A string literal for statements without bound values: CREATE, SET. Only for our own paths. */
export function literal(text: string): Sql {
  if (text.includes('\0')) throw new Error('a literal must not contain NUL');
  return { text: `'${text.replaceAll("'", "''")}'`, values: [] };
}

/** A table of texts as one bound value. */
export function textsOf(texts: readonly string[]): Sql {
  return sql`SELECT unnest(from_json(${JSON.stringify(texts)}, '["VARCHAR"]'))`;
}

/** A count as text: with a bound LIMIT the planner sorts all rows instead of taking the first few. */
export function countLiteral(count: number): Sql {
  if (!Number.isSafeInteger(count) || count < 0)
    throw new Error(`a count must be an integer of at least 0 (got ${count})`);
  return { text: String(count), values: [] };
}
