import { randomUUID } from "node:crypto";
import type { BusEventData } from "@pragma/contracts/events";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { type HttpServer, startHttpServer } from "@pragma/runtime/http/http-server";
import { createEventBus, type EventBus } from "@pragma/runtime/messaging/event-bus";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import {
  type ServerSentEventReader,
  startServerSentEventReader,
} from "@pragma/runtime/testing/server-sent-event-reader";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeApiKeyLookupService, startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let environment: IsolatedTestEnvironment;
let bus: EventBus;
let service: HttpServer;
const accounts = new FakeApiKeyLookupService();
const gateways = {} as Record<"in-process" | "remote", TestGateway>;

/** The controllers of the service's open streams, by request id. */
const streamControllers = new Map<string, ReadableStreamDefaultController<Uint8Array>>();

/** Responds with a stream. The test sends chunks by enqueueing them in the stream's controller. */
async function respondWithStream({ method, headers }: Request): Promise<Response> {
  if (method !== "GET") return new Response(null, { status: 204 });
  const id = headers.get("x-request-id") ?? "";
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void streamControllers.set(id, controller),
    cancel: () => void streamControllers.delete(id),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const { variables, namespace: NAMESPACE } = environment;
  const log = createLogger({ name: "test", level: "silent" });
  bus = createEventBus(
    { NATS_URL: variables.NATS_URL ?? "", NAMESPACE, EVENT_STREAM_REPLICAS: 1 },
    { name: "test", log },
  );
  service = await startHttpServer(respondWithStream, { port: 0 });
  gateways["in-process"] = await startStreamGateway({}, true);
  gateways.remote = await startStreamGateway({}, false);
});
afterAll(async () => {
  await Promise.all(Object.values(gateways).map((gateway) => gateway.stop()));
  await service.stop();
  await bus.close();
  await environment.remove();
});

const startStreamGateway = (variables: Record<string, string>, isInProcess: boolean) =>
  startTestGateway(environment, {
    accounts,
    ...(isInProcess && { inProcessServices: { "order-live": respondWithStream } }),
    variables: {
      UPSTREAM_TIMEOUT_SECONDS: "1",
      ...(!isInProcess && { ORDER_LIVE_URL: `http://127.0.0.1:${service.port}` }),
      ...variables,
    },
  });

async function publishKeyChange(
  change: Pick<BusEventData<"key.changed">, "keyId" | "keyHash" | "revoked">,
): Promise<void> {
  const data = { locationId: null, ...change };
  const head = { specversion: "1.0", id: randomUUID(), type: "key.changed", source: "accounts", subject: change.keyId };
  const { nats } = await bus.connected;
  nats.publish(
    bus.buildSubject("key.changed", null),
    JSON.stringify({ ...head, time: new Date().toISOString(), data }),
  );
  await nats.flush();
}

/** A stream for tests, with functions to read events as the client and to send events as the service. */
interface TestServiceStream extends ServerSentEventReader {
  sendEvent(text: string): void;
  /** Returns a promise that resolves when the gateway has canceled the service's response. */
  cancelledByGateway(): Promise<unknown>;
}

