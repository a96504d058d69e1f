import { randomUUID } from "node:crypto";
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type TimeInput,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { parseTraceParent } from "@opentelemetry/core";

export { type Span, SpanKind } from "@opentelemetry/api";

/** An operation as a trace shows it. */
export interface TracedOperation {
  name: string;
  /** `SpanKind.INTERNAL` by default. */
  kind?: SpanKind;
  attributes?: Attributes;
  /** When the operation began; now by default. */
  startTime?: TimeInput;
}

let tracer: Tracer | undefined;
let shouldTrustClients = false;

/**
 * Sets the tracer that records spans from now on; undefined turns tracing off. With `shouldTrustClients`, clients
 * decide what is recorded.
 */
export function setTracer(newTracer: Tracer | undefined, options: { shouldTrustClients?: boolean } = {}): void {
  tracer = newTracer;
  shouldTrustClients = options.shouldTrustClients ?? false;
}

export function isTracingEnabled(): boolean {
  return tracer !== undefined;
}

/** Starts a span in the trace of `traceparent` (W3C), or in a new trace. It is not recorded while tracing is off. */
export function startSpan(operation: TracedOperation, traceparent: string | null | undefined): Span {
  return startChildSpan(parseParentContext(traceparent), operation);
}

/** Starts a span that is never recorded and only has an id in the trace. */
export function startUnrecordedSpan(traceparent: string | null | undefined): Span {
  return createUnrecordedSpan(parseParentContext(traceparent));
}

/**
 * Starts a span for the request of a client. The span keeps the trace id of the client, so that the client can find it.
 * Whether it is recorded is decided as for a new trace: otherwise clients could have every request recorded, at the
 * operator's cost, with the sampled flag or with an id that a ratio sampler accepts.
 */
export function startClientRequestSpan(operation: TracedOperation, traceparent: string | undefined): Span {
  const parent = parseParentContext(traceparent);
  if (!tracer || !parent || shouldTrustClients) return startChildSpan(parent, operation);
  // This span only reveals the sampler's decision; it is never exported, because it is never ended.
  const { traceFlags } = tracer.startSpan(operation.name, { root: true }).spanContext();
  return startChildSpan({ ...parent, traceFlags }, operation);
}

export function formatTraceparent(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

function parseParentContext(traceparent: string | null | undefined): SpanContext | null {
  return traceparent ? parseTraceParent(traceparent) : null;
}

function startChildSpan(parent: SpanContext | null, operation: TracedOperation): Span {
  if (!tracer) return createUnrecordedSpan(parent);
  const { name, kind = SpanKind.INTERNAL, attributes, startTime } = operation;
  const context = parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
  const times = startTime === undefined ? {} : { startTime };
  return tracer.startSpan(name, { kind, ...(attributes && { attributes }), ...times }, context);
}

function createUnrecordedSpan(parent: SpanContext | null): Span {
  const { traceId = randomHex(32), traceFlags = TraceFlags.SAMPLED } = parent ?? {};
  return trace.wrapSpanContext({ traceId, spanId: randomHex(16), traceFlags });
}

/** Returns up to 32 random hex digits. UUIDs are several times cheaper than other random bytes: Node batches them. */
function randomHex(digits: number): string {
  return randomUUID().replaceAll("-", "").slice(-digits);
}

/** Ends the span when `work` settles, and marks the span as failed when it rejects. */
export async function endSpanAfter<T>(span: Span, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    markSpanFailed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

export function markSpanFailed(span: Span, error: unknown): void {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  span.setStatus({ code: SpanStatusCode.ERROR, message: message.slice(0, 1_000) });
}
