import { z } from "zod";
import { type EnvironmentVariables, readConfig } from "../config/runtime-config.ts";
import { setTracer } from "./tracing.ts";

const tracingConfig = z.object({
  /** Where spans are sent, e.g. `http://collector:4318`. Without it nothing is traced. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_SDK_DISABLED: z.stringbool().default(false),
  /** Whether who asks says what is recorded: for a gateway that only a proxy which traces itself can reach. */
  TRACE_TRUSTS_CLIENTS: z.stringbool().default(false),
});

/**
 * Traces what this process does when there is somewhere to send it, by OTLP (HTTP, protobuf) in batches; loads nothing
 * when there is not. Everything else that OpenTelemetry's own variables say holds: OTEL_EXPORTER_OTLP_HEADERS,
 * OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_BSP_*.
 *
 * @returns what sends the rest and ends it.
 */
export async function startTracing(
  name: string,
  environment: EnvironmentVariables,
): Promise<{ stop(): Promise<void> }> {
  const config = readConfig(tracingConfig, environment);
  const isWanted = config.OTEL_EXPORTER_OTLP_ENDPOINT ?? config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  if (!isWanted || config.OTEL_SDK_DISABLED) return { stop: async () => {} };
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
  setTracer(provider.getTracer("pragma"), { trustsClients: config.TRACE_TRUSTS_CLIENTS });
  return {
    async stop() {
      setTracer(undefined);
      await provider.shutdown();
    },
  };
}
