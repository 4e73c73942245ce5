// Reads the answers of an HTTP API, or files on the web, through the crawler's client.
import type { DeclaredAs } from '../../packs/define/sources.ts';
import { Crawler } from '../crawl/polite.ts';
import type { ByteTable } from './csv.ts';
import { ApiClient, type ApiTable } from './http-client.ts';
import type { RawRow, SourceContext, SourceVersion } from './reader.ts';

/**
 * The version of an API: the rows of all its addresses and pages. An answer without pages is requested with the
 * validators of the last run; there is no version when all are unchanged. Lines count over all answers.
 */
export async function* readHttp(declared: DeclaredAs<'http'>, context: SourceContext): AsyncGenerator<SourceVersion> {
  const { pages, format, urls } = declared;
  if (pages?.by === 'cursor' && format !== 'json')
    throw new Error(`pages by a cursor in the answer need format json (got ${format})`);
  const web = await context.web();
  try {
    const client = new ApiClient(declared, context, new Crawler(web));
    const first = await client.firstChange();
    if (first === null) return;
    const { columns, rows } = await joined(client.tables(first));
    const modified = pages === undefined && urls.length === 1 ? first.modified : null;
    const observed_at = modified ?? context.now();
    yield { name: urls[0]!, observed_at, columns, rows, mark: () => client.mark() };
  } finally {
    await web.close();
  }
}

/** Joins the tables of several answers by the names of their columns. */
async function joined(tables: AsyncGenerator<ApiTable>): Promise<ByteTable> {
  const columns: string[] = [];
  const positionsOf = (names: readonly string[]) =>
    names.map((name) => {
      const position = columns.indexOf(name);
      return position < 0 ? columns.push(name) - 1 : position;
    });
  const first = await tables.next();
  if (!first.done) positionsOf(first.value.columns);
  async function* rows(): AsyncGenerator<RawRow> {
    for (let next = first; !next.done; next = await tables.next()) {
      const table = next.value;
      let positions: number[] = [];
      for await (const { line, cells } of table.rows) {
        // A table of JSON lines may get columns while it is read.
        if (positions.length !== table.columns.length) positions = positionsOf(table.columns);
        const joinedCells = new Array<unknown>(columns.length).fill(undefined);
        for (let i = 0; i < cells.length; i++) joinedCells[positions[i]!] = cells[i];
        yield { line: line + table.offset, cells: joinedCells };
        table.count(line);
      }
    }
  }
  return { columns, rows: rows() };
}
