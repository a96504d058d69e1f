import { randomFillSync, randomUUID } from "node:crypto";
import { type SpanContext, TraceFlags } from "@opentelemetry/api";
import { parseTraceParent } from "@opentelemetry/core";
import { beginSpan, type Operation, type Span, untilDone } from "./tracing.ts";

/** What is known of the request or message being handled; given to whatever has to know it. */
export class RequestContext {
  readonly requestId: string;
  /** This hop's place in the trace. */
  readonly trace: SpanContext;
  /** Its span, while there is one that is recorded. */
  readonly span: Span | undefined;
  /** Fields for the one log line of this request or message. */
  readonly logFields: Record<string, unknown>;

  constructor(given: Pick<RequestContext, "requestId" | "trace" | "span" | "logFields">) {
    this.requestId = given.requestId;
    this.trace = given.trace;
    this.span = given.span;
    this.logFields = given.logFields;
  }

  /** The W3C `traceparent` of what is being handled, to send along with events and calls. */
  get traceparent(): string {
    return traceparentOf(this.trace);
  }

  /** Adds fields to the one log line of what is being handled. */
  addToLog(fields: Record<string, unknown>): void {
    Object.assign(this.logFields, fields);
  }

  /** Does a step of what is being handled, with a span of its own while that is traced. The step has its own `traceparent`. */
  step<T>(operation: Operation, work: (context: RequestContext) => Promise<T>): Promise<T> {
    const span = this.span && beginSpan(operation, this.traceparent);
    if (!span) return work(this);
    const { requestId, logFields } = this;
    return untilDone(span, work(new RequestContext({ requestId, trace: span.spanContext(), span, logFields })));
  }
}

interface Origin {
  requestId?: string | undefined;
  /** W3C: what caused this. */
  traceparent?: string | null | undefined;
  /** Its name in the trace; what has none is no part of one. */
  operation?: Operation;
}

/** Runs `work` with a context of its own that continues the caller's trace, or begins one. */
export function withRequestContext<T>(
  { requestId = randomUUID(), traceparent, operation }: Origin,
  work: (context: RequestContext) => Promise<T>,
): Promise<T> {
  const span = operation && beginSpan(operation, traceparent);
  const trace = span?.spanContext() ?? nextSpan(traceparent);
  const done = work(new RequestContext({ requestId, trace, span, logFields: {} }));
  return span ? untilDone(span, done) : done;
}

export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

/** A span that continues `traceparent`, or begins a trace when there is none or it cannot be read. */
export function nextSpan(traceparent: string | null | undefined): SpanContext {
  const parent = (traceparent && parseTraceParent(traceparent)) || undefined;
  return {
    traceId: parent?.traceId ?? randomHex(16),
    spanId: randomHex(8),
    traceFlags: parent?.traceFlags ?? TraceFlags.SAMPLED,
  };
}

/** Random bytes for ids to come: asking for all of them at once costs little more than asking for one. */
const random = Buffer.alloc(4096);
let used = random.length;

function randomHex(bytes: number): string {
  if (used + bytes > random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += bytes;
  return random.toString("hex", used - bytes, used);
}
