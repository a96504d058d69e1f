import { createHash, randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type GatewaysInBothModes,
  testApiKey as key,
  startGatewaysInBothModes,
} from "../testing/in-process-and-remote-gateways.ts";
import { formatRequestHead, openRawTcpConnection, readRawSocketResponse } from "../testing/raw-client.ts";
import type { TestGateway } from "../testing/test-gateway.ts";
import { createControlledTestService } from "../testing/test-service.ts";

const observations = { abortedRequests: 0, pulledChunks: 0 };
let gateways: GatewaysInBothModes;

beforeAll(async () => {
  gateways = await startGatewaysInBothModes(createControlledTestService(observations), {
    UPSTREAM_TIMEOUT_SECONDS: "1",
    CONNECTION_IDLE_TIMEOUT_SECONDS: "3",
  });
});
afterAll(() => gateways?.stop());

/** Sends a request. Returns the response for comparison, without the headers that differ between requests. */
async function fetchComparable(gateway: TestGateway, path: string, init: RequestInit = {}) {
  const response = await gateway.request(path, { key, ...init, headers: { "x-request-id": "same", ...init.headers } });
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !/^(date|ratelimit-)/.test(name)));
  return { status: response.status, headers, body: Buffer.from(await response.arrayBuffer()).toString("latin1") };
}

describe("an in-process service and a remote service return the same response", () => {
  it.each([
    ["GET", "json"],
    ["HEAD", "json"],
    ["GET", "created"],
    ["DELETE", "empty"],
    ["GET", "unchanged"],
    ["GET", "nothing"],
    ["GET", "bytes"],
    ["GET", "gzip"],
    ["GET", "cookies"],
    ["GET", "missing"],
    ["POST", "count"],
    ["GET", "slowly"],
    ["PROPFIND", "nowhere"],
    ["GET", "nowhere?a=%20&b=é"],
  ])("to %s %s", async (method, path) => {
    const inProcess = await fetchComparable(gateways["in-process"], `/v2/reports/${path}`, { method });
    const remote = await fetchComparable(gateways.remote, `/v2/reports/${path}`, { method });
    expect(remote).toEqual(inProcess);
    expect(inProcess.status).toBeLessThan(500);
  });

  it("with a content length for complete bodies and without one for streamed bodies", async () => {
    const complete = await fetchComparable(gateways["in-process"], "/v2/reports/json");
    expect(complete).toMatchObject({ status: 200, headers: { "content-length": "8", etag: '"abc"' } });
    const slow = await fetchComparable(gateways["in-process"], "/v2/reports/slowly");
    expect(slow.body).toBe("onetwothree");
    expect(slow.headers).not.toHaveProperty("content-length");
  });
});

