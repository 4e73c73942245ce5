// The log of a running API: one JSON object a line, with request ids, and with nothing in it that opens anything or names anybody.
import type { Server } from 'node:http';
import pino from 'pino';
import type { Config } from '../../config.ts';
import { requestIdOf } from './request.ts';

/** One answered request. */
export interface Answered {
  request_id?: string | undefined;
  method: string;
  /** Path without its query, and without segments that may be secrets (`loggedPath`). */
  path: string;
  status: number;
  /** Milliseconds from the head of the request to the last byte of its answer. */
  ms: number;
  /** The client went before that. */
  cut?: boolean;
}

export interface Log {
  /** Something that happened, in a sentence. */
  info(line: string): void;
  /** An answered request: `error` from 500 on, else `info`. */
  answered(request: Answered): void;
  /** Our own fault, with the request that met it, or the part of the service where there was none. */
  failed(error: unknown, request_id: string): void;
  /** Writes what is still on its way. */
  close(): void;
}

export interface LogOptions {
  /** LOG_LEVEL. */
  level: Config['LOG_LEVEL'];
  /** Where lines go; absent: standard error. */
  write?: (line: string) => void;
  /** Plain lines for a person at a terminal in place of JSON. */
  terminal?: boolean;
}

/**
 * What never stands in the log, whoever wrote it into a message: keys of ours and of Stripe, access tokens, credentials of a header, tokens in
 * an address, e-mail addresses. Callers leave them out; this is for what they did not think of, such as the text of an error from elsewhere.
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

/** What stands in every text that one of them finds; most lines have nothing of it, and are not looked through seven times. */
const SUSPECT = /dsr_|[rsp]k_|whsec_|eyJ|bearer|basic|[=@]|%40/i;

/** A text without secrets and without anybody's address. */
export function scrubbed(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return SECRETS.reduce((left, [pattern, instead]) => left.replace(pattern, instead), text);
}

/** Addresses that hold nothing secret in their path; of any other only the first segment is logged. */
const OPEN = /^\/(v1|datasets|\.well-known|mcp|a2a|ops)(\/|$)/;

/** A path as it may be logged: a checkout's or an authorization's address is itself the secret that opens it. */
export function loggedPath(pathname: string): string {
  if (OPEN.test(pathname)) return pathname.slice(0, 512);
  const [, first = '', ...rest] = pathname.split('/');
  return rest.length === 0 ? `/${first}`.slice(0, 128) : `/${first.slice(0, 128)}/…`;
}

/** Only what tells where it went wrong: errors from elsewhere carry whole requests along, with their headers. */
function plainError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const cause = error.cause === undefined ? {} : { cause: plainError(error.cause) };
  return { type: error.name, message: error.message, stack: error.stack ?? '', ...cause };
}

/** Lines go out this many bytes at once, or after this many milliseconds: a write for each would cost a busy service a fifth of its time. */
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
      serializers: { err: (told: unknown) => told },
      hooks: { streamWrite: (line) => scrubbed(terminal ? forPeople(line) : line) },
    },
    destination,
  );
  return {
    info: (line) => logger.info(line),
    answered: (request) => {
      const level = request.status >= 500 ? 'error' : 'info';
      if (!logger.isLevelEnabled(level)) return;
      const line = answeredLine(level, request);
      destination.write(terminal ? scrubbed(forPeople(line)) : line);
    },
    failed: (error, request_id) => logger.error({ request_id, err: plainError(error) }, 'fault'),
    close: () => {
      if ('flushSync' in destination) destination.flushSync();
    },
  };
}

/** The time of the last line, written once for all lines of a millisecond. */
let lastTime = 0;
let lastText = '';

function timeText(): string {
  const now = Date.now();
  if (now !== lastTime) {
    lastTime = now;
    lastText = new Date(now).toISOString();
  }
  return lastText;
}

/**
 * The line of an answered request, as the logger would write it. There is one for every answer, and put together by member it took longer than
 * what most answers took. Only the path and the id are texts from elsewhere.
 */
function answeredLine(level: string, { request_id, method, path, ms, cut, status }: Answered): string {
  const id = request_id === undefined ? '' : `"request_id":${JSON.stringify(scrubbed(request_id))},`;
  const from = `"method":${JSON.stringify(method)},"path":${JSON.stringify(scrubbed(path))}`;
  return `{"level":"${level}","time":"${timeText()}",${id}${from},"ms":${ms},${cut ? '"cut":true,' : ''}"status":${status},"msg":"request"}\n`;
}

/** A line for a person: what happened, and to a request what came of it. */
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

function withoutQuery(address: string): string {
  const end = address.search(/[?#]/);
  return end < 0 ? address : address.slice(0, end);
}

/** Tells the log of every answer of a server, when its last byte is out. */
export function logRequests(server: Server, log: Log): void {
  server.prependListener('request', (incoming, outgoing) => {
    const began = performance.now();
    outgoing.on('close', () => {
      log.answered({
        request_id: requestIdOf(outgoing),
        method: incoming.method ?? '',
        path: loggedPath(withoutQuery(incoming.url ?? '')),
        status: outgoing.statusCode,
        ms: Math.round((performance.now() - began) * 10) / 10,
        cut: !outgoing.writableFinished,
      });
    });
  });
}
