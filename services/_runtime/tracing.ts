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

export { type Span, SpanKind } from "@opentelemetry/api";

/** Something that is done, as a trace shows it. */
export interface Operation {
  name: string;
  /** What is done within this process only, unless it says otherwise. */
  kind?: SpanKind;
  attributes?: Attributes;
  /** When it began, if that was before now. */
  startTime?: TimeInput;
}

let tracer: Tracer | undefined;
let areClientsTrusted = false;

/**
 * From now on spans are recorded, by this tracer; with undefined they no longer are. With `trustsClients`, whoever asks
 * says what is recorded.
 */
export function traceWith(given: Tracer | undefined, { trustsClients = false } = {}): void {
  tracer = given;
  areClientsTrusted = trustsClients;
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

/** Begins a span that continues `traceparent` (W3C), or begins a trace. Undefined while nothing is traced. */
export function beginSpan(operation: Operation, traceparent: string | null | undefined): Span | undefined {
  return tracer && startUnder(placeIn(traceparent), operation, tracer);
}

/**
 * Begins a span for what somebody outside asked. It stays in the trace that they name, so that they find it again, and is
 * recorded if a trace that begins here would be: else anybody could have everything recorded, at the operator's cost, by
 * the flag that says so, or by an id that a sampler by ratio takes.
 */
export function beginSpanOfClient(operation: Operation, traceparent: string | undefined): Span | undefined {
  if (!tracer) return undefined;
  const parent = placeIn(traceparent);
  if (!parent || areClientsTrusted) return startUnder(parent, operation, tracer);
  // A span that is never ended is never sent: this one only tells what the sampler says.
  const { traceFlags } = tracer.startSpan(operation.name, { root: true }).spanContext();
  return startUnder({ ...parent, traceFlags }, operation, tracer);
}

function placeIn(traceparent: string | null | undefined): SpanContext | null {
  return traceparent ? parseTraceParent(traceparent) : null;
}

function startUnder(parent: SpanContext | null, operation: Operation, by: Tracer): Span {
  const { name, kind = SpanKind.INTERNAL, attributes, startTime } = operation;
  const context = parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
  const times = startTime === undefined ? {} : { startTime };
  return by.startSpan(name, { kind, ...(attributes && { attributes }), ...times }, context);
}

/** Does `work` and ends the span with it, saying what went wrong. */
export async function untilDone<T>(span: Span, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    failSpan(span, error);
    throw error;
  } finally {
    span.end();
  }
}

export function failSpan(span: Span, error: unknown): void {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  span.setStatus({ code: SpanStatusCode.ERROR, message: message.slice(0, 1_000) });
}
