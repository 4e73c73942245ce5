// The service answers the queries of the console: one SELECT, within its limits of rows and time.
import type { Cell, ResultColumn, ResultRow } from './cells.ts';

/** Rows that one call returns. */
const MOST = 10_000;

/** Milliseconds that the page waits: the limit of a statement, and a queue. */
const PATIENCE = 15_000;

/** Calls while the service is not ready, and the longest wait between two, in seconds. */
const [ATTEMPTS, LONGEST_WAIT] = [4, 5];

const HEADERS = { 'content-type': 'application/json', accept: 'application/json' };

export interface ServiceResult {
  columns: ResultColumn[];
  rows: ResultRow[];
  /** Whether there are more rows. */
  truncated: boolean;
}

interface Answer {
  columns?: { name: string; type: string }[];
  rows?: Cell[][];
  truncated?: boolean;
  error?: string;
  message?: string;
}

/** The answer of `POST /v1/{ds}/sql`. Throws an error whose message is for the visitor. */
export async function queryService(api: string, sql: string, stop: AbortSignal): Promise<ServiceResult> {
  const request = { method: 'POST', headers: HEADERS, body: JSON.stringify({ sql, max_rows: MOST }) };
  for (let attempt = 1; ; attempt++) {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(PATIENCE)]);
    const response = await fetch(`${api}/sql`, { ...request, signal }).catch(() => null);
    const body = (await response?.json().catch(() => null)) as Answer | null | undefined;
    if (response?.ok && body?.columns !== undefined && body.rows !== undefined)
      return resultOf(body.columns, body.rows, body.truncated === true);
    // The tables of a new release are being made.
    const seconds = Number(response?.headers.get('retry-after') ?? Number.POSITIVE_INFINITY);
    const waits = body?.error === 'unavailable' && attempt < ATTEMPTS && seconds <= LONGEST_WAIT;
    if (!waits || stop.aborted) throw new Error(failure(response, body, stop.aborted));
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

/** Why there is no answer. */
function failure(response: Response | null, body: Answer | null | undefined, stopped: boolean): string {
  if (stopped) return 'The query was stopped.';
  if (body?.message !== undefined) return body.message;
  return response?.status === 404
    ? 'Queries need the service, which this host lacks. The files of the dataset have the same values.'
    : "Couldn't run the query. Check the connection, then run it again.";
}

function resultOf(answered: NonNullable<Answer['columns']>, cells: Cell[][], truncated: boolean): ServiceResult {
  const columns = answered.map(resultColumn);
  const rows = cells.map((row) => row.map((cell, at) => (columns[at]!.kind === 'time' ? timeText(cell) : cell)));
  return { columns, rows, truncated };
}

/** A time as SQL prints it. */
const timeText = (cell: Cell): Cell => (typeof cell === 'string' ? cell.replace('T', ' ').replace(/Z$/, '') : cell);

const INTEGER = /^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/;
const NUMBER = /^(FLOAT|DOUBLE|DECIMAL\(.*\))$/;

function resultColumn({ name, type }: { name: string; type: string }): ResultColumn {
  const integer = INTEGER.test(type);
  const day = type === 'DATE';
  const time = day || type.startsWith('TIMESTAMP');
  const text = type === 'VARCHAR' || type === 'UUID' || type === 'TIME' || type.startsWith('ENUM');
  const kind =
    integer || NUMBER.test(type) ? 'number' : time ? 'time' : type === 'BOOLEAN' ? 'boolean' : text ? 'text' : 'other';
  return { name, kind, integer, day };
}
