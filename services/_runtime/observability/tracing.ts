import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type TimeInput,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { parseTraceParent } from "@opentelemetry/core";
import { UnrecordedSpan } from "./unrecorded-span.ts";

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

/** A W3C trace context, or a function that returns it, which is called only if the context is needed. */
export type Traceparent = string | null | undefined | (() => string | null | undefined);

/** Starts a span in the trace of `traceparent`, or in a new one. Without operation or tracing, it only has ids. */
export function startSpan(operation: TracedOperation | undefined, traceparent: Traceparent): Span {
  return startChildSpan(() => parseParentContext(traceparent), operation);
}

/**
 * Starts a span with the trace id of the client's `traceparent`. Unless clients are trusted, the sampler decides
 * whether to record it, because clients could otherwise cause every request to be recorded, at the operator's cost.
 */
export function startIncomingRequestSpan(operation: TracedOperation, traceparent: string | undefined): Span {
  if (!tracer || shouldTrustClients) return startSpan(operation, traceparent);
  const parent = parseParentContext(traceparent);
  if (!parent) return startSpan(operation, undefined);
  // This span is only needed to get the sampler's decision. It is not exported, because it is never ended.
  const { traceFlags } = tracer.startSpan(operation.name, { root: true }).spanContext();
  return startChildSpan(() => ({ ...parent, traceFlags }), operation);
}

export function formatTraceparent(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

function parseParentContext(traceparent: Traceparent): SpanContext | null {
  const text = typeof traceparent === "function" ? traceparent() : traceparent;
  return text ? parseTraceParent(text) : null;
}

function startChildSpan(findParent: () => SpanContext | null, operation: TracedOperation | undefined): Span {
  if (!tracer || !operation) return new UnrecordedSpan(findParent);
  const { name, kind = SpanKind.INTERNAL, attributes, startTime } = operation;
  const parent = findParent();
  const context = parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
  const times = startTime === undefined ? {} : { startTime };
  return tracer.startSpan(name, { kind, ...(attributes && { attributes }), ...times }, context);
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
