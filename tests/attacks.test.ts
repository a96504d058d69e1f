import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { sleep } from "@pragma/runtime/sleep";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newLiveOrder } from "./contract/live-order.ts";
import { residentMegabytes } from "./harness/memory.ts";
import { type Product, startProduct } from "./harness/product.ts";
import { adminOf, openShop, type Shop } from "./harness/shop.ts";

let environment: TestEnvironment;
let product: Product;
let attacker: Shop;
let victim: Shop;

beforeAll(async () => {
  environment = await createTestEnvironment({
    NODE_OPTIONS: "--max-old-space-size=256",
    RATE_LIMIT_PER_SECOND: "100000",
    RATE_LIMIT_BURST: "1000000",
  });
  product = await startProduct(environment.variables, { split: ["accounts", "order-live", "reporting"] });
  attacker = await openShop(product, { scopes: ["reports:read", "orders:write"] });
  victim = await openShop(product, { scopes: ["reports:read", "orders:read", "keys:write"] });
}, 120_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
}, 60_000);

async function openSocket(): Promise<Socket> {
  const { hostname, port } = new URL(product.url);
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return socket.on("error", () => {});
}

describe("a body that looks like a request", () => {
  it("is never one of the next client's, whatever the Connection header names", async () => {
    const admin = adminOf(product);
    const { data: keys } = await admin.GET("/v1/auth/keys");
    const victims = keys.data.find(({ locationId }) => locationId === victim.locationId);
    const revoke = `DELETE /v1/auth/keys/${victims?.id} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`;
    const mislead = "GET /v2/reports/ HTTP/1.1\r\nhost: x\r\nx-forwarded-host: evil.example\r\n\r\n";
    const names = [
      "content-length",
      "host",
      "transfer-encoding",
      "x-pragma-principal, x-pragma-signature",
      "x-request-id",
    ];
    let isOver = false;
    const seen: string[] = [];
    const bystanders = [victim, victim, victim].map(async (shop) => {
      while (!isOver) {
        const response = await shop.ask("GET", "/v2/reports/");
        seen.push(`${response.status} ${await response.text()}`);
      }
    });
    for (let round = 0; round < 60; round++) {
      const body = round % 2 === 0 ? revoke : mislead;
      const socket = await openSocket();
      socket.write(
        `POST /v1/reports/ HTTP/1.1\r\nhost: api.example\r\nauthorization: Bearer ${attacker.key}\r\n` +
          `connection: ${names[round % names.length]}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      await sleep(10);
      socket.destroy();
    }
    isOver = true;
    await Promise.all(bystanders);
    expect(seen.filter((answer) => !answer.startsWith("200 ") || answer.includes("evil"))).toEqual([]);
    const { data: after } = await admin.GET("/v1/auth/keys");
    expect(after.data.filter(({ revokedAt }) => revokedAt !== null)).toEqual([]);
  });
});

describe("clients that ask and never read", () => {
  it("cost the gateway next to nothing", async () => {
    const pid = product.process("gateway").pid as number;
    for (let warm = 0; warm < 50; warm++) await (await fetch(`${product.url}/openapi.json`)).arrayBuffer();
    const before = await residentMegabytes(pid);
    const ask = "GET /openapi.json HTTP/1.1\r\nhost: api.example\r\n\r\n";
    const grown: number[] = [];
    // Again when it was too much: garbage of a first time goes with the next, and what is kept stays.
    while (grown.length < 3 && !grown.some((megabytes) => megabytes < 50)) {
      const sockets = await Promise.all(Array.from({ length: 100 }, openSocket));
      for (const [at, socket] of sockets.entries()) {
        socket.pause();
        // One half sends as much as it can, the other as many as are answered at all.
        socket.write(ask.repeat(at % 2 === 0 ? 800 : 8));
      }
      for (let second = 0; second < 5; second++) {
        const began = performance.now();
        expect((await victim.ask("GET", "/v2/reports/")).status).toBe(200);
        expect(performance.now() - began).toBeLessThan(2_000);
        await sleep(1_000);
      }
      grown.push((await residentMegabytes(pid)) - before);
      for (const socket of sockets) socket.destroy();
    }
    expect(Math.min(...grown), `megabytes: ${grown}`).toBeLessThan(50);
  });
});

/** The longest that another location waits for its live orders while something is done. */
async function longestWaitMs(work: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let longest = 0;
  const bystander = (async () => {
    while (!isOver) {
      const began = performance.now();
      expect((await victim.ask("GET", "/v1/orders-live/")).status).toBe(200);
      longest = Math.max(longest, performance.now() - began);
      await sleep(50);
    }
  })();
  await work().finally(() => {
    isOver = true;
  });
  await bystander;
  return longest;
}

describe("many requests of one location", () => {
  it("that wait for the same rows leave connections to others", async () => {
    const upsert = () => attacker.ask("POST", "/v1/orders-live/", { body: [newLiveOrder()] });
    const waited = await longestWaitMs(async () => {
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(Array.from({ length: 200 }, upsert));
        expect(answers.filter(({ ok }) => !ok)).toEqual([]);
      }
    });
    expect(waited).toBeLessThan(2_000);
  }, 60_000);

  it("with bodies that weigh much once they are parsed do not end the process", async () => {
    const names = (round: number) =>
      Object.fromEntries(Array.from({ length: 4_800 }, (_, at) => [`k${at}x${round}`, 1]));
    const heavy = (round: number) => {
      const orders = Array.from({ length: 50 }, newLiveOrder).map((order) => ({
        ...order,
        data: { ...order.data, customerInfo: { a: names(round) } },
      }));
      const body = gzipSync(JSON.stringify(orders));
      return attacker.ask("POST", "/v1/orders-live/", { body, headers: { "content-encoding": "gzip" } });
    };
    const pid = product.process("order-live").pid;
    const answers = await Promise.all(Array.from({ length: 16 }, (_, round) => heavy(round)));
    expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
    expect(product.process("order-live").pid).toBe(pid);
    expect((await victim.ask("GET", "/v1/orders-live/")).status).toBe(200);
  }, 60_000);

  it("that bring their bodies slowly hold no connection to the service", async () => {
    const sockets = await Promise.all(Array.from({ length: 300 }, openSocket));
    for (const socket of sockets) {
      socket.write(
        `POST /v1/orders-live/ HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${attacker.key}\r\n` +
          "content-type: application/json\r\ncontent-length: 100\r\n\r\n[",
      );
    }
    expect(await longestWaitMs(() => sleep(3_000))).toBeLessThan(2_000);
    for (const socket of sockets) socket.destroy();
  });
});
