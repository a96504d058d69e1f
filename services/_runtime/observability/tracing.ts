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

export interface TracedOperation {
  name: string;
  /** `SpanKind.INTERNAL` by default. */
  kind?: SpanKind;
  attributes?: Attributes;
  startTime?: TimeInput;
}

let tracer: Tracer | undefined;
let shouldTrustClients = false;

/** Without a tracer, tracing is off. With `shouldTrustClients`, clients decide whether their traces are recorded. */
export function setTracer(newTracer: Tracer | undefined, options: { shouldTrustClients?: boolean } = {}): void {
  tracer = newTracer;
  shouldTrustClients = options.shouldTrustClients ?? false;
}

export function isTracingEnabled(): boolean {
  return tracer !== undefined;
}

/** Starts a span in the trace of `traceparent`, or in a new one. Without operation or tracing, it only has ids. */
export function startSpan(operation: TracedOperation | undefined, traceparent: string | null | undefined): Span {
  return startChildSpan(parseParentContext(traceparent), operation);
}

/**
 * Starts a span with the trace id of the client's `traceparent`. Unless clients are trusted, the sampler decides
 * whether to record it, because clients could otherwise cause every request to be recorded, at the operator's cost.
 */
export function startIncomingRequestSpan(operation: TracedOperation, traceparent: string | undefined): Span {
  const parent = parseParentContext(traceparent);
  if (!tracer || !parent || shouldTrustClients) return startChildSpan(parent, operation);
  // This span is only needed to get the sampler's decision. It is not exported, because it is never ended.
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

function startChildSpan(parent: SpanContext | null, operation: TracedOperation | undefined): Span {
  if (!tracer || !operation) return createUnrecordedSpan(parent);
  const { name, kind = SpanKind.INTERNAL, attributes, startTime } = operation;
  const context = parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
  const times = startTime === undefined ? {} : { startTime };
  return tracer.startSpan(name, { kind, ...(attributes && { attributes }), ...times }, context);
}

function createUnrecordedSpan(parent: SpanContext | null): Span {
  const { traceId = randomHex(32), traceFlags = TraceFlags.SAMPLED } = parent ?? {};
  return trace.wrapSpanContext({ traceId, spanId: randomHex(16), traceFlags });
}

/** At most 32 digits. Node generates UUIDs faster than other random values. */
function randomHex(digits: number): string {
  return randomUUID().replaceAll("-", "").slice(-digits);
}

/** Ends the span when `work` settles. If `work` rejects, marks the span as failed. */
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