describe.each(["in-process", "remote"] as const)("a service (%s)", (placement) => {
  const sendRequest = (path: string, init: RequestInit = {}) =>
    gateways[placement].request(`/v2/reports/${path}`, { key, ...init });
  const openGatewaySocket = () => openRawTcpConnection(gateways[placement].port);
  const authorization = `Bearer ${key}`;

  it("receives bodies byte for byte, with their length and encoding", async () => {
    const body = gzipSync(randomBytes(300_000));
    const hash = createHash("sha256").update(body).digest("hex");
    const headers = { "content-encoding": "gzip" };
    const response = await sendRequest("count", { method: "POST", body, headers });
    expect(await response.json()).toEqual({ bytes: body.length, hash, length: body.length });
  });

  it("receives bodies of unknown length, and may respond while they arrive", async () => {
    const chunks = Array.from({ length: 20 }, () => randomBytes(100_000));
    let sent = 0;
    const body = new ReadableStream({
      async pull(controller) {
        const chunk = chunks[sent++];
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    });
    const response = await sendRequest("echo", { method: "POST", body, duplex: "half" } as RequestInit);
    const echoed = Buffer.from(await response.arrayBuffer());
    expect(echoed.equals(Buffer.concat(chunks))).toBe(true);
  });

  it("streams its response to the client chunk by chunk", async () => {
    const response = await sendRequest("slowly");
    const times: number[] = [];
    for await (const _ of response.body ?? []) times.push(performance.now());
    expect(times).toHaveLength(3);
    expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(90);
  });

  it("may pause longer between streamed events than the response timeout", async () => {
    const startedAt = performance.now();
    const response = await gateways[placement].request("/v1/orders-live/stream", { key });
    expect(performance.now() - startedAt).toBeLessThan(500);
    expect(await response.text()).toBe("data: 1\n\ndata: 2\n\n");
  });

  it("is slowed down to the speed of the client", async () => {
    const socket = await openGatewaySocket();
    socket.pause();
    observations.pulledChunks = 0;
    socket.write(formatRequestHead("GET /v2/reports/endless", { authorization }));
    // The service can write until the buffers of the connections are full. Then it must wait for the client.
    const pulled = await eventually("the service to wait", async () => {
      const before = observations.pulledChunks;
      await sleep(300);
      return before > 0 && observations.pulledChunks === before && before;
    });
    expect(pulled * 64).toBeLessThan(100 * 1024);
    socket.destroy();
  });

  it("is notified when the client disconnects", async () => {
    const before = observations.abortedRequests;
    const aborter = new AbortController();
    const pending = sendRequest("hang", { signal: aborter.signal }).catch(() => "aborted");
    await sleep(100);
    aborter.abort();
    expect(await pending).toBe("aborted");
    await eventually("the service to be notified", () => observations.abortedRequests === before + 1, {
      timeoutSeconds: 2,
    });
  });

  it("that does not respond in time yields 504", async () => {
    const startedAt = performance.now();
    const response = await sendRequest("hang", { headers: { "x-request-id": `hang-${placement}` } });
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ code: "upstream_timeout", requestId: `hang-${placement}` });
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it.each(["broken", "stalled"])("whose response is %s yields an incomplete response", async (behavior) => {
    const socket = await openGatewaySocket();
    socket.write(formatRequestHead(`GET /v2/reports/${behavior}`, { authorization }));
    const response = await readRawSocketResponse(socket);
    expect(response).toMatchObject({ status: 200, isTruncated: true });
    expect(response.body.toString()).toBe("begun");
  });

  it("may respond before it has received the whole body, and the connection stays usable", async () => {
    const socket = await openGatewaySocket();
    // The body is too large to be buffered, so the gateway calls the service before the whole body has arrived.
    const length = 100_000;
    socket.write(formatRequestHead("POST /v2/reports/refuse", { authorization, "content-length": length }));
    socket.write(Buffer.alloc(length / 2));
    const first = await readRawSocketResponse(socket);
    expect(first.status).toBe(415);
    socket.write(Buffer.alloc(length / 2));
    socket.write(formatRequestHead("GET /v2/reports/json", { authorization }));
    expect((await readRawSocketResponse(socket)).status).toBe(200);
    socket.destroy();
  });

  it("does not time out while a slow client sends its body", async () => {
    const socket = await openGatewaySocket();
    socket.write(formatRequestHead("POST /v2/reports/count", { authorization, "content-length": 6 }));
    socket.write("abc");
    await sleep(1_500);
    socket.write("def");
    const response = await readRawSocketResponse(socket);
    expect(response.status).toBe(200);
    expect(JSON.parse(response.body.toString())).toMatchObject({ bytes: 6 });
    socket.destroy();
  });

  it("does not receive the body of a GET", async () => {
    const socket = await openGatewaySocket();
    socket.write(`${formatRequestHead("GET /v2/reports/count", { authorization, "content-length": 5 })}hello`);
    expect(JSON.parse((await readRawSocketResponse(socket)).body.toString())).toMatchObject({ bytes: 0 });
    socket.write(formatRequestHead("GET /v2/reports/json", { authorization }));
    expect((await readRawSocketResponse(socket)).status).toBe(200);
    socket.destroy();
  });

  it("does not receive a truncated body as if it were complete", async () => {
    const before = observations.abortedRequests;
    const socket = await openGatewaySocket();
    socket.write(
      formatRequestHead("POST /v2/reports/count", {
        authorization,
        "content-length": 1_000,
        "x-request-id": `cut-${placement}`,
      }),
    );
    socket.write("half of it");
    await sleep(100);
    socket.destroy();
    const line = await eventually("the log line", () =>
      gateways[placement].logLines.find(({ requestId }) => requestId === `cut-${placement}`),
    );
    expect(line).toMatchObject({ status: 499, aborted: true });
    expect(observations.abortedRequests).toBe(before);
  });

  it("receives the body of a request with Expect: 100-continue when the key is valid", async () => {
    const lengths: number[] = [];
    const responseText = new Promise<string>((resolve, reject) => {
      const request = httpRequest({
        port: gateways[placement].port,
        method: "POST",
        path: "/v2/reports/count",
        headers: { authorization, "content-length": 5, expect: "100-continue" },
      });
      request.on("continue", () => {
        lengths.push(5);
        request.end("hello");
      });
      request.on("error", reject).on("response", async (response) => {
        let text = "";
        for await (const chunk of response) text += chunk;
        resolve(text);
      });
      request.flushHeaders();
    });
    expect(JSON.parse(await responseText)).toMatchObject({ bytes: 5 });
    expect(lengths).toEqual([5]);
  });
});
