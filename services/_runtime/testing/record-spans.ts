import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { setTracer } from "../observability/tracing.ts";

/** Access to the spans that were recorded in this process. */
export interface TestSpanRecorder {
  /** Returns all spans of a trace that have ended. */
  listSpans(traceId: string): ReadableSpan[];
  stop(): Promise<void>;
}

interface RecordSpansOptions {
  sampler?: Sampler;
  shouldTrustClients?: boolean;
}

/**
 * Records the spans of this process in memory. Without a sampler, records all spans except those whose parent is not
 * sampled.
 */
export function startTestSpanRecorder({
  sampler,
  shouldTrustClients = false,
}: RecordSpansOptions = {}): TestSpanRecorder {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const provider = new BasicTracerProvider({ spanProcessors, ...(sampler && { sampler }) });
  setTracer(provider.getTracer("pragma"), { shouldTrustClients });
  return {
    listSpans: (traceId) => exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId),
    async stop() {
      setTracer(undefined);
      await provider.shutdown();
    },
  };
}
