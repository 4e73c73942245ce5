// The service answers small queries of the console: one SELECT, few rows, within its limits of time.
import type { Cell, ResultColumn, ResultRow } from './cells.ts';

/** Rows that one call returns. */
const MOST = 1000;

/** Milliseconds that the page waits: the limit of a statement, and a queue. */
const PATIENCE = 12_000;

/** Calls while the service is not ready, and the longest wait between two, in seconds. */
const [ATTEMPTS, LONGEST_WAIT] = [4, 5];

const HEADERS = { 'content-type': 'application/json', accept: 'application/json' };

export interface ServiceResult {
  columns: ResultColumn[];
  rows: ResultRow[];
  /** Whether there are more rows. */
  truncated: boolean;
}

/** A mistake in the statement, with the message of the service. */
export class StatementError extends Error {}

/** Whether the service takes a statement of this kind; the others run in the browser only. */
const isSelect = (sql: string) => /^(\s|--[^\n]*\n|\/\*[\s\S]*?\*\/|\()*(select|from|with|values)\b/i.test(sql);

/**
 * The answer of `POST /v1/{ds}/sql`; null when the browser has to run the statement: the service is offline, stays busy, or
 * has no SQL, or the statement takes too long. Throws a StatementError.
 */
export async function askService(api: string, sql: string): Promise<ServiceResult | null> {
  if (!isSelect(sql) || sql.length > 10_000) return null;
  const request = { method: 'POST', headers: HEADERS, body: JSON.stringify({ sql, max_rows: MOST }) };
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${api}/sql`, { ...request, signal: AbortSignal.timeout(PATIENCE) }).catch(() => null);
    const body = (await response?.json().catch(() => null)) as Answer | null | undefined;
    if (body?.error === 'invalid_sql' || body?.error === 'validation_error')
      throw new StatementError(body.message ?? '');
    if (response?.ok && body?.columns !== undefined && body.rows !== undefined)
      return resultOf(body.columns, body.rows, body.truncated === true);
    // The tables of a new release are being made: that takes less time than to download the engine.
    const seconds = Number(response?.headers.get('retry-after') ?? Number.POSITIVE_INFINITY);
    if (body?.error !== 'unavailable' || attempt === ATTEMPTS || seconds > LONGEST_WAIT) return null;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

function resultOf(answered: NonNullable<Answer['columns']>, cells: Cell[][], truncated: boolean): ServiceResult {
  const columns = answered.map(resultColumn);
  const rows = cells.map((row) => row.map((cell, at) => (columns[at]!.kind === 'time' ? timeText(cell) : cell)));
  return { columns, rows, truncated };
}

interface Answer {
  columns?: { name: string; type: string }[];
  rows?: Cell[][];
  truncated?: boolean;
  error?: string;
  message?: string;
}

/** A time as the engine of the browser prints it. */
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
