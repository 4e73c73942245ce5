// The API's log: one JSON object per line, with request ids, without secrets and without personal data.
import type { Server, ServerResponse } from 'node:http';
import pino from 'pino';
import type { Config } from '../../config.ts';
import { requestIdOf } from './request.ts';

/** A handled request. */
export interface RequestLog {
  request_id?: string | undefined;
  method: string;
  /** Path without query, and without segments that may be secrets (`loggedPath`). */
  path: string;
  status: number;
  /** Milliseconds from the head of the request to the last byte of the response. */
  ms: number;
  /** The client disconnected before the end. */
  cut?: boolean | undefined;
}

export interface Log {
  /** Logs an event, as a sentence. */
  info(line: string): void;
  /** Logs a handled request: level `error` from status 500 on, else `info`. */
  answered(request: RequestLog): void;
  /** Logs an internal error, with its request id, or the name of the component outside of requests. */
  failed(error: unknown, request_id: string): void;
  /** Writes lines that another thread of this process made. */
  written(lines: string): void;
  /** Flushes buffered lines. */
  close(): void;
}

export interface LogOptions {
  /** LOG_LEVEL. */
  level: Config['LOG_LEVEL'];
  /** Output of the log; absent: standard error. */
  write?: (line: string) => void;
  /** Plain lines for a terminal instead of JSON. */
  terminal?: boolean;
}

/**
 * Patterns removed from every line: our keys and Stripe's, access tokens, credentials of headers, tokens in
 * URLs, e-mail addresses. Callers leave them out; this covers what they miss, such as messages of third-party
 * errors.
 */
const SECRETS: readonly [RegExp, string][] = [
  [/dsr_(?:admin_)?[\w-]{16,}/g, '[key]'],
  [/\b(?:sk|rk|pk|whsec)_[\w-]{8,}/g, '[key]'],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g, '[token]'],
  [/\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi, '$1 [credential]'],
  [/(token|key|code|secret|session|signature|cookie|password)=[^\s&"'\\;]{6,}/gi, '$1=[secret]'],
  [/\/\/[^\s/@"':]*:[^\s/@"']+@/g, '//[credential]@'],
  [/[\w.+%-]+(?:@|%40)[\w-]+(?:\.[\w-]+)+/g, '[e-mail]'],
];

/**
 * Matches every text that contains one of the patterns; most lines do not, and skip the seven replacements.
 */
const SUSPECT = /dsr_|[rsp]k_|whsec_|eyJ|bearer|basic|[=@]|%40/i;

/** Removes secrets and e-mail addresses from a text. */
export function redactSecrets(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return SECRETS.reduce((left, [pattern, instead]) => left.replace(pattern, instead), text);
}

/** Paths without secrets; of any other path, only the first segment is logged. */
const OPEN = /^\/(v1|datasets|\.well-known|mcp|a2a|ops)(\/|$)/;

/** The loggable form of a path: the address of a checkout or an authorization is itself a secret. */
export function loggedPath(pathname: string): string {
  if (OPEN.test(pathname)) return pathname.slice(0, 512);
  const [, first = '', ...rest] = pathname.split('/');
  return rest.length === 0 ? `/${first}`.slice(0, 128) : `/${first.slice(0, 128)}/…`;
}

/** Name, message, stack and cause only: errors of libraries may contain whole requests with their headers. */
function plainError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const cause = error.cause === undefined ? {} : { cause: plainError(error.cause) };
  return { type: error.name, message: error.message, stack: error.stack ?? '', ...cause };
}

/**
 * Buffered writes: this many bytes, or this many milliseconds. A write per line would cost a busy service a
 * fifth of its CPU time.
 */
const TOGETHER = { minLength: 8192, periodicFlush: 100 };

/** Opens the log. */
export function openLog({ level, write, terminal = false }: LogOptions): Log {
  const destination = write === undefined ? pino.destination({ fd: 2, sync: false, ...TOGETHER }) : { write };
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => error },
      hooks: { streamWrite: (line) => redactSecrets(terminal ? forPeople(line) : line) },
    },
    destination,
  );
  return {
    info: (line) => logger.info(line),
    answered: (request) => logger[request.status >= 500 ? 'error' : 'info'](request, 'request'),
    failed: (error, request_id) => logger.error({ request_id, err: plainError(error) }, 'fault'),
    written: (lines) => void destination.write(lines),
    close: () => {
      if ('flushSync' in destination) destination.flushSync();
    },
  };
}

/** Formats a line for a terminal. */
function forPeople(line: string): string {
  const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const clock = String(time).slice(11, 19);
  const loud = level === 'info' ? '' : `${String(level)}: `;
  const { method, path, status, ms, request_id, err } = rest;
  if (method !== undefined) return `${clock} ${loud}${method} ${path} ${status} ${ms} ms\n`;
  if (err === undefined) return `${clock} ${loud}${msg}\n`;
  const { stack, message } = err as { stack?: string; message?: string };
  return `${clock} ${loud}request ${request_id}: ${stack ?? message}\n`;
}

/** A request target without its query. */
export function withoutQuery(address: string): string {
  const end = address.search(/[?#]/);
  return end < 0 ? address : address.slice(0, end);
}

/** Start of a request (performance.now()), on its response. */
const BEGAN: unique symbol = Symbol('request began');

/** Logs every request of a server, after the last byte of its response. */
export function logRequests(server: Server, log: Log): void {
  // One listener for all responses: a closure for each request would outlive it.
  function onClose(this: ServerResponse & { [BEGAN]?: number }): void {
    const { method = '', url = '' } = this.req;
    log.answered({
      request_id: requestIdOf(this),
      method,
      path: loggedPath(withoutQuery(url)),
      status: this.statusCode,
      ms: Math.round((performance.now() - this[BEGAN]!) * 10) / 10,
      cut: this.writableFinished ? undefined : true,
    });
  }
  server.prependListener('request', (_incoming, outgoing: ServerResponse & { [BEGAN]?: number }) => {
    outgoing[BEGAN] = performance.now();
    outgoing.on('close', onClose);
  });
}
