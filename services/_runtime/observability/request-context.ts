import { randomUUID } from "node:crypto";
import {
  endSpanAfter,
  formatTraceparent,
  type Span,
  startSpan,
  startUnrecordedSpan,
  type TracedOperation,
} from "./tracing.ts";

/** What is known of the request or message being handled; given to whatever has to know it. */
export class RequestContext {
  readonly requestId: string;
  /** Its place in the trace; it records nothing while nothing is traced. */
  readonly span: Span;
  /** Fields for the one log line of this request or message. */
  readonly logFields: Record<string, unknown>;

  constructor(requestId: string, span: Span, logFields: Record<string, unknown> = {}) {
    this.requestId = requestId;
    this.span = span;
    this.logFields = logFields;
  }

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  /** The W3C `traceparent` of what is being handled, to send along with events and calls. */
  get traceparent(): string {
    return formatTraceparent(this.span);
  }

  /** Adds fields to the one log line of what is being handled. */
  addLogFields(fields: Record<string, unknown>): void {
    Object.assign(this.logFields, fields);
  }

  /** Does a step of what is being handled, with a span of its own while that is traced. The step has its own `traceparent`. */
  runStep<T>(operation: TracedOperation, work: (context: RequestContext) => Promise<T>): Promise<T> {
    if (!this.span.isRecording()) return work(this);
    const span = startSpan(operation, this.traceparent);
    return endSpanAfter(span, work(new RequestContext(this.requestId, span, this.logFields)));
  }
}

interface RequestContextOptions {
  requestId?: string | undefined;
  /** W3C: what caused this. */
  traceparent?: string | null | undefined;
  /** Its name in the trace; what has none is no part of one. */
  operation?: TracedOperation;
}

/** Runs `work` with a context of its own that continues the caller's trace, or begins one. */
export function runWithRequestContext<T>(
  { requestId = randomUUID(), traceparent, operation }: RequestContextOptions,
  work: (context: RequestContext) => Promise<T>,
): Promise<T> {
  const span = operation ? startSpan(operation, traceparent) : startUnrecordedSpan(traceparent);
  const result = work(new RequestContext(requestId, span));
  return span.isRecording() ? endSpanAfter(span, result) : result;
}
