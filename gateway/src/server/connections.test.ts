import { sleep } from "@pragma/runtime/concurrency/sleep";
import type { ServiceAppFetch } from "@pragma/runtime/http/request-identity";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatRequestHead, openRawTcpConnection, readRawSocketResponse } from "../testing/raw-client.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { createControlledTestService } from "../testing/test-service.ts";

const observations = { abortedRequests: 0, pulledChunks: 0 };
let environment: IsolatedTestEnvironment;
let gateway: TestGateway;
let authorization: string;

/** The number of requests that the service is currently handling, and the maximum of this number so far. */
const activeRequests = { now: 0, max: 0 };
const respondSlowly: ServiceAppFetch = async () => {
  activeRequests.now += 1;
  activeRequests.max = Math.max(activeRequests.max, activeRequests.now);
  await sleep(50);
  activeRequests.now -= 1;
  return Response.json({});
};

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  gateway = await startTestGateway(environment, {
    inProcessServices: {
      reporting: createControlledTestService(observations),
      catalog: respondSlowly,
      "order-live": createControlledTestService(observations),
    },
    variables: {
      CONNECTION_IDLE_TIMEOUT_SECONDS: "1",
      MAX_CONNECTIONS_PER_ADDRESS: "20",
      KEYLESS_REQUESTS_PER_SECOND: "1",
      KEYLESS_REQUESTS_BURST: "5",
    },
  });
  authorization = gateway.accounts.addKey().key;
});
afterAll(async () => {
  await gateway.stop();
  await environment.remove();
});

async function readUntilClosed(socket: Awaited<ReturnType<typeof openRawTcpConnection>>): Promise<string> {
  let text = "";
  socket.on("data", (chunk) => (text += chunk));
  await new Promise((resolve) => socket.once("close", resolve));
  return text;
}

describe("pipelined requests", () => {
  it("are handled one after the other", async () => {
    const socket = await openRawTcpConnection(gateway.port);
    socket.write(formatRequestHead("GET /v1/catalog/", { authorization }).repeat(5));
    let text = "";
    socket.on("data", (chunk) => (text += chunk));
    await eventually("five responses", () => text.split("HTTP/1.1 200").length === 6);
    expect(activeRequests.max).toBe(1);
    socket.destroy();
  });

  it("close the connection when there are more than eight", async () => {
    const socket = await openRawTcpConnection(gateway.port);
    socket.write(formatRequestHead("GET /v1/catalog/", { authorization }).repeat(800));
    const text = await readUntilClosed(socket);
    expect(text.split("HTTP/1.1 ").length).toBeLessThan(10);
  });
});

describe("a client", () => {
  it("that does not read its response is disconnected", async () => {
    const socket = await openRawTcpConnection(gateway.port);
    socket.pause();
    socket.write(formatRequestHead("GET /v2/reports/endless", { authorization, "x-request-id": "never-reads" }));
    const line = await eventually(
      "the log line",
      () => gateway.logLines.find(({ requestId }) => requestId === "never-reads"),
      { timeoutSeconds: 15 },
    );
    expect(line).toMatchObject({ aborted: true });
    socket.destroy();
  });

  it("that sends invalid HTTP during its stream is disconnected without an error in the stream", async () => {
    const socket = await openRawTcpConnection(gateway.port);
    socket.write(formatRequestHead("GET /v1/orders-live/stream", { authorization }));
    let text = "";
    socket.on("data", (chunk) => (text += chunk));
    await eventually("the stream to begin", () => text.includes("data: 1"));
    socket.write("no HTTP at all\r\n\r\n");
    await new Promise((resolve) => socket.once("close", resolve));
    expect(text.split("HTTP/1.1").length).toBe(2);
    expect(text).not.toContain("400");
  });

  it("may open a limited number of connections", async () => {
    const sockets = await Promise.all(Array.from({ length: 30 }, () => openRawTcpConnection(gateway.port)));
    await eventually("ten to be closed", () => sockets.filter(({ destroyed }) => destroyed).length >= 10);
    const [open] = sockets.filter(({ destroyed }) => !destroyed);
    open?.write(formatRequestHead("GET /v2/reports/json", { authorization }));
    if (open) expect((await readRawSocketResponse(open)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it("without a key may send a limited number of requests, and the 429 states the limit", async () => {
    await eventually(
      "connections to be free",
      async () => (await gateway.request("/v2/reports/json", { key: authorization })).ok,
    );
    const statuses: number[] = [];
    for (let request = 0; request < 8; request++) statuses.push((await gateway.request("/health/")).status);
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(6);
    const rejected = await gateway.request("/health/");
    expect(rejected.status).toBe(429);
    expect(rejected.headers.get("retry-after")).toBe("1");
    expect(await rejected.json()).toMatchObject({
      code: "rate_limited",
      limit: { name: "keyless_requests", maximum: 1 },
    });
    // The next six requests count toward the limit of their address: the first five have a key, but their routes need no
    // key; the sixth has no key.
    expect((await gateway.request("/health/", { key: authorization })).status).toBe(429);
    expect((await gateway.request("/asyncapi.json", { key: authorization })).status).toBe(429);
    expect((await gateway.request("/v1/sandboxes/", { method: "POST", key: authorization })).status).toBe(429);
    expect((await gateway.request("/nothing/", { key: "x" })).status).toBe(429);
    expect((await gateway.request("/v2/reportsandmore", { key: "x" })).status).toBe(429);
    expect((await gateway.request("/v2/reports/json", { headers: { authorization: "Bearer" } })).status).toBe(429);
    expect((await gateway.request("/v2/reports/json", { key: authorization })).status).toBe(200);
    const message = {
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/json" },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    };
    expect((await gateway.request("/mcp", { ...message, key: authorization })).status).toBe(200);
  });
});
