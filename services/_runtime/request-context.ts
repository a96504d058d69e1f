import { AsyncLocalStorage } from "node:async_hooks";
import { randomFillSync, randomUUID } from "node:crypto";
import { type SpanContext, TraceFlags } from "@opentelemetry/api";
import { parseTraceParent } from "@opentelemetry/core";
import { beginSpan, type Operation, type Span, untilDone } from "./tracing.ts";

/** What is known of the request or message being handled, wherever in the code one is. */
export interface RequestContext {
  requestId: string;
  /** This hop's place in the trace. */
  trace: SpanContext;
  /** Its span, while there is one that is recorded. */
  span: Span | undefined;
  /** Fields for the one log line of this request or message. */
  logFields: Record<string, unknown>;
}

const storage = new AsyncLocalStorage<RequestContext>();

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
  const context = { requestId, trace: span?.spanContext() ?? nextSpan(traceparent), span, logFields: {} };
  const done = storage.run(context, () => work(context));
  return span ? untilDone(span, done) : done;
}

/** A step of what is being handled: a span of its own while that is traced, and nothing otherwise. */
export function step<T>(operation: Operation, work: () => Promise<T>): Promise<T> {
  const outer = storage.getStore();
  const span = outer?.span && beginSpan(operation, traceparentOf(outer.trace));
  if (!outer || !span) return work();
  return untilDone(span, storage.run({ ...outer, trace: span.spanContext(), span }, work));
}

/** Adds fields to the one log line of what is being handled. */
export function addToLog(fields: Record<string, unknown>): void {
  Object.assign(storage.getStore()?.logFields ?? {}, fields);
}

/** The W3C `traceparent` of what is being handled, to send along with events and calls. */
export function currentTraceparent(): string | undefined {
  const trace = storage.getStore()?.trace;
  return trace && traceparentOf(trace);
}

export function currentRequestId(): string | undefined {
  return storage.getStore()?.requestId;
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
