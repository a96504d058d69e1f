import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { setTracer } from "../observability/tracing.ts";

/** The recorded spans of this process. */
export interface SpanRecorder {
  /** Returns the ended spans of a trace. */
  listSpans(traceId: string): ReadableSpan[];
  stop(): Promise<void>;
}

interface RecordSpansOptions {
  sampler?: Sampler;
  shouldTrustClients?: boolean;
}

/** Records the spans of this process in memory: all of them, unless a sampler is set. */
export function recordSpans({ sampler, shouldTrustClients = false }: RecordSpansOptions = {}): SpanRecorder {
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
