import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { traceWith } from "./tracing.ts";

/**
 * Records spans and sends them by OTLP (HTTP, protobuf), in batches. Everything else that OpenTelemetry's own variables
 * say holds: OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_BSP_*.
 *
 * @returns what sends the rest and ends it.
 */
export function exportTraces(serviceName: string, { trustsClients }: { trustsClients: boolean }): () => Promise<void> {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ "service.name": serviceName, "service.namespace": "pragma" }))
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  traceWith(provider.getTracer("pragma"), { trustsClients });
  return async () => {
    traceWith(undefined);
    await provider.shutdown();
  };
}
