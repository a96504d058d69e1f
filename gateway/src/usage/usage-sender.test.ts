import { randomUUID } from "node:crypto";
import { type UsageBatch, usageBatchTopic } from "@pragma/contracts/usage";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { type HttpServer, startHttpServer } from "@pragma/runtime/http/http-server";
import { createEventBus, type EventBus } from "@pragma/runtime/messaging/event-bus";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { createUsageCounter } from "./usage-counter.ts";
import { startUsageSender } from "./usage-sender.ts";

const log = createLogger({ name: "test", level: "silent" });

describe("a sender of usage", () => {
  const request = {
    keyId: randomUUID(),
    route: "/v2/tills",
    path: "/v2/tills",
    method: "GET",
    status: 200,
    requestId: "r",
  };

  it("sends a batch without a reply again unchanged, and what was counted meanwhile with another id", async () => {
    const counter = createUsageCounter(new Set());
    const sent: string[] = [];
    const replies = [new Error("timeout"), "failed", "unknown reply", "stored", "stored"];
    const sender = startUsageSender({
      counter,
      log,
      intervalMs: 1_000_000,
      async send(batch) {
        sent.push(batch);
        const reply = replies.shift();
        if (typeof reply !== "string") throw reply;
        return reply;
      },
    });
    for (let attempt = 0; attempt < 4; attempt++) {
      counter.add(request, 0);
      await sender.flush();
    }
    await sender.stop();
    const [first, second, third, fourth, last] = sent;
    expect(sent).toHaveLength(5);
    expect([second, third, fourth]).toEqual([first, first, first]);
    const batches = [first, last].map((text) => JSON.parse(text ?? "") as UsageBatch);
    expect(batches.map(({ counts }) => counts[0]?.requestCount)).toEqual([1, 3]);
    expect(batches[0]?.id).not.toBe(batches[1]?.id);
  });

  it("drops a batch that accounts rejects, and goes on", async () => {
    const counter = createUsageCounter(new Set());
    const replies = ["rejected", "stored"];
    const sender = startUsageSender({
      ...{ counter, log, intervalMs: 1_000_000 },
      send: async () => replies.shift() ?? "failed",
    });
    counter.add(request, 0);
    await sender.flush();
    counter.add(request, 0);
    await sender.stop();
    expect(counter.takeBatch()).toBeUndefined();
    expect(replies).toEqual([]);
  });

  it("sends at the interval, and the rest when it is stopped", async () => {
    const counter = createUsageCounter(new Set());
    const batches: UsageBatch[] = [];
    const sender = startUsageSender({
      ...{ counter, log, intervalMs: 10 },
      async send(batch) {
        batches.push(JSON.parse(batch));
        return "stored";
      },
    });
    counter.add(request, 0);
    await eventually("the first batch", () => batches.length === 1);
    counter.add(request, 0);
    await sender.stop();
    expect(batches).toHaveLength(2);
  });
});

describe("a gateway", () => {
  let environment: IsolatedTestEnvironment;
  let bus: EventBus;
  let reporting: HttpServer;
  let gateway: TestGateway;
  const batches: UsageBatch[] = [];

  beforeAll(async () => {
    environment = await createIsolatedTestEnvironment();
    const config = readConfigFromEnvironment(commonServiceConfigSchema, environment.variables);
    bus = createEventBus(config, { name: "accounts", log });
    bus.answerRequests(usageBatchTopic, async (text) => {
      batches.push(JSON.parse(text));
      return "stored";
    });
    await bus.connected;
    const problem = JSON.stringify({ code: "report_not_found", title: "Report not found", status: 404 });
    const headers = { "content-type": "application/problem+json", "content-length": `${problem.length}` };
    reporting = await startHttpServer(
      async (request) =>
        new URL(request.url).pathname === "/v2/reports/"
          ? Response.json({ data: [] })
          : new Response(problem, { status: 404, headers }),
      { port: 0 },
    );
    gateway = await startTestGateway(environment, {
      variables: { REPORTING_URL: `http://127.0.0.1:${reporting.port}`, USAGE_INTERVAL_SECONDS: "60" },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await reporting?.stop();
    await bus?.close();
    await environment?.remove();
  });

  it("sends what it has counted when it stops, with the error codes of services in other processes", async () => {
    const { key, resolvedKey } = gateway.accounts.addKey({ rateLimit: { perSecond: 1, burst: 4 } });
    const request = (path: string, requestId: string) =>
      gateway.request(path, { key, headers: { "x-request-id": requestId } }).then(({ status }) => status);
    expect(await request("/v2/reports/", "one")).toBe(200);
    expect(await request("/v2/reports/an-id", "two")).toBe(404);
    expect(await request("/openapi.full.json", "three")).toBe(403);
    expect(await request("/v2/reports/", "four")).toBe(200);
    expect(await request("/v2/reports/", "five")).toBe(429);
    expect((await gateway.request("/v2/reports/", { key: "pragma_mistyped" })).status).toBe(401);
    expect(await request("/unknown", "six")).toBe(404);
    await gateway.stop();

    const { keyId } = resolvedKey;
    const counts = batches.flatMap((batch) => batch.counts).map(({ minute: _, ...fields }) => fields);
    expect(counts).toHaveLength(3);
    expect(counts).toEqual(
      expect.arrayContaining([
        { keyId, route: "/v2/reports", statusClass: 2, requestCount: 2 },
        { keyId, route: "/v2/reports", statusClass: 4, requestCount: 2 },
        { keyId, route: "other", statusClass: 4, requestCount: 2 },
      ]),
    );
    const failures = batches.flatMap((batch) => batch.failures);
    expect(
      failures.map(({ requestId, route, method, status, code }) => [requestId, route, method, status, code]),
    ).toEqual([
      ["two", "/v2/reports", "GET", 404, "report_not_found"],
      ["three", "other", "GET", 403, "scope_missing"],
      ["five", "/v2/reports", "GET", 429, "rate_limited"],
      ["six", "other", "GET", 404, "route_not_found"],
    ]);
  });
});
