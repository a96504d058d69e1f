import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Queue } from "bullmq";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HttpServer } from "../http/http-server.ts";
import { createPrometheusMetrics } from "../observability/metrics.ts";
import { eventually } from "../testing/eventually.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { startOpsServer } from "./ops-server.ts";
import { processConfigSchema } from "./run-process.ts";
import { readSystemTimeZoneDataVersion } from "./time-zone-data.ts";

const token = randomUUID();
const deadLetter = {
  ...{ eventId: randomUUID(), subscription: "till.pushed", subject: null, type: "till.pushed", body: "{}" },
  ...{ reason: "a reason", deadLetteredAt: new Date("2026-01-01T00:00:00Z") },
};
let environment: IsolatedTestEnvironment;
let queue: Queue;
let renderingCount = 0;
let server: HttpServer;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const metrics = createPrometheusMetrics();
  const connection = { url: environment.variables.REDIS_URL ?? "" };
  queue = new Queue("counting", { connection, prefix: environment.namespace });
  await queue.add("count", { number: 1 });
  const opsRoutes = new Hono().get("/number", (context) => context.json({ number: 1 }));
  const deadLetters = { list: async () => [deadLetter], retry: async () => [] };
  const component = { name: "counting", checks: {}, queues: () => [queue], opsRoutes, deadLetters };
  const countRendering = () => {
    renderingCount += 1;
    return renderingCount;
  };
  metrics.observeGauge("renderings", "Renderings of the metrics", countRendering);
  const listening = { OPS_PORT: 0, OPS_HOST: "127.0.0.1", OPS_ALLOWED_HOSTS: ["reporting"] };
  const config = { ...listening, OPS_TOKEN: token, PRAGMA_COMMIT: "0123abc" };
  server = await startOpsServer(config, { metrics, components: () => [component] });
});
afterAll(async () => {
  await server?.stop();
  await queue?.obliterate({ force: true });
  await queue?.close();
  await environment?.remove();
});

const fetchOps = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
const bearer = { authorization: `Bearer ${token}` };

