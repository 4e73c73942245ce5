// Traces by OpenTelemetry, sent over OTLP/HTTP. Loaded only when OTEL_EXPORTER_OTLP_ENDPOINT is set.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Context, context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { isTracingSuppressed, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type ServerRequest, type SpanAttributes, type TraceSettings, type Tracing, useTracing } from './tracing.ts';

/** Methods of RFC 9110 and RFC 5789; any other one is `_OTHER`, so that clients cannot name spans. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']);

const propagator = new W3CTraceContextPropagator();

/** Opens the exporter, which reads OTEL_EXPORTER_OTLP_ENDPOINT and its other settings itself, and turns traces on; `stopTracing` ends both. */
export function startTracing(settings: TraceSettings): void {
  useTracing(new Telemetry(settings));
}

class Telemetry implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer;
  readonly #stop: () => void;

  constructor({ ratio, service, outgoing }: TraceSettings) {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const named = resourceFromAttributes({ 'service.name': service });
    this.#provider = new TracerProvider({
      resource: defaultResource()
        .merge(named)
        .merge(detectResources({ detectors: [serviceNameEnvDetector] })),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
      spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
    });
    this.#tracer = this.#provider.getTracer('dataset-register');
    this.#stop = outgoing ? traceOutgoing((name, options) => this.#tracer.startSpan(name, options)) : () => {};
  }

  run<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
    const span = this.#tracer.startSpan(name, { attributes });
    return context.with(trace.setSpan(context.active(), span), async () => {
      try {
        return await work();
      } catch (error) {
        fail(span, error);
        throw error;
      } finally {
        span.end();
      }
    });
  }

  add(name: string, attributes: SpanAttributes, began: number, ended: number): void {
    if (trace.getSpan(context.active()) === undefined) return;
    const kind = 'db.system.name' in attributes ? SpanKind.CLIENT : SpanKind.INTERNAL;
    this.#tracer.startSpan(name, { attributes, startTime: began, kind }).end(ended);
  }

  note(attributes: SpanAttributes): void {
    trace.getSpan(context.active())?.setAttributes(attributes);
  }

  serve({ method, path, headers }: ServerRequest, work: () => void): (status: number, complete: boolean) => void {
    const name = METHODS.has(method) ? method : '_OTHER';
    const parent = propagator.extract(ROOT_CONTEXT, headers, {
      keys: (carrier) => Object.keys(carrier),
      get: (carrier, key) => carrier[key],
    });
    const attributes = { 'http.request.method': name, 'url.path': path, 'url.scheme': 'http' };
    const span = this.#tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    const inside = routeNamed(span, name);
    context.with(trace.setSpan(parent, inside), work);
    return (status, complete) => {
      span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', String(status));
      if (!complete) span.addEvent('client disconnected');
      span.end();
    };
  }

  async close(): Promise<void> {
    this.#stop();
    // A collector that does not answer must not fail the process that stops.
    await this.#provider.shutdown().catch(() => {});
    context.disable();
  }
}

/** The span of a request, named after its route once that is known, as the conventions require. */
function routeNamed(span: Span, method: string): Span {
  const setAttributes = span.setAttributes.bind(span);
  span.setAttributes = (attributes) => {
    const route = attributes['http.route'];
    if (route !== undefined) span.updateName(`${method} ${String(route)}`);
    return setAttributes(attributes);
  };
  return span;
}

/** Notes the class and code of an error: messages may contain values of requests. */
function fail(span: Span, error: unknown): void {
  const { name = 'Error', code } = (error ?? {}) as { name?: string; code?: unknown };
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', typeof code === 'string' ? code : name);
}

type StartSpan = (name: string, options: { kind: SpanKind; attributes: SpanAttributes }) => Span;

/** What requests of undici (and `fetch`) and of `node:http` have in common. */
interface OutgoingRequest {
  method: string;
  host: string;
  setHeader(name: string, value: string): void;
}

/**
 * Gives each request to another service that belongs to a trace a span and `traceparent`. Only the host is noted:
 * paths and queries of other services may contain keys. Returns the function that ends it.
 */
function traceOutgoing(startSpan: StartSpan): () => void {
  const spans = new WeakMap<object, Span>();
  const begin = (request: object, { method, host, setHeader }: OutgoingRequest) => {
    const active: Context = context.active();
    if (trace.getSpan(active) === undefined || isTracingSuppressed(active)) return;
    const attributes = { 'http.request.method': method, 'server.address': host };
    const span = startSpan(method, { kind: SpanKind.CLIENT, attributes });
    spans.set(request, span);
    propagator.inject(trace.setSpan(active, span), null, { set: (_, name, value) => setHeader(name, value) });
  };
  const answered = (request: object, status: number | undefined) => {
    if (status !== undefined) spans.get(request)?.setAttribute('http.response.status_code', status);
  };
  const end = (request: object, error?: unknown) => {
    const span = spans.get(request);
    if (span === undefined) return;
    if (error !== undefined) fail(span, error);
    span.end();
    spans.delete(request);
  };
  const channels: Record<string, (message: never) => void> = {
    'undici:request:create': ({ request }: { request: UndiciRequest }) =>
      begin(request, {
        method: request.method,
        host: new URL(String(request.origin)).hostname,
        setHeader: (name, value) => request.addHeader(name, value),
      }),
    'undici:request:headers': ({ request, response }: { request: object; response: { statusCode: number } }) =>
      answered(request, response.statusCode),
    'undici:request:trailers': ({ request }: { request: object }) => end(request),
    'undici:request:error': ({ request, error }: { request: object; error: unknown }) => end(request, error),
    'http.client.request.created': ({ request }: { request: NodeRequest }) =>
      begin(request, {
        method: request.method,
        host: request.host,
        setHeader: (name, value) => void request.setHeader(name, value),
      }),
    'http.client.response.finish': ({ request, response }: { request: object; response: { statusCode?: number } }) => {
      answered(request, response.statusCode);
      end(request);
    },
    'http.client.request.error': ({ request, error }: { request: object; error: unknown }) => end(request, error),
  };
  const listeners = Object.entries(channels) as [string, (message: unknown) => void][];
  for (const [name, listener] of listeners) subscribe(name, listener);
  return () => {
    for (const [name, listener] of listeners) unsubscribe(name, listener);
  };
}

interface UndiciRequest {
  method: string;
  origin: unknown;
  addHeader(name: string, value: string): void;
}

type NodeRequest = Pick<import('node:http').ClientRequest, 'method' | 'host' | 'setHeader'>;
