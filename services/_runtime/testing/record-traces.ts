import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { traceWith } from "../tracing.ts";

/** Spans of this process, kept in memory. */
export interface TraceRecord {
  /** Those that have ended, of this trace. */
  spansOf(traceId: string): ReadableSpan[];
  stop(): Promise<void>;
}

interface Recording {
  sampler?: Sampler;
  trustsClients?: boolean;
}

/** From now on what this process does is traced: everything, unless a sampler says otherwise. */
export function recordTraces({ sampler, trustsClients = false }: Recording = {}): TraceRecord {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const provider = new BasicTracerProvider({ spanProcessors, ...(sampler && { sampler }) });
  traceWith(provider.getTracer("pragma"), { trustsClients });
  return {
    spansOf: (traceId) => exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId),
    async stop() {
      traceWith(undefined);
      await provider.shutdown();
    },
  };
}
