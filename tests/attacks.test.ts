import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestLiveOrderInput } from "./contract/order-and-till-inputs.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { readResidentMemoryMegabytes } from "./harness/resident-memory.ts";
import { createTestAdminClient, createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let attacker: TestLocation;
let victim: TestLocation;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({
    NODE_OPTIONS: "--max-old-space-size=256",
    RATE_LIMIT_PER_SECOND: "100000",
    RATE_LIMIT_BURST: "1000000",
  });
  product = await startPragmaUnderTest(environment.variables, { split: ["accounts", "order-live", "reporting"] });
  attacker = await createTestLocation(product, { scopes: ["reports:read", "orders:write"] });
  victim = await createTestLocation(product, { scopes: ["reports:read", "orders:read", "keys:write"] });
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
}, 240_000);

async function openRawSocket(): Promise<Socket> {
  const { hostname, port } = new URL(product.url);
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return socket.on("error", () => {});
}

describe("a request body that contains another request", () => {
  it("never becomes the request of another client, for any Connection header", async () => {
    const admin = createTestAdminClient(product);
    const { data: keys } = await admin.GET("/v1/auth/keys");
    const victimKey = keys.data.find(({ locationId }) => locationId === victim.locationId);
    const revokeKey = `DELETE /v1/auth/keys/${victimKey?.id} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`;
    const forgedHost = "GET /v2/reports/ HTTP/1.1\r\nhost: x\r\nx-forwarded-host: evil.example\r\n\r\n";
    const connectionHeaders = [
      "content-length",
      "host",
      "transfer-encoding",
      "x-pragma-principal, x-pragma-signature",
      "x-request-id",
    ];
    let isOver = false;
    const responses: string[] = [];
    const otherClients = [victim, victim, victim].map(async (testLocation) => {
      while (!isOver) {
        const response = await testLocation.request("GET", "/v2/reports/");
        responses.push(`${response.status} ${await response.text()}`);
      }
    });
    for (let round = 0; round < 60; round++) {
      const body = round % 2 === 0 ? revokeKey : forgedHost;
      const socket = await openRawSocket();
      socket.write(
        `POST /v1/reports/ HTTP/1.1\r\nhost: api.example\r\nauthorization: Bearer ${attacker.key}\r\n` +
          `connection: ${connectionHeaders[round % connectionHeaders.length]}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      await sleep(10);
      socket.destroy();
    }
    isOver = true;
    await Promise.all(otherClients);
    expect(responses.filter((response) => !response.startsWith("200 ") || response.includes("evil"))).toEqual([]);
    const { data: after } = await admin.GET("/v1/auth/keys");
    expect(after.data.filter(({ revokedAt }) => revokedAt !== null)).toEqual([]);
  });
});

describe("clients that send requests and never read the responses", () => {
  it("do not grow the memory of the gateway", async () => {
    const pid = product.process("gateway").pid as number;
    for (let warm = 0; warm < 50; warm++) await (await fetch(`${product.url}/openapi.json`)).arrayBuffer();
    const before = await readResidentMemoryMegabytes(pid);
    const rawRequest = "GET /openapi.json HTTP/1.1\r\nhost: api.example\r\n\r\n";
    const sockets = await Promise.all(Array.from({ length: 100 }, openRawSocket));
    for (const [at, socket] of sockets.entries()) {
      socket.pause();
      // Half of the clients send 800 requests, and the others send 8. No client reads the responses.
      socket.write(rawRequest.repeat(at % 2 === 0 ? 800 : 8));
    }
    for (let second = 0; second < 3; second++) {
      const startedAt = performance.now();
      expect((await victim.request("GET", "/v2/reports/")).status).toBe(200);
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      await sleep(1_000);
    }
    const growthMegabytes = (await readResidentMemoryMegabytes(pid)) - before;
    for (const socket of sockets) socket.destroy();
    // Garbage that is not collected yet is up to 120 MB. The responses to these requests are several gigabytes.
    expect(growthMegabytes).toBeLessThan(200);
  });
});

/** Returns the longest response time, in milliseconds, of requests from another location while `work` runs. */
async function measureLongestWaitMs(work: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let longest = 0;
  const otherClient = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      expect((await victim.request("GET", "/v1/orders-live/")).status).toBe(200);
      longest = Math.max(longest, performance.now() - startedAt);
      await sleep(50);
    }
  })();
  await work().finally(() => {
    isOver = true;
  });
  await otherClient;
  return longest;
}

describe("many concurrent requests of one location", () => {
  it("that wait for the same rows leave database connections for other locations", async () => {
    const upsert = () => attacker.request("POST", "/v1/orders-live/", { body: [createTestLiveOrderInput()] });
    const waited = await measureLongestWaitMs(async () => {
      for (let round = 0; round < 3; round++) {
        const responses = await Promise.all(Array.from({ length: 200 }, upsert));
        expect(responses.filter(({ ok }) => !ok)).toEqual([]);
      }
    });
    expect(waited).toBeLessThan(2_000);
  }, 60_000);

  it("with bodies of many fields do not exhaust the memory of the process", async () => {
    const createManyFields = (round: number) =>
      Object.fromEntries(Array.from({ length: 4_800 }, (_, at) => [`k${at}x${round}`, 1]));
    const sendLargeBody = (round: number) => {
      const orders = Array.from({ length: 50 }, createTestLiveOrderInput).map((order) => ({
        ...order,
        data: { ...order.data, customerInfo: { a: createManyFields(round) } },
      }));
      const body = gzipSync(JSON.stringify(orders));
      return attacker.request("POST", "/v1/orders-live/", { body, headers: { "content-encoding": "gzip" } });
    };
    const pid = product.process("order-live").pid;
    const responses = await Promise.all(Array.from({ length: 16 }, (_, round) => sendLargeBody(round)));
    expect(responses.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
    expect(product.process("order-live").pid).toBe(pid);
    expect((await victim.request("GET", "/v1/orders-live/")).status).toBe(200);
  }, 60_000);

  it("that send their bodies slowly occupy no connection to the service", async () => {
    const sockets = await Promise.all(Array.from({ length: 300 }, openRawSocket));
    for (const socket of sockets) {
      socket.write(
        `POST /v1/orders-live/ HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${attacker.key}\r\n` +
          "content-type: application/json\r\ncontent-length: 100\r\n\r\n[",
      );
    }
    expect(await measureLongestWaitMs(() => sleep(2_000))).toBeLessThan(2_000);
    for (const socket of sockets) socket.destroy();
  });
});
