// CSV for collectors: a header, optional quotes, either line end.

/** Pattern of an unquoted field for a delimiter. */
const bareField = (delimiter: string) => new RegExp(`[^${delimiter === '\t' ? '\\t' : delimiter}\\r\\n]*`, 'y');

/**
 * The rows of a CSV text by the names in its first line; an empty or missing field is undefined. Empty lines
 * are skipped. Throws with the line number when a row has more fields than the header, a quote is never
 * closed, or text follows a closing quote; and when two columns have the same name.
 */
export function* csvRows(
  text: string,
  delimiter: ',' | ';' | '\t' = ',',
): Generator<Record<string, string | undefined>> {
  const bare = bareField(delimiter);
  let header: string[] | null = null;
  let line = 1;
  // A byte order mark is not part of the first name.
  for (let at = text.startsWith('\ufeff') ? 1 : 0; at < text.length; ) {
    const began = line;
    const fields: string[] = [];
    for (;;) {
      bare.lastIndex = at;
      const quoted = text[at] === '"';
      const whole = quoted ? text.slice(at, closing(text, at, line)) : bare.exec(text)![0];
      fields.push(quoted ? whole.slice(1, -1).replaceAll('""', '"') : whole);
      line += whole.split('\n').length - 1;
      at += whole.length;
      if (text[at] !== delimiter) break;
      at++;
    }
    const end = /\r\n|\n|\r|$/y;
    end.lastIndex = at;
    const ended = end.exec(text);
    if (ended === null)
      throw new Error(`line ${line} of the CSV: ${JSON.stringify(text.slice(at, at + 20))} follows a closing quote`);
    at += ended[0].length;
    line++;
    if (fields.length === 1 && fields[0] === '') continue;
    if (header === null) {
      header = distinct(fields.map((name) => name.trim()));
      continue;
    }
    if (fields.length > header.length)
      throw new Error(`line ${began} of the CSV has ${fields.length} fields (the header has ${header.length})`);
    yield Object.fromEntries(header.map((name, i) => [name, fields[i] || undefined]));
  }
}

/**
 * Position after the closing quote of a quoted field. A search instead of a pattern, which would need a stack
 * frame per character of a long field.
 */
function closing(text: string, start: number, line: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 2))
    if (text[at + 1] !== '"') return at + 1;
  throw new Error(
    `line ${line} of the CSV: the quote before ${JSON.stringify(text.slice(start + 1, start + 21))} is never closed`,
  );
}

/** Several columns may have no name: files whose lines end with the delimiter have them. */
function distinct(header: string[]): string[] {
  const again = header.find((name, i) => name !== '' && header.indexOf(name) < i);
  if (again !== undefined) throw new Error(`the header of the CSV has two columns ${JSON.stringify(again)}`);
  return header;
}
