// Errors of data/, without HTTP: api/contract/errors.ts maps each code to a status.

/** Codes of contract section 4 that a query or its engine can raise. */
export type DataErrorCode =
  | 'unknown_filter'
  | 'invalid_filter'
  | 'invalid_sql'
  | 'invalid_parameter'
  | 'invalid_cursor'
  | 'too_many_ids'
  | 'too_many_records'
  | 'unknown_dataset'
  | 'unknown_entity'
  | 'validation_failed'
  | 'rate_limited'
  | 'unavailable'
  | 'query_timeout'
  | 'internal';

/** One line of the 422 body (specification section 3, "Validation error body"). */
export interface ValidationIssue {
  loc: (string | number)[];
  msg: string;
  type: string;
  input?: unknown;
  ctx?: Record<string, unknown>;
}

/** An error with a stable code and a message that names the parameter. */
export class DataError extends Error {
  readonly code: DataErrorCode;
  readonly detail: unknown;
  /** Seconds after which a retry makes sense; undefined: the default of the code. */
  readonly retry_after_seconds: number | undefined;
  constructor(code: DataErrorCode, message: string, detail?: unknown, retry_after_seconds?: number) {
    super(message);
    this.name = 'DataError';
    this.code = code;
    this.detail = detail;
    this.retry_after_seconds = retry_after_seconds;
  }
}

/** An unknown parameter. Channels may replace `hint` where another operation has the parameter. */
export class UnknownParameter extends DataError {
  /** The name that the client sent. */
  readonly parameter: string;
  /** The problem as a sentence. */
  readonly problem: string;
  /** The likely intended name as a sentence; null when no name is similar. */
  readonly suggestion: string | null;

  constructor(parameter: string, problem: string, suggestion: string | null, hint: string) {
    super('unknown_filter', `${problem} ${suggestion ?? hint}`.trim());
    this.parameter = parameter;
    this.problem = problem;
    this.suggestion = suggestion;
  }
}

/** A 422 error for one parameter: wrong type, out of bounds, or missing (contract section 4). */
export function validationError(name: string, msg: string, type: string, input?: unknown): DataError {
  const issue: ValidationIssue = { loc: ['query', name], msg, type, ...(input === undefined ? {} : { input }) };
  return new DataError('validation_failed', `${name}: ${msg}`, [issue]);
}

/** Copy of a 422 error with its message rewritten by `write`. */
export function rewordError(error: DataError, write: (msg: string) => string): DataError {
  const [line, ...more] = error.detail as ValidationIssue[];
  const name = line?.loc.slice(1).join('.') ?? '';
  return new DataError(error.code, `${name}: ${write(line?.msg ?? '')}`, [
    { ...line, msg: write(line?.msg ?? '') },
    ...more,
  ]);
}
