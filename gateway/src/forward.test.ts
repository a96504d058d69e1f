import { createHash, randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { sleep } from "@pragma/runtime/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BothGateways, testKey as key, startBothGateways } from "./testing/both-gateways.ts";
import { head, openConnection, readReply } from "./testing/raw-client.ts";
import type { TestGateway } from "./testing/test-gateway.ts";
import { testService } from "./testing/test-service.ts";

const seen = { aborted: 0, pulled: 0 };
let gateways: BothGateways;

beforeAll(async () => {
  gateways = await startBothGateways(testService(seen), { UPSTREAM_TIMEOUT: "1", IDLE_TIMEOUT: "3" });
});
afterAll(() => gateways?.stop());

/** What a client gets, but for what differs from one request to the next. */
async function got(gateway: TestGateway, path: string, init: RequestInit = {}) {
  const reply = await gateway.ask(path, { key, ...init, headers: { "x-request-id": "same", ...init.headers } });
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
    const here = await got(gateways.here, `/v2/reports/${path}`, { method });
    const elsewhere = await got(gateways.elsewhere, `/v2/reports/${path}`, { method });
    expect(elsewhere).toEqual(here);
    expect(here.status).toBeLessThan(500);
  });

  it("with the length of what is there at once, and without one for what comes bit by bit", async () => {
    const whole = await got(gateways.here, "/v2/reports/json");
    expect(whole).toMatchObject({ status: 200, headers: { "content-length": "8", etag: '"abc"' } });
    const slow = await got(gateways.here, "/v2/reports/slowly");
    expect(slow.body).toBe("onetwothree");
    expect(slow.headers).not.toHaveProperty("content-length");
  });
});

describe.each(["here", "elsewhere"] as const)("a service %s", (where) => {
  const ask = (path: string, init: RequestInit = {}) => gateways[where].ask(`/v2/reports/${path}`, { key, ...init });
  const connection = () => openConnection(gateways[where].port);
  const authorization = `Bearer ${key}`;

  it("gets bodies byte for byte, with their length and encoding", async () => {
    const body = gzipSync(randomBytes(300_000));
    const hash = createHash("sha256").update(body).digest("hex");
    const headers = { "content-encoding": "gzip" };
    const reply = await ask("count", { method: "POST", body, headers });
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
    const reply = await ask("echo", { method: "POST", body, duplex: "half" } as RequestInit);
    const echoed = Buffer.from(await reply.arrayBuffer());
    expect(echoed.equals(Buffer.concat(chunks))).toBe(true);
  });

  it("is heard as it speaks", async () => {
    const reply = await ask("slowly");
    const times: number[] = [];
    for await (const _ of reply.body ?? []) times.push(performance.now());
    expect(times).toHaveLength(3);
    expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(90);
  });

  it("may stream events with longer pauses than replies may have", async () => {
    const began = performance.now();
    const reply = await gateways[where].ask("/v1/orders-live/stream", { key });
    expect(performance.now() - began).toBeLessThan(500);
    expect(await reply.text()).toBe("data: 1\n\ndata: 2\n\n");
  });

  it("speaks no faster than the client listens", async () => {
    const socket = await connection();
    socket.pause();
    seen.pulled = 0;
    socket.write(head("GET /v2/reports/endless", { authorization }));
    // What the connections' own buffers take goes in first.
    const pulled = await eventually("the service to wait", async () => {
      const before = seen.pulled;
      await sleep(300);
      return before > 0 && seen.pulled === before && before;
    });
    expect(pulled * 64).toBeLessThan(100 * 1024);
    socket.destroy();
  });

  it("is told when the client goes away", async () => {
    const before = seen.aborted;
    const aborter = new AbortController();
    const asking = ask("hang", { signal: aborter.signal }).catch(() => "gone");
    await sleep(100);
    aborter.abort();
    expect(await asking).toBe("gone");
    await eventually("the service to be told", () => seen.aborted === before + 1, { withinSeconds: 2 });
  });

  it("that does not answer in time is given up on", async () => {
    const began = performance.now();
    const reply = await ask("hang", { headers: { "x-request-id": `hang-${where}` } });
    expect(reply.status).toBe(504);
    expect(await reply.json()).toMatchObject({ code: "upstream_timeout", requestId: `hang-${where}` });
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it.each(["broken", "stalled"])("whose reply is %s never looks whole", async (how) => {
    const socket = await connection();
    socket.write(head(`GET /v2/reports/${how}`, { authorization }));
    const reply = await readReply(socket);
    expect(reply).toMatchObject({ status: 200, isCutOff: true });
    expect(reply.body.toString()).toBe("begun");
  });

  it("that answers before a body has come is heard, and the connection goes on", async () => {
    const socket = await connection();
    // A small body is taken whole before the service is asked.
    const length = 100_000;
    socket.write(head("POST /v2/reports/refuse", { authorization, "content-length": length }));
    socket.write(Buffer.alloc(length / 2));
    const first = await readReply(socket);
    expect(first.status).toBe(415);
    socket.write(Buffer.alloc(length / 2));
    socket.write(head("GET /v2/reports/json", { authorization }));
    expect((await readReply(socket)).status).toBe(200);
    socket.destroy();
  });

  it("is given all the time that a slow client takes to send", async () => {
    const socket = await connection();
    socket.write(head("POST /v2/reports/count", { authorization, "content-length": 6 }));
    socket.write("abc");
    await sleep(1_500);
    socket.write("def");
    const reply = await readReply(socket);
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.body.toString())).toMatchObject({ bytes: 6 });
    socket.destroy();
  });

  it("does not see the body of a GET", async () => {
    const socket = await connection();
    socket.write(`${head("GET /v2/reports/count", { authorization, "content-length": 5 })}hello`);
    expect(JSON.parse((await readReply(socket)).body.toString())).toMatchObject({ bytes: 0 });
    socket.write(head("GET /v2/reports/json", { authorization }));
    expect((await readReply(socket)).status).toBe(200);
    socket.destroy();
  });

  it("does not get a body whose client went away as if it were whole", async () => {
    const before = seen.aborted;
    const socket = await connection();
    socket.write(
      head("POST /v2/reports/count", { authorization, "content-length": 1_000, "x-request-id": `cut-${where}` }),
    );
    socket.write("half of it");
    await sleep(100);
    socket.destroy();
    const line = await eventually("its line", () =>
      gateways[where].logged.find(({ requestId }) => requestId === `cut-${where}`),
    );
    expect(line).toMatchObject({ status: 499, aborted: true });
    expect(seen.aborted).toBe(before);
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
