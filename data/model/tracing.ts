// Traces: the place that all parts create spans by. Off, nothing is loaded and work runs as it is.

/** Names follow the semantic conventions of OpenTelemetry; no value is a secret or personal. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface TraceSettings {
  /** Share of the traces that begin here that are recorded, 0 to 1. */
  ratio: number;
  /** `service.name`, unless OTEL_SERVICE_NAME is set. */
  service: string;
  /** Requests to other services get a span and the header `traceparent`. */
  outgoing: boolean;
}

/** A request that a server received. */
export interface ServerRequest {
  method: string;
  /** Without query and secrets. */
  path: string;
  headers: NodeJS.Dict<string | string[]>;
}

export interface Tracing {
  /** Runs `work` in a span, which ends with it; an error is noted by its class and code only. */
  run<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>;
  /** Adds a span from `began` to `ended` (Unix time in milliseconds) below the current one; without one, nothing. */
  add(name: string, attributes: SpanAttributes, began: number, ended: number): void;
  /** Adds attributes to the current span. */
  note(attributes: SpanAttributes): void;
  /**
   * Runs `work` in the span of a request, which continues the trace of its `traceparent`. Call `end` with the
   * status after the response; it reads the route from `http.route`, if `note` added it.
   */
  serve(request: ServerRequest, work: () => void): (status: number, complete: boolean) => void;
  /** Sends what is left. */
  close(): Promise<void>;
}

/** Null while traces are off. */
let current: Tracing | null = null;

export const tracing = (): Tracing | null => current;

/** Turns traces on (data/model/opentelemetry.ts). Call it before the parts that create spans are opened. */
export function useTracing(opened: Tracing): void {
  current = opened;
}

/** Sends what is left, and turns traces off. */
export async function stopTracing(): Promise<void> {
  const stopped = current;
  current = null;
  await stopped?.close();
}

/** Runs `work` in a span while traces are on. */
export function trace<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
  return current === null ? work() : current.run(name, attributes, work);
}
