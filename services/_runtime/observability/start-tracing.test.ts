import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runWithObservabilityContext } from "./request-context.ts";
import { startTracing } from "./start-tracing.ts";
import { isTracingEnabled } from "./tracing.ts";

describe("tracing", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("is off without an endpoint", async () => {
    const tracing = await startTracing("test", {});
    expect(isTracingEnabled()).toBe(false);
    await runWithObservabilityContext({ operation: { name: "work" } }, async ({ span, traceId, traceparent }) => {
      expect(span.isRecording()).toBe(false);
      expect(traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
    });
    await tracing.stop();
  });

  it("sends spans by OTLP, including the last spans when it is stopped", async () => {
    const collector = createServer((request, response) => request.resume().on("end", () => response.end()));
    collector.listen(0, "127.0.0.1");
    await once(collector, "listening");
    const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    const sent: string[] = [];
    collector.on("request", (request) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () =>
        sent.push(`${request.method} ${request.url} ${Buffer.concat(chunks).toString("latin1")}`),
      );
    });

    const tracing = await startTracing("reporting", { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    await runWithObservabilityContext({ operation: { name: "count the drawer" } }, async () => {});
    await tracing.stop();

    expect(isTracingEnabled()).toBe(false);
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatch(/^POST \/v1\/traces .*reporting.*count the drawer/s);
    collector.close();
  });

  it("reports an invalid endpoint", async () => {
    await expect(startTracing("test", { OTEL_EXPORTER_OTLP_ENDPOINT: "collector" })).rejects.toThrow(
      /OTEL_EXPORTER_OTLP_ENDPOINT/,
    );
  });
});
