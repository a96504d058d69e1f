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

/** Something that is done, as a trace shows it. */
export interface TracedOperation {
  name: string;
  /** What is done within this process only, unless it says otherwise. */
  kind?: SpanKind;
  attributes?: Attributes;
  /** When it began, if that was before now. */
  startTime?: TimeInput;
}

let tracer: Tracer | undefined;
let shouldTrustClients = false;

/**
 * From now on spans are recorded, by this tracer; with undefined they no longer are. With `trustsClients`, whoever asks
 * says what is recorded.
 */
export function setTracer(given: Tracer | undefined, { trustsClients = false } = {}): void {
  tracer = given;
  shouldTrustClients = trustsClients;
}

export function isTracingEnabled(): boolean {
  return tracer !== undefined;
}

/** Begins a span that continues `traceparent` (W3C), or begins a trace. It records nothing while nothing is traced. */
export function startSpan(operation: TracedOperation, traceparent: string | null | undefined): Span {
  return startChildSpan(parseParentContext(traceparent), operation);
}

/** Begins a span that is never recorded, and only has its place in the trace. */
export function startUnrecordedSpan(traceparent: string | null | undefined): Span {
  return createUnrecordedSpan(parseParentContext(traceparent));
}

/**
 * Begins a span for what somebody outside asked. It stays in the trace that they name, so that they find it again, and is
 * recorded if a trace that begins here would be: else anybody could have everything recorded, at the operator's cost, by
 * the flag that says so, or by an id that a sampler by ratio takes.
 */
export function startClientRequestSpan(operation: TracedOperation, traceparent: string | undefined): Span {
  const parent = parseParentContext(traceparent);
  if (!tracer || !parent || shouldTrustClients) return startChildSpan(parent, operation);
  // A span that is never ended is never sent: this one only tells what the sampler says.
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

/** Returns up to 32 random digits. Node makes UUIDs in batches: other random bytes cost several times as much. */
function randomHex(digits: number): string {
  return randomUUID().replaceAll("-", "").slice(-digits);
}

/** Does `work` and ends the span with it, saying what went wrong. */
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
