import { z } from "zod";
import type { EnvironmentVariables } from "../config/environment-variables.ts";
import { readConfigFromEnvironment } from "../config/runtime-config.ts";
import { setTracer } from "./tracing.ts";

const tracingConfig = z.object({
  /** The base URL of the collector, such as `http://collector:4318`. If neither endpoint is set, tracing is off. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_SDK_DISABLED: z.stringbool().default(false),
  /**
   * Whether the sampled flag in a client's `traceparent` decides whether its trace is recorded. Set to true only if the
   * gateway's only client is a proxy with its own tracing.
   */
  TRACE_TRUST_CLIENTS: z.stringbool().default(false),
});

/**
 * Starts tracing if an endpoint is configured and OTEL_SDK_DISABLED is not true. Sends the spans of this process in
 * batches with OTLP (HTTP, protobuf). The SDK for tracing, which is loaded only if tracing starts, also reads other
 * environment variables, such as OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER and
 * OTEL_BSP_*.
 *
 * @returns an object with `stop`, which sends the remaining spans and stops tracing.
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
