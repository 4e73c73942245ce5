// A strict CSV parser by RFC 4180: throws when a file violates the grammar.

/** The records of a file as lists of fields. Every record must end with CR LF. */
export function parseCsv(file: string): string[][] {
  const records: string[][] = [];
  let at = 0;
  while (at < file.length) {
    const record: string[] = [];
    for (;;) {
      const field = /"((?:[^"]|"")*)"|([^",\r\n]*)/y;
      field.lastIndex = at;
      const [whole = '', quoted, bare = ''] = field.exec(file) ?? [];
      record.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
      at += whole.length;
      if (file[at] !== ',') break;
      at += 1;
    }
    if (file.slice(at, at + 2) !== '\r\n')
      throw new Error(`no end of record at ${at}: ${JSON.stringify(file.slice(at, at + 20))}`);
    at += 2;
    records.push(record);
  }
  return records;
}
