import { z } from "zod";
import type { EnvironmentVariables } from "../config/environment-variables.ts";
import { readConfigFromEnvironment } from "../config/runtime-config.ts";
import { setTracer } from "./tracing.ts";

const tracingConfig = z.object({
  /** The base URL of the collector, such as `http://collector:4318`. If neither endpoint is set, tracing is off. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_SDK_DISABLED: z.stringbool().default(false),
  /** Whether clients decide which traces are recorded. Only for a proxy with its own tracing as the only client. */
  TRACE_TRUST_CLIENTS: z.stringbool().default(false),
});

/**
 * Starts tracing with OTLP (HTTP, protobuf) if an endpoint is configured. The SDK, which is only then loaded, reads
 * further variables, such as OTEL_EXPORTER_OTLP_HEADERS. `stop` sends the remaining spans.
 */
export async function startTracing(
  name: string,
  environment: EnvironmentVariables,
): Promise<{ stop(): Promise<void> }> {
  const config = readConfigFromEnvironment(tracingConfig, environment);
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT ?? config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  if (!endpoint || config.OTEL_SDK_DISABLED) return { stop: async () => {} };
  const [{ OTLPTraceExporter }, { defaultResource, detectResources, envDetector, resourceFromAttributes }, sdk] =
    await Promise.all([
      import("@opentelemetry/exporter-trace-otlp-proto"),
      import("@opentelemetry/resources"),
      import("@opentelemetry/sdk-trace-base"),
    ]);
  const resource = defaultResource()
    .merge(resourceFromAttributes({ "service.name": name, "service.namespace": "pragma" }))
    .merge(detectResources({ detectors: [envDetector] }));
  const spanProcessors = [new sdk.BatchSpanProcessor(new OTLPTraceExporter())];
  const provider = new sdk.BasicTracerProvider({ resource, spanProcessors });
  setTracer(provider.getTracer("pragma"), { shouldTrustClients: config.TRACE_TRUST_CLIENTS });
  return {
    async stop() {
      setTracer(undefined);
      await provider.shutdown();
    },
  };
}
