import { randomUUID } from "node:crypto";
import { Queue } from "bullmq";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HttpServer } from "../http/http-server.ts";
import { createPrometheusMetrics } from "../observability/metrics.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { startOpsServer } from "./ops-server.ts";

const token = randomUUID();
const deadLetter = {
  ...{ eventId: randomUUID(), subscription: "till.pushed", subject: null, type: "till.pushed", body: "{}" },
  ...{ reason: "a reason", deadLetteredAt: new Date("2026-01-01T00:00:00Z") },
};
let environment: IsolatedTestEnvironment;
let queue: Queue;
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
  server = await startOpsServer({ port: 0, token, metrics, components: () => [component] });
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

  it.each(["/dead-letters", "/parked", "/counting/number", "/queues", "/queues/api/queues"])(
    "requires the token at %s",
    async (path) => {
      expect((await fetchOps(path)).status).toBe(401);
      expect((await fetchOps(path, { authorization: "Bearer another-token-altogether" })).status).toBe(401);
      expect((await fetchOps(path, bearer)).status).toBe(200);
    },
  );

  it.each(["/dead-letters", "/parked"])(
    "lists dead letters at %s with the current and the former time",
    async (path) => {
      const deadLetteredAt = "2026-01-01T00:00:00.000Z";
      expect(await (await fetchOps(path, bearer)).json()).toEqual([
        { ...deadLetter, service: "counting", deadLetteredAt, parkedAt: deadLetteredAt },
      ]);
    },
  );

  it("accepts the token as the password of Basic authentication", async () => {
    const credentials = Buffer.from(`operator:${token}`).toString("base64");
    expect((await fetchOps("/counting/number", { authorization: `Basic ${credentials}` })).status).toBe(200);
  });

  it("returns 403 to pages of other origins", async () => {
    expect((await fetchOps("/counting/number", { ...bearer, origin: "https://elsewhere.example" })).status).toBe(403);
  });

  it("shows the queues and their jobs", async () => {
    const board = await (await fetchOps("/queues/api/queues?activeQueue=counting", bearer)).json();
    expect(board).toMatchObject({ queues: [{ name: "counting", counts: { waiting: 1 } }] });
    const page = await (await fetchOps("/queues", bearer)).text();
    const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? "";
    expect((await fetchOps(new URL(script, `http://ops/queues/`).pathname, bearer)).status).toBe(200);
  });
});