describe("the ops port", () => {
  it.each(["/live", "/ready", "/metrics"])("serves %s without a token", async (path) => {
    expect((await fetchOps(path)).status).toBe(200);
  });

  it("serves the versions of the process and of its time zone data", async () => {
    expect(await (await fetchOps("/version", bearer)).json()).toEqual({
      ...{ version: expect.stringMatching(/^\d+\.\d+\.\d+/), commit: "0123abc", node: process.version },
      timeZoneData: process.versions.tz,
      systemTimeZoneData: await readSystemTimeZoneDataVersion(),
    });
  });

  it.each(["/version", "/dead-letters", "/counting/number", "/queues", "/queues/api/queues"])(
    "requires the token at %s",
    async (path) => {
      expect((await fetchOps(path)).status).toBe(401);
      expect((await fetchOps(path, { authorization: "Bearer another-token-altogether" })).status).toBe(401);
      expect((await fetchOps(path, bearer)).status).toBe(200);
    },
  );

  it("lists dead letters with their service", async () => {
    const deadLetteredAt = "2026-01-01T00:00:00.000Z";
    expect(await (await fetchOps("/dead-letters", bearer)).json()).toEqual([
      { ...deadLetter, service: "counting", deadLetteredAt },
    ]);
  });

  it("accepts the token as the password of Basic authentication", async () => {
    const credentials = Buffer.from(`operator:${token}`).toString("base64");
    expect((await fetchOps("/counting/number", { authorization: `Basic ${credentials}` })).status).toBe(200);
  });

  it("returns 403 to pages of other origins", async () => {
    expect((await fetchOps("/counting/number", { ...bearer, origin: "https://elsewhere.example" })).status).toBe(403);
  });

  /** Returns the status of a request with this Host header. */
  const requestWithHost = (host: string, path: string, headers: Record<string, string> = {}) =>
    new Promise<number | undefined>((resolve, reject) =>
      request({ port: server.port, host: "127.0.0.1", path, headers: { ...headers, host } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end(),
    );

  it.each([
    "attacker.example",
    `attacker.example:4090`,
    "127.0.0.1.attacker.example",
    "localhost.attacker.example",
    "other",
  ])("rejects the foreign host %s, also of a page of the same origin, except in health checks", async (host) => {
    const page = { ...bearer, origin: `http://${host}` };
    for (const path of ["/metrics", "/dead-letters", "/counting/number", "/queues"])
      expect(await requestWithHost(host, path, page), path).toBe(403);
    for (const path of ["/live", "/ready"]) expect(await requestWithHost(host, path), path).toBe(200);
  });

  it.each(["localhost", "LOCALHOST:4090", "localhost.", "10.1.2.3:4090", "[::1]:4090", "[fd00::2]", "reporting:4090"])(
    "accepts its own host %s",
    async (host) => {
      expect(await requestWithHost(host, "/counting/number", bearer)).toBe(200);
      expect(await requestWithHost(host, "/metrics")).toBe(200);
    },
  );

  it.each([
    ["HAProxy, Nagios", "HTTP/1.0\r\n"],
    ["nginx", "HTTP/1.0\r\nHost: pragma_ops\r\nConnection: close\r\n"],
    ["AWS", "HTTP/1.1\r\nHost: 10.0.1.5:4090\r\nConnection: close\r\nUser-Agent: ELB-HealthChecker/2.0\r\n"],
    [
      "Kubernetes",
      "HTTP/1.1\r\nHost: [fd00::2]:4090\r\nUser-Agent: kube-probe/1.34\r\nAccept: */*\r\nConnection: close\r\n",
    ],
    ["F5", "HTTP/1.1\r\nHost: \r\nConnection: Close\r\n"],
  ])("answers health probes as %s sends them", async (_, rest) => {
    for (const method of ["GET", "HEAD"]) {
      for (const path of ["/live", "/ready", "/live/", "http://10.0.1.5:4090/ready"]) {
        const socket = connect(server.port, "127.0.0.1");
        socket.write(`${method} ${path} ${rest}\r\n`);
        expect(await text(socket), `${method} ${path} ${rest}`).toMatch(/^HTTP\/1\.1 200 /);
      }
    }
  });

  it("accepts 100 connections at a time", async () => {
    const sockets = Array.from({ length: 120 }, () => connect(server.port, "127.0.0.1").on("error", () => {}));
    await eventually(
      "the connections above the maximum to be closed",
      () => sockets.filter((socket) => socket.closed).length >= 20,
    );
    expect(sockets.filter((socket) => !socket.closed).length).toBeGreaterThan(80);
    for (const socket of sockets) socket.destroy();
    await eventually("a response", async () => (await fetchOps("/live")).ok);
  });

  it("listens on the loopback interface unless another address is configured", () => {
    expect(processConfigSchema.parse({})).toMatchObject({ OPS_HOST: "127.0.0.1", OPS_ALLOWED_HOSTS: [] });
    expect(processConfigSchema.parse({ OPS_HOST: "::", OPS_ALLOWED_HOSTS: "a, B.example" })).toMatchObject({
      OPS_HOST: "::",
      OPS_ALLOWED_HOSTS: ["a", "b.example"],
    });
    expect(
      processConfigSchema.safeParse({ OPS_HOST: "everywhere", OPS_ALLOWED_HOSTS: "http://a" }).error?.issues,
    ).toHaveLength(2);
  });

  it("renders the metrics once for many requests", async () => {
    await eventually("a new rendering", async () => {
      const before = renderingCount;
      const responses = await Promise.all(Array.from({ length: 30 }, async () => (await fetchOps("/metrics")).text()));
      expect(new Set(responses).size).toBe(1);
      return renderingCount === before + 1;
    });
  });

  it("shows the queues and their jobs", async () => {
    const board = await (await fetchOps("/queues/api/queues?activeQueue=counting", bearer)).json();
    expect(board).toMatchObject({ queues: [{ name: "counting", counts: { waiting: 1 } }] });
    const page = await (await fetchOps("/queues", bearer)).text();
    const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? "";
    expect((await fetchOps(new URL(script, `http://ops/queues/`).pathname, bearer)).status).toBe(200);
  });
});
