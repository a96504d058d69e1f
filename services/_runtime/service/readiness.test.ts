import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { SqlClient } from "../database/postgres.ts";
import { readinessPath } from "../http/service-app.ts";
import { createLogger } from "../observability/logger.ts";
import { createPrometheusMetrics } from "../observability/metrics.ts";
import { createReadinessReporter } from "../process/dependency-checks.ts";
import { createServiceRegistry } from "../service-calls/service-registry.ts";
import { startTestSpanRecorder } from "../testing/record-spans.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { defineService } from "./define-service.ts";
import { type RunningService, startService } from "./start-service.ts";

const poolSize = 2;
const logLines: string[] = [];
let environment: IsolatedTestEnvironment;
let service: RunningService;
let registry: ReturnType<typeof createServiceRegistry>;
let sql: SqlClient;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment({ DATABASE_POOL: String(poolSize) });
  registry = createServiceRegistry(environment.variables);
  service = await startService(
    defineService({
      name: "accounts",
      module: import.meta.url,
      config: z.object({}),
      createResources({ db }) {
        sql = db.sql;
        return { services: {} };
      },
      routes: [],
    }),
    {
      environment: environment.variables,
      log: createLogger({
        name: "accounts",
        level: "info",
        destination: { write: (line) => void logLines.push(line) },
      }),
      metrics: createPrometheusMetrics(),
      registry,
    },
  );
  registry.registerLocalService("accounts", service.fetch);
});
afterAll(async () => {
  await service?.stop();
  await environment?.remove();
});

const requestReadiness = () => registry.request("accounts", { from: "gateway", path: readinessPath, timeoutMs: 5_000 });

describe("a service whose pool is saturated", () => {
  it("stays ready", async () => {
    const reserved = await Promise.all(Array.from({ length: poolSize }, () => sql.reserve()));
    try {
      const query = sql`select 1`.then(() => "responded");
      expect(await Promise.race([query, sleep(200, "waits")])).toBe("waits");
      const { status, parts } = await createReadinessReporter(() => [service]).report();
      expect({ status, parts }).toMatchObject({ status: "ready", parts: { accounts: { postgres: "ok" } } });
      expect((await requestReadiness()).status).toBe(204);
    } finally {
      for (const connection of reserved) connection.release();
    }
  });
});

describe("a check of a service by the gateway", () => {
  it("makes no log line and no span", async () => {
    const spans = startTestSpanRecorder();
    const before = logLines.length;
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
    const request = { from: "gateway", path: readinessPath, timeoutMs: 5_000, traceparent } as const;
    expect((await registry.request("accounts", request)).status).toBe(204);
    expect(logLines.slice(before)).toEqual([]);
    expect(spans.listSpans(traceId)).toEqual([]);
    // Other requests to the service are logged and traced.
    expect((await registry.request("accounts", { ...request, path: "/internal/other" })).status).toBe(404);
    expect(logLines.slice(before).join("")).toContain("/internal/other");
    expect(spans.listSpans(traceId)).toHaveLength(1);
    await spans.stop();
  });

  it("is rejected if it is not signed", async () => {
    expect((await service.fetch(new Request(`http://accounts${readinessPath}`))).status).toBe(401);
  });
});
