import { randomUUID } from "node:crypto";
import {
  endSpanAfter,
  formatTraceparent,
  type Span,
  startSpan,
  type TracedOperation,
  type Traceparent,
} from "./tracing.ts";

/** The context of the request or event that is being handled: its id, its span and its log fields. */
export class ObservabilityContext {
  readonly requestId: string;
  /** The span of the request or event. It is recorded only if tracing is on and the sampler selected the trace. */
  readonly span: Span;
  readonly logFields: Record<string, unknown>;

  constructor(requestId: string, span: Span, logFields: Record<string, unknown> = {}) {
    this.requestId = requestId;
    this.span = span;
    this.logFields = logFields;
  }

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  get traceparent(): string {
    return formatTraceparent(this.span);
  }

  addLogFields(fields: Record<string, unknown>): void {
    Object.assign(this.logFields, fields);
  }

  /** Runs a step of the request or event. If the trace is recorded, the step gets its own span and `traceparent`. */
  runStep<T>(operation: TracedOperation, work: (context: ObservabilityContext) => Promise<T>): Promise<T> {
    if (!this.span.isRecording()) return work(this);
    const span = startSpan(operation, this.traceparent);
    return endSpanAfter(span, work(new ObservabilityContext(this.requestId, span, this.logFields)));
  }
}

interface RequestContextOptions {
  requestId?: string | undefined;
  /** The W3C trace context of the request or event that caused this request or event. */
  traceparent?: Traceparent;
  /** The operation to record as a span. If it is undefined, no span is recorded. */
  operation?: TracedOperation;
}

/** Runs `work` with a new context. The context continues the trace in `traceparent`, or starts a new trace. */
export function runWithObservabilityContext<T>(
  { requestId = randomUUID(), traceparent, operation }: RequestContextOptions,
  work: (context: ObservabilityContext) => Promise<T>,
): Promise<T> {
  const span = startSpan(operation, traceparent);
  const result = work(new ObservabilityContext(requestId, span));
  return span.isRecording() ? endSpanAfter(span, result) : result;
}
