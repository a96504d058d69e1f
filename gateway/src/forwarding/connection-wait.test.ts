import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { startHttpServer } from "@pragma/runtime/http/http-server";
import { bodySignatureBytes } from "@pragma/runtime/service-calls/body-signature";
import { createConnectionWait } from "@pragma/runtime/service-calls/connection-wait";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let environment: IsolatedTestEnvironment;
let port: number;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
});
afterAll(() => environment.remove());
beforeEach(async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
  await new Promise((resolve) => server.close(resolve));
});

async function withGateway(waitSeconds: string, work: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const variables = { REPORTING_URL: `http://localhost:${port}`, UPSTREAM_CONNECT_WAIT_SECONDS: waitSeconds };
  const gateway = await startTestGateway(environment, { variables });
  try {
    await work(gateway);
  } finally {
    await gateway.stop();
  }
}

/** Starts a service that returns the size of the body of each request, and records their methods. */
const startService = (received: string[]) =>
  startHttpServer(
    async (request) => {
      const size = request.method === "GET" ? 0 : (await request.arrayBuffer()).byteLength - bodySignatureBytes;
      received.push(`${request.method} ${size}`);
      return new Response(String(size));
    },
    { port },
  );

describe("requests to a service that does not accept connections", () => {
  it("wait for it, whatever their method and size, and are sent once", async () => {
    await withGateway("20", async (gateway) => {
      const { key } = gateway.accounts.addKey();
      const send = async (init: RequestInit = {}) => {
        const response = await gateway.request("/v2/reports/", { key, ...init });
        return [response.status, await response.text()];
      };
      const sizes = [10, 60_000, 300_000];
      const pending = [send(), ...sizes.map((size) => send({ method: "POST", body: "x".repeat(size) }))];
      await sleep(700);
      const received: string[] = [];
      const service = await startService(received);
      expect(await Promise.all(pending)).toEqual([[200, "0"], ...sizes.map((size) => [200, String(size)])]);
      expect(received.sort()).toEqual(["GET 0", ...sizes.map((size) => `POST ${size}`)].sort());
      await service.stop();
    });
  });

  it("fail after the wait, and at once from then on, until it accepts connections", async () => {
    await withGateway("1", async (gateway) => {
      const { key } = gateway.accounts.addKey();
      const time = async (init: RequestInit) => {
        const startedAt = performance.now();
        const response = await gateway.request("/v2/reports/", { key, ...init });
        await response.text();
        return { status: response.status, isSlow: performance.now() - startedAt > 700 };
      };
      const upload = { method: "POST", body: "x".repeat(300_000) };
      expect(await time(upload)).toEqual({ status: 503, isSlow: true });
      expect(await time({ method: "POST", body: "{}" })).toEqual({ status: 503, isSlow: false });
      const service = await startService([]);
      expect(await time(upload)).toEqual({ status: 200, isSlow: false });
      await service.stop();
    });
  });

  it("of one location that are too many fail at once, and those of other locations wait", async () => {
    await withGateway("20", async (gateway) => {
      const { key } = gateway.accounts.addKey();
      const { key: other } = gateway.accounts.addKey();
      const statuses: number[] = [];
      const send = async (senderKey: string) => {
        const response = await gateway.request("/v2/reports/", { key: senderKey });
        await response.text();
        statuses.push(response.status);
      };
      const pending = Array.from({ length: 260 }, () => send(key));
      while (statuses.length < 10) await sleep(20);
      pending.push(send(other));
      await sleep(200);
      expect(statuses).toEqual(Array.from({ length: 10 }, () => 503));
      const service = await startService([]);
      await Promise.all(pending);
      expect(statuses.slice(10)).toEqual(Array.from({ length: 251 }, () => 200));
      await service.stop();
    });
  });
});

describe("requests that are sent after a wait", () => {
  const connectFailure = Object.assign(new Error("refused"), { syscall: "connect" });
  let release: () => void;
  let released: Promise<void>;
  let isUp: boolean;
  beforeEach(() => {
    isUp = false;
    released = new Promise((resolve) => {
      release = resolve;
    });
  });

  /** Sends requests through a connection wait. A slow one has a result only after `release`. */
  function createSender(maxWaitMs: number) {
    const sendWhenConnected = createConnectionWait(`http://127.0.0.1:${port}`, maxWaitMs);
    const counts = { sent: 0 };
    const send = (sender: string, { isSlow = true, isUpload = false, signal = new AbortController().signal } = {}) =>
      sendWhenConnected(
        async (onConnected) => {
          if (!isUp) throw connectFailure;
          counts.sent += 1;
          if (isUpload) onConnected();
          if (isSlow) await released;
          return "sent";
        },
        { sender, bodyBytes: 0, signal },
      ).catch((error: unknown) => error);
    return { send, counts };
  }

  const sendMany = (count: number, send: () => Promise<unknown>) => Array.from({ length: count }, send);

  it("take turns by location, and an upload does not keep the turn of others", async () => {
    const { send, counts } = createSender(20_000);
    const pending = [
      ...sendMany(200, () => send("slow location")),
      ...sendMany(200, () => send("location with uploads", { isUpload: true })),
    ];
    const other = send("other location", { isSlow: false });
    isUp = true;
    const service = await startService([]);
    expect(await other).toBe("sent");
    while (counts.sent < 32 + 200 + 1) await sleep(10);
    expect(counts.sent).toBe(32 + 200 + 1);
    release();
    expect(new Set(await Promise.all(pending))).toEqual(new Set(["sent"]));
    await service.stop();
  });

  it("fail at the deadline or when they are canceled, even if none can be sent before", async () => {
    const { send, counts } = createSender(1_500);
    const pending = ["a", "b", "c", "d"].flatMap((sender) => sendMany(32, () => send(sender)));
    const abort = new AbortController();
    const canceled = send("e", { signal: abort.signal });
    const late = send("e");
    isUp = true;
    const startedAt = performance.now();
    const service = await startService([]);
    while (counts.sent < 128) await sleep(10);
    abort.abort();
    expect(await canceled).toBe(connectFailure);
    expect(performance.now() - startedAt).toBeLessThan(1_400);
    expect(await late).toBe(connectFailure);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(counts.sent).toBe(128);
    release();
    expect(new Set(await Promise.all(pending))).toEqual(new Set(["sent"]));
    await service.stop();
  });
});
