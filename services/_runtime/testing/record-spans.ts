import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { setTracer } from "../observability/tracing.ts";

/** Spans of this process, kept in memory. */
export interface RecordedSpans {
  /** Those that have ended, of this trace. */
  listSpans(traceId: string): ReadableSpan[];
  stop(): Promise<void>;
}

interface RecordSpansOptions {
  sampler?: Sampler;
  trustsClients?: boolean;
}

/** From now on what this process does is traced: everything, unless a sampler says otherwise. */
export function recordSpans({ sampler, trustsClients = false }: RecordSpansOptions = {}): RecordedSpans {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const provider = new BasicTracerProvider({ spanProcessors, ...(sampler && { sampler }) });
  setTracer(provider.getTracer("pragma"), { trustsClients });
  return {
    listSpans: (traceId) => exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId),
    async stop() {
      setTracer(undefined);
      await provider.shutdown();
    },
  };
}
