import { createHash, randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GatewayPair, testApiKey as key, startGatewayPair } from "../testing/gateway-pair.ts";
import { openRawConnection, readRawResponse, requestHead } from "../testing/raw-client.ts";
import type { TestGateway } from "../testing/test-gateway.ts";
import { createTestService } from "../testing/test-service.ts";

const observations = { abortedRequests: 0, pulledChunks: 0 };
let gateways: GatewayPair;

beforeAll(async () => {
  gateways = await startGatewayPair(createTestService(observations), { UPSTREAM_TIMEOUT: "1", IDLE_TIMEOUT: "3" });
});
afterAll(() => gateways?.stop());

/** What a client gets, but for what differs from one request to the next. */
async function fetchComparable(gateway: TestGateway, path: string, init: RequestInit = {}) {
  const reply = await gateway.request(path, { key, ...init, headers: { "x-request-id": "same", ...init.headers } });
  const headers = Object.fromEntries([...reply.headers].filter(([name]) => !/^(date|ratelimit-)/.test(name)));
  return { status: reply.status, headers, body: Buffer.from(await reply.arrayBuffer()).toString("latin1") };
}

describe("a service in this process and one elsewhere answer alike", () => {
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
    const here = await fetchComparable(gateways.here, `/v2/reports/${path}`, { method });
    const elsewhere = await fetchComparable(gateways.elsewhere, `/v2/reports/${path}`, { method });
    expect(elsewhere).toEqual(here);
    expect(here.status).toBeLessThan(500);
  });

  it("with the length of what is there at once, and without one for what comes bit by bit", async () => {
    const whole = await fetchComparable(gateways.here, "/v2/reports/json");
    expect(whole).toMatchObject({ status: 200, headers: { "content-length": "8", etag: '"abc"' } });
    const slow = await fetchComparable(gateways.here, "/v2/reports/slowly");
    expect(slow.body).toBe("onetwothree");
    expect(slow.headers).not.toHaveProperty("content-length");
  });
});

