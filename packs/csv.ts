// CSV for collectors, as publishers have it: a header, quotes where they are needed, either line end.

/** A field, quoted or bare; the delimiter is put in. */
const field = (delimiter: string) =>
  new RegExp(`"((?:[^"]|"")*)"|([^${delimiter === '\t' ? '\\t' : delimiter}\\r\\n]*)`, 'y');

/**
 * The rows of a CSV text by the names in its first line; an empty field is undefined, as is one that a short row lacks. Lines without any field are passed
 * over. Throws with the line's number where a row has more fields than the header, or text follows a closing quote.
 */
export function* csvRows(
  text: string,
  delimiter: ',' | ';' | '\t' = ',',
): Generator<Record<string, string | undefined>> {
  const token = field(delimiter);
  let header: string[] | null = null;
  let line = 1;
  // A byte order mark is not part of the first name.
  for (let at = text.startsWith('\ufeff') ? 1 : 0; at < text.length; ) {
    const began = line;
    const fields: string[] = [];
    for (;;) {
      token.lastIndex = at;
      const [whole = '', quoted, bare = ''] = token.exec(text) ?? [];
      fields.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
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
      header = fields.map((name) => name.trim());
      continue;
    }
    if (fields.length > header.length)
      throw new Error(`line ${began} of the CSV has ${fields.length} fields, and its header ${header.length}`);
    yield Object.fromEntries(header.map((name, i) => [name, fields[i] || undefined]));
  }
}
