import { z } from "zod";
import type { EnvironmentVariables } from "../config/renamed-variables.ts";
import { readConfigFromEnvironment } from "../config/runtime-config.ts";
import { setTracer } from "./tracing.ts";

const tracingConfig = z.object({
  /** Where spans are sent, e.g. `http://collector:4318`. Without it tracing is off. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_SDK_DISABLED: z.stringbool().default(false),
  /** Whether clients decide what is recorded: for a gateway whose only client is a proxy with its own tracing. */
  TRACE_TRUSTS_CLIENTS: z.stringbool().default(false),
});

/**
 * Sends the spans of this process in batches by OTLP (HTTP, protobuf) when an endpoint is configured; otherwise loads
 * nothing. OpenTelemetry's other variables apply, too: OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES,
 * OTEL_TRACES_SAMPLER, OTEL_BSP_*.
 *
 * @returns an object whose `stop` sends the remaining spans and ends tracing.
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
  setTracer(provider.getTracer("pragma"), { shouldTrustClients: config.TRACE_TRUSTS_CLIENTS });
  return {
    async stop() {
      setTracer(undefined);
      await provider.shutdown();
    },
  };
}
