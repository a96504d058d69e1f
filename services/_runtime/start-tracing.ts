import { z } from "zod";
import { type Environment, readConfig } from "./config.ts";

const tracingConfig = z.object({
  /** Where spans are sent, e.g. `http://collector:4318`. Without it nothing is traced. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_SDK_DISABLED: z.stringbool().default(false),
  /** Whether who asks says what is recorded: for a gateway that only a proxy which traces itself can reach. */
  TRACE_TRUSTS_CLIENTS: z.stringbool().default(false),
});

/** Traces what this process does when there is somewhere to send it; loads nothing when there is not. */
export async function startTracing(name: string, environment: Environment): Promise<{ stop(): Promise<void> }> {
  const config = readConfig(tracingConfig, environment);
  const isWanted = config.OTEL_EXPORTER_OTLP_ENDPOINT ?? config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  if (!isWanted || config.OTEL_SDK_DISABLED) return { stop: async () => {} };
  const { exportTraces } = await import("./export-traces.ts");
  return { stop: exportTraces(name, { trustsClients: config.TRACE_TRUSTS_CLIENTS }) };
}
