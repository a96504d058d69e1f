import { AsyncLocalStorage } from "node:async_hooks";
import { randomFillSync, randomUUID } from "node:crypto";
import { type SpanContext, TraceFlags } from "@opentelemetry/api";
import { parseTraceParent } from "@opentelemetry/core";

/** What is known of the request or message being handled, wherever in the code one is. */
export interface RequestContext {
  requestId: string;
  /** This hop's place in the trace. */
  trace: SpanContext;
  /** Fields for the one log line of this request or message. */
  logFields: Record<string, unknown>;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs `work` with a context of its own that continues the caller's trace, or begins one. */
export function withRequestContext<T>(
  { requestId, traceparent }: { requestId?: string | undefined; traceparent?: string | null | undefined },
  work: (context: RequestContext) => T,
): T {
  const context = { requestId: requestId ?? randomUUID(), trace: nextSpan(traceparent), logFields: {} };
  return storage.run(context, () => work(context));
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
