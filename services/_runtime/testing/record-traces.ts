import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { traceWith } from "../tracing.ts";

/** Spans of this process, kept in memory. */
export interface TraceRecord {
  /** Those that have ended, of this trace. */
  spansOf(traceId: string): ReadableSpan[];
  stop(): Promise<void>;
}

/** From now on everything that this process does is traced. */
export function recordTraces(): TraceRecord {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  traceWith(provider.getTracer("pragma"));
  return {
    spansOf: (traceId) => exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId),
    async stop() {
      traceWith(undefined);
      await provider.shutdown();
    },
  };
}