async function openTestStream(gateway: TestGateway, key: string): Promise<TestServiceStream> {
  const id = randomUUID();
  const response = await gateway.request("/v1/orders-live/stream", { key, headers: { "x-request-id": id } });
  expect(response.status).toBe(200);
  return Object.assign(startServerSentEventReader(response), {
    sendEvent(text: string) {
      streamControllers.get(id)?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify({ text })}\n\n`));
    },
    cancelledByGateway: () =>
      eventually("the service's response to be canceled", () => !streamControllers.has(id), { timeoutSeconds: 3 }),
  });
}

describe.each(["in-process", "remote"] as const)("a stream (service %s)", (placement) => {
  it("may pause longer than the response timeout, and each event is forwarded at once", async () => {
    const stream = await openTestStream(gateways[placement], accounts.addKey().key);
    for (const pauseMs of [0, 50, 2_000]) {
      await sleep(pauseMs);
      const eventsBefore = stream.events.length;
      const startedAt = performance.now();
      stream.sendEvent("hello");
      await stream.waitForEvents(eventsBefore + 1);
      expect(performance.now() - startedAt).toBeLessThan(500);
    }
    await stream.close();
  });

  it("is canceled at the service when its client disconnects", async () => {
    const stream = await openTestStream(gateways[placement], accounts.addKey().key);
    await stream.close();
    await stream.cancelledByGateway();
  });

  it("ends when its key is revoked, while streams of other keys continue", async () => {
    const { key, hash, resolvedKey } = accounts.addKey();
    const revokedStream = await openTestStream(gateways[placement], key);
    const otherStream = await openTestStream(gateways[placement], accounts.addKey().key);
    revokedStream.sendEvent("before");
    await revokedStream.waitForEvents(1);
    accounts.keys.set(hash, { ...resolvedKey, revokedAt: new Date().toISOString() });
    const startedAt = performance.now();
    await publishKeyChange({ keyId: resolvedKey.keyId, keyHash: hash, revoked: true });
    await revokedStream.waitForEnd();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(revokedStream.ending).toBe("ended");
    await revokedStream.cancelledByGateway();
    otherStream.sendEvent("after");
    await otherStream.waitForEvents(1);
    await otherStream.close();
    expect((await gateways[placement].request("/v1/orders-live/stream", { key })).status).toBe(401);
  });

  it("ends when its key's scopes change, so that its client reconnects", async () => {
    const { key, hash, resolvedKey } = accounts.addKey();
    const stream = await openTestStream(gateways[placement], key);
    accounts.keys.set(hash, { ...resolvedKey, scopes: ["reports:read"] });
    await publishKeyChange({ keyId: resolvedKey.keyId, keyHash: hash, revoked: false });
    await stream.waitForEnd();
    await stream.cancelledByGateway();
    const reconnected = await openTestStream(gateways[placement], key);
    await reconnected.close();
  });

  it("leaves connections for other requests, however many streams are open", async () => {
    const { key } = accounts.addKey({ rateLimit: { perSecond: 1_000, burst: 1_000 } });
    const streams = await Promise.all(Array.from({ length: 300 }, () => openTestStream(gateways[placement], key)));
    expect((await gateways[placement].request("/v1/orders-live/x", { key, method: "DELETE" })).status).toBe(204);
    await Promise.all(streams.map((stream) => stream.close()));
  });

  it("ends even when its client does not read", async () => {
    const { key, hash, resolvedKey } = accounts.addKey();
    const id = randomUUID();
    const response = await gateways[placement].request("/v1/orders-live/stream", {
      key,
      headers: { "x-request-id": id },
    });
    // Sends more than fits into the buffers of the connections.
    const largeChunk = new Uint8Array(500_000).fill(120);
    for (let sent = 0; sent < 60; sent += 1) streamControllers.get(id)?.enqueue(largeChunk);
    await publishKeyChange({ keyId: resolvedKey.keyId, keyHash: hash, revoked: true });
    await eventually("the service's response to be canceled", () => !streamControllers.has(id), { timeoutSeconds: 3 });
    await response.body?.cancel();
  });

  it("is closed when its client reads nothing for the idle timeout, and stays open while its client reads", async () => {
    const gateway = await startStreamGateway({ STREAM_IDLE_TIMEOUT_SECONDS: "1" }, placement === "in-process");
    const [readingId, stalledId] = [randomUUID(), randomUUID()];
    const openStream = (id: string) =>
      gateway.request("/v1/orders-live/stream", { key: accounts.addKey().key, headers: { "x-request-id": id } });
    const [readingResponse, stalledResponse] = await Promise.all([openStream(readingId), openStream(stalledId)]);
    const stream = startServerSentEventReader(readingResponse);
    const largeChunk = new Uint8Array(500_000).fill(120);
    for (let sent = 0; sent < 60; sent += 1) streamControllers.get(stalledId)?.enqueue(largeChunk);
    for (let beat = 0; beat < 10 && streamControllers.has(stalledId); beat += 1) {
      await sleep(500);
      streamControllers.get(readingId)?.enqueue(new TextEncoder().encode(": beat\n\n"));
    }
    expect([streamControllers.has(stalledId), stream.ending]).toEqual([false, undefined]);
    await Promise.all([stream.close(), stalledResponse.body?.cancel().catch(() => {})]);
    await gateway.stop();
  });

  it("ends at the next key check when the revocation event was missed", async () => {
    const gateway = await startStreamGateway({ KEY_CACHE_TTL_SECONDS: "1" }, placement === "in-process");
    const { key, hash, resolvedKey } = accounts.addKey();
    const validStream = await openTestStream(gateway, accounts.addKey().key);
    const stream = await openTestStream(gateway, key);
    accounts.keys.set(hash, { ...resolvedKey, revokedAt: new Date().toISOString() });
    await stream.waitForEnd();
    expect(stream.ending).toBe("ended");
    expect(validStream.ending).toBeUndefined();
    await validStream.close();
    await gateway.stop();
  });

  it("ends within two seconds when the gateway stops", async () => {
    const gateway = await startStreamGateway({}, placement === "in-process");
    const stream = await openTestStream(gateway, accounts.addKey().key);
    const startedAt = performance.now();
    await gateway.stop();
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    await stream.waitForEnd();
    expect(stream.ending).toBe("ended");
    await stream.cancelledByGateway();
  });
});

describe("a stream whose key cannot be looked up", () => {
  it("continues for a while and then ends", async () => {
    const unreachableAccounts = new FakeApiKeyLookupService();
    const { key, hash } = unreachableAccounts.addKey();
    const gateway = await startTestGateway(environment, {
      accounts: unreachableAccounts,
      inProcessServices: { "order-live": respondWithStream },
      variables: { KEY_CACHE_TTL_SECONDS: "1" },
    });
    const stream = await openTestStream(gateway, key);
    unreachableAccounts.beforeResponse = () => Promise.reject(new Error("unreachable"));
    // Removes the key from the gateway's cache. A reconnect to NATS has the same effect.
    await publishKeyChange({ keyId: randomUUID(), keyHash: hash, revoked: false });
    await sleep(2_500);
    expect(stream.ending).toBeUndefined();
    await stream.waitForEnd();
    await gateway.stop();
  });
});

describe("a stream whose key is revoked before the response begins", () => {
  it("is rejected", async () => {
    const { key, hash, resolvedKey } = accounts.addKey();
    let isServiceCalled = false;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const gateway = await startTestGateway(environment, {
      accounts,
      inProcessServices: {
        async "order-live"(request) {
          isServiceCalled = true;
          await held;
          return respondWithStream(request as Request);
        },
      },
    });
    const pending = gateway.request("/v1/orders-live/stream", { key });
    await eventually("the service to be called", () => isServiceCalled);
    accounts.keys.set(hash, { ...resolvedKey, revokedAt: new Date().toISOString() });
    await publishKeyChange({ keyId: resolvedKey.keyId, keyHash: hash, revoked: true });
    await sleep(100);
    release();
    expect((await pending).status).toBe(401);
    await eventually("the stream to be canceled", () => streamControllers.size === 0);
    await gateway.stop();
  });
});

describe("a request that waits for changes", () => {
  it("ends at once when its key is revoked and when the gateway stops, although the service has not responded", async () => {
    let requestCount = 0;
    const waitingService = await startHttpServer(
      () => {
        requestCount += 1;
        return new Promise<Response>(() => {});
      },
      { port: 0 },
    );
    const gateway = await startStreamGateway(
      { UPSTREAM_TIMEOUT_SECONDS: "25", WEBHOOKS_URL: `http://127.0.0.1:${waitingService.port}` },
      false,
    );
    const [revoked, other] = [accounts.addKey(), accounts.addKey()];
    const startedAt = performance.now();
    const request = ({ key }: { key: string }) => gateway.request("/v1/changes/?wait=20", { key });
    const [rejected, ended] = [request(revoked), request(other)];
    await eventually("the requests", () => requestCount === 2);
    const { hash, resolvedKey } = revoked;
    accounts.keys.set(hash, { ...resolvedKey, revokedAt: new Date().toISOString() });
    await publishKeyChange({ keyId: resolvedKey.keyId, keyHash: hash, revoked: true });
    expect((await rejected).status).toBe(401);
    await gateway.stop();
    const response = await ended;
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await waitingService.stop();
  });
});