describe.each(["here", "elsewhere"] as const)("a service %s", (where) => {
  const sendRequest = (path: string, init: RequestInit = {}) =>
    gateways[where].request(`/v2/reports/${path}`, { key, ...init });
  const openGatewaySocket = () => openRawConnection(gateways[where].port);
  const authorization = `Bearer ${key}`;

  it("gets bodies byte for byte, with their length and encoding", async () => {
    const body = gzipSync(randomBytes(300_000));
    const hash = createHash("sha256").update(body).digest("hex");
    const headers = { "content-encoding": "gzip" };
    const reply = await sendRequest("count", { method: "POST", body, headers });
    expect(await reply.json()).toEqual({ bytes: body.length, hash, length: String(body.length) });
  });

  it("gets bodies whose length nobody knows, and replies while they come", async () => {
    const chunks = Array.from({ length: 20 }, () => randomBytes(100_000));
    let sent = 0;
    const body = new ReadableStream({
      async pull(controller) {
        const chunk = chunks[sent++];
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    });
    const reply = await sendRequest("echo", { method: "POST", body, duplex: "half" } as RequestInit);
    const echoed = Buffer.from(await reply.arrayBuffer());
    expect(echoed.equals(Buffer.concat(chunks))).toBe(true);
  });

  it("is heard as it speaks", async () => {
    const reply = await sendRequest("slowly");
    const times: number[] = [];
    for await (const _ of reply.body ?? []) times.push(performance.now());
    expect(times).toHaveLength(3);
    expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(90);
  });

  it("may stream events with longer pauses than replies may have", async () => {
    const began = performance.now();
    const reply = await gateways[where].request("/v1/orders-live/stream", { key });
    expect(performance.now() - began).toBeLessThan(500);
    expect(await reply.text()).toBe("data: 1\n\ndata: 2\n\n");
  });

  it("speaks no faster than the client listens", async () => {
    const socket = await openGatewaySocket();
    socket.pause();
    observations.pulledChunks = 0;
    socket.write(requestHead("GET /v2/reports/endless", { authorization }));
    // What the connections' own buffers take goes in first.
    const pulled = await eventually("the service to wait", async () => {
      const before = observations.pulledChunks;
      await sleep(300);
      return before > 0 && observations.pulledChunks === before && before;
    });
    expect(pulled * 64).toBeLessThan(100 * 1024);
    socket.destroy();
  });

  it("is told when the client goes away", async () => {
    const before = observations.abortedRequests;
    const aborter = new AbortController();
    const asking = sendRequest("hang", { signal: aborter.signal }).catch(() => "gone");
    await sleep(100);
    aborter.abort();
    expect(await asking).toBe("gone");
    await eventually("the service to be told", () => observations.abortedRequests === before + 1, {
      timeoutSeconds: 2,
    });
  });

  it("that does not answer in time is given up on", async () => {
    const began = performance.now();
    const reply = await sendRequest("hang", { headers: { "x-request-id": `hang-${where}` } });
    expect(reply.status).toBe(504);
    expect(await reply.json()).toMatchObject({ code: "upstream_timeout", requestId: `hang-${where}` });
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it.each(["broken", "stalled"])("whose reply is %s never looks whole", async (how) => {
    const socket = await openGatewaySocket();
    socket.write(requestHead(`GET /v2/reports/${how}`, { authorization }));
    const reply = await readRawResponse(socket);
    expect(reply).toMatchObject({ status: 200, isCutOff: true });
    expect(reply.body.toString()).toBe("begun");
  });

  it("that answers before a body has come is heard, and the connection goes on", async () => {
    const socket = await openGatewaySocket();
    // A small body is taken whole before the service is asked.
    const length = 100_000;
    socket.write(requestHead("POST /v2/reports/refuse", { authorization, "content-length": length }));
    socket.write(Buffer.alloc(length / 2));
    const first = await readRawResponse(socket);
    expect(first.status).toBe(415);
    socket.write(Buffer.alloc(length / 2));
    socket.write(requestHead("GET /v2/reports/json", { authorization }));
    expect((await readRawResponse(socket)).status).toBe(200);
    socket.destroy();
  });

  it("is given all the time that a slow client takes to send", async () => {
    const socket = await openGatewaySocket();
    socket.write(requestHead("POST /v2/reports/count", { authorization, "content-length": 6 }));
    socket.write("abc");
    await sleep(1_500);
    socket.write("def");
    const reply = await readRawResponse(socket);
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.body.toString())).toMatchObject({ bytes: 6 });
    socket.destroy();
  });

  it("does not see the body of a GET", async () => {
    const socket = await openGatewaySocket();
    socket.write(`${requestHead("GET /v2/reports/count", { authorization, "content-length": 5 })}hello`);
    expect(JSON.parse((await readRawResponse(socket)).body.toString())).toMatchObject({ bytes: 0 });
    socket.write(requestHead("GET /v2/reports/json", { authorization }));
    expect((await readRawResponse(socket)).status).toBe(200);
    socket.destroy();
  });

  it("does not get a body whose client went away as if it were whole", async () => {
    const before = observations.abortedRequests;
    const socket = await openGatewaySocket();
    socket.write(
      requestHead("POST /v2/reports/count", { authorization, "content-length": 1_000, "x-request-id": `cut-${where}` }),
    );
    socket.write("half of it");
    await sleep(100);
    socket.destroy();
    const line = await eventually("its line", () =>
      gateways[where].logLines.find(({ requestId }) => requestId === `cut-${where}`),
    );
    expect(line).toMatchObject({ status: 499, aborted: true });
    expect(observations.abortedRequests).toBe(before);
  });

  it("is sent the body of a client that asks first, when its key is good", async () => {
    const lengths: number[] = [];
    const answered = new Promise<string>((resolve, reject) => {
      const sending = httpRequest({
        port: gateways[where].port,
        method: "POST",
        path: "/v2/reports/count",
        headers: { authorization, "content-length": 5, expect: "100-continue" },
      });
      sending.on("continue", () => {
        lengths.push(5);
        sending.end("hello");
      });
      sending.on("error", reject).on("response", async (reply) => {
        let text = "";
        for await (const chunk of reply) text += chunk;
        resolve(text);
      });
      sending.flushHeaders();
    });
    expect(JSON.parse(await answered)).toMatchObject({ bytes: 5 });
    expect(lengths).toEqual([5]);
  });
});
