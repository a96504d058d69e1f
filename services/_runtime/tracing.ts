import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
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

/** From now on spans are recorded, by this tracer; with undefined they no longer are. */
export function traceWith(given: Tracer | undefined): void {
  tracer = given;
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

/** Begins a span that continues `traceparent` (W3C), or begins a trace. Undefined while nothing is traced. */
export function beginSpan(operation: Operation, traceparent: string | null | undefined): Span | undefined {
  if (!tracer) return undefined;
  const { name, kind = SpanKind.INTERNAL, attributes, startTime } = operation;
  const parent = traceparent ? parseTraceParent(traceparent) : null;
  const context = parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
  const times = startTime === undefined ? {} : { startTime };
  return tracer.startSpan(name, { kind, ...(attributes && { attributes }), ...times }, context);
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
