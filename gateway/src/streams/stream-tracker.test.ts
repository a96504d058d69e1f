import { randomUUID } from "node:crypto";
import type { EventData } from "@pragma/contracts/events";
import { type HttpServer, startHttpServer } from "@pragma/runtime/http/http-server";
import { createEventBus, type EventBus } from "@pragma/runtime/messaging/event-bus";
import { createLogger } from "@pragma/runtime/observability/logger";
import { type EventStreamReader, readEventStream } from "@pragma/runtime/testing/event-stream-reader";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeKeyLookupService, startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let environment: TestEnvironment;
let bus: EventBus;
let service: HttpServer;
const accounts = new FakeKeyLookupService();
const gateways = {} as Record<"here" | "elsewhere", TestGateway>;

/** The streams that the service has open, by the id of their requests. */
const streamControllers = new Map<string, ReadableStreamDefaultController<Uint8Array>>();

/** Answers a stream that says nothing by itself. */
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
  environment = await createTestEnvironment();
  const { variables, namespace: NAMESPACE } = environment;
  const log = createLogger({ name: "test", level: "silent" });
  bus = createEventBus({ NATS_URL: variables.NATS_URL ?? "", NAMESPACE, STREAM_REPLICAS: 1 }, { name: "test", log });
  service = await startHttpServer(respondWithStream, { port: 0 });
  gateways.here = await startStreamGateway({}, true);
  gateways.elsewhere = await startStreamGateway({}, false);
});
afterAll(async () => {
  await Promise.all(Object.values(gateways).map((gateway) => gateway.stop()));
  await service.stop();
  await bus.close();
  await environment.remove();
});

const startStreamGateway = (variables: Record<string, string>, isHere: boolean) =>
  startTestGateway(environment, {
    accounts,
    ...(isHere && { inProcessServices: { "order-live": respondWithStream } }),
    variables: {
      UPSTREAM_TIMEOUT: "1",
      ...(!isHere && { ORDER_LIVE_URL: `http://127.0.0.1:${service.port}` }),
      ...variables,
    },
  });

async function publishKeyChange(
  change: Pick<EventData<"key.changed">, "keyId" | "keyHash" | "revoked">,
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

/** A stream, its service's end included. */
interface TestServiceStream extends EventStreamReader {
  sendEvent(text: string): void;
  /** The service has heard that nobody listens any more. */
  cancelledByGateway(): Promise<unknown>;
}

async function openTestStream(gateway: TestGateway, key: string): Promise<TestServiceStream> {
  const id = randomUUID();
  const reply = await gateway.request("/v1/orders-live/stream", { key, headers: { "x-request-id": id } });
  expect(reply.status).toBe(200);
  return Object.assign(readEventStream(reply), {
    sendEvent(text: string) {
      streamControllers.get(id)?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify({ text })}\n\n`));
    },
    cancelledByGateway: () =>
      eventually("the service to hear of it", () => !streamControllers.has(id), { timeoutSeconds: 3 }),
  });
}

const sleepMs = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe.each(["here", "elsewhere"] as const)("a stream of a service that runs %s", (where) => {
  it("goes on after pauses that no reply may have, and each event is passed on at once", async () => {
    const stream = await openTestStream(gateways[where], accounts.addKey().key);
    for (const wait of [0, 50, 2_000]) {
      await sleepMs(wait);
      const before = stream.events.length;
      const since = performance.now();
      stream.sendEvent("hello");
      await stream.waitForEvents(before + 1);
      expect(performance.now() - since).toBeLessThan(500);
    }
    await stream.close();
  });

  it("is let go of by the service when its client goes away", async () => {
    const stream = await openTestStream(gateways[where], accounts.addKey().key);
    await stream.close();
    await stream.cancelledByGateway();
  });

  it("ends when its key is revoked, and those of other keys go on", async () => {
    const { key, hash, facts } = accounts.addKey();
    const mine = await openTestStream(gateways[where], key);
    const other = await openTestStream(gateways[where], accounts.addKey().key);
    mine.sendEvent("before");
    await mine.waitForEvents(1);
    accounts.keys.set(hash, { ...facts, revokedAt: new Date().toISOString() });
    const since = performance.now();
    await publishKeyChange({ keyId: facts.keyId, keyHash: hash, revoked: true });
    await mine.waitForEnd();
    expect(performance.now() - since).toBeLessThan(1_000);
    expect(mine.ending).toBe("ended");
    await mine.cancelledByGateway();
    other.sendEvent("after");
    await other.waitForEvents(1);
    await other.close();
    expect((await gateways[where].request("/v1/orders-live/stream", { key })).status).toBe(401);
  });

  it("ends when its key may do something else, so that its client asks again", async () => {
    const { key, hash, facts } = accounts.addKey();
    const stream = await openTestStream(gateways[where], key);
    accounts.keys.set(hash, { ...facts, scopes: ["reports:read"] });
    await publishKeyChange({ keyId: facts.keyId, keyHash: hash, revoked: false });
    await stream.waitForEnd();
    await stream.cancelledByGateway();
    const again = await openTestStream(gateways[where], key);
    await again.close();
  });

  it("takes no connection from other requests, however many there are", async () => {
    const { key } = accounts.addKey({ rateLimit: { perSecond: 1_000, burst: 1_000 } });
    const streams = await Promise.all(Array.from({ length: 300 }, () => openTestStream(gateways[where], key)));
    expect((await gateways[where].request("/v1/orders-live/x", { key, method: "DELETE" })).status).toBe(204);
    await Promise.all(streams.map((stream) => stream.close()));
  });

  it("ends for a client that does not listen, too", async () => {
    const { key, hash, facts } = accounts.addKey();
    const id = randomUUID();
    const reply = await gateways[where].request("/v1/orders-live/stream", { key, headers: { "x-request-id": id } });
    // More than the connections' own buffers take.
    const much = new Uint8Array(500_000).fill(120);
    for (let sent = 0; sent < 60; sent += 1) streamControllers.get(id)?.enqueue(much);
    await publishKeyChange({ keyId: facts.keyId, keyHash: hash, revoked: true });
    await eventually("the service to hear of it", () => !streamControllers.has(id), { timeoutSeconds: 3 });
    await reply.body?.cancel();
  });

  it("is given up on when its client takes nothing for long, and not while it takes something", async () => {
    const gateway = await startStreamGateway({ STREAM_TIMEOUT: "1" }, where === "here");
    const [reads, sleeps] = [randomUUID(), randomUUID()];
    const ask = (id: string) =>
      gateway.request("/v1/orders-live/stream", { key: accounts.addKey().key, headers: { "x-request-id": id } });
    const [read, slept] = await Promise.all([ask(reads), ask(sleeps)]);
    const stream = readEventStream(read);
    const much = new Uint8Array(500_000).fill(120);
    for (let sent = 0; sent < 60; sent += 1) streamControllers.get(sleeps)?.enqueue(much);
    for (let beat = 0; beat < 10 && streamControllers.has(sleeps); beat += 1) {
      await sleepMs(500);
      streamControllers.get(reads)?.enqueue(new TextEncoder().encode(": beat\n\n"));
    }
    expect([streamControllers.has(sleeps), stream.ending]).toEqual([false, undefined]);
    await Promise.all([stream.close(), slept.body?.cancel().catch(() => {})]);
    await gateway.stop();
  });

  it("ends after a while when nothing was heard of a revocation", async () => {
    const deaf = await startStreamGateway({ KEY_LIFETIME: "1" }, where === "here");
    const { key, hash, facts } = accounts.addKey();
    const stays = await openTestStream(deaf, accounts.addKey().key);
    const stream = await openTestStream(deaf, key);
    accounts.keys.set(hash, { ...facts, revokedAt: new Date().toISOString() });
    await stream.waitForEnd();
    expect(stream.ending).toBe("ended");
    expect(stays.ending).toBeUndefined();
    await stays.close();
    await deaf.stop();
  });

  it("ends when the gateway stops, which does not take long", async () => {
    const gateway = await startStreamGateway({}, where === "here");
    const stream = await openTestStream(gateway, accounts.addKey().key);
    const since = performance.now();
    await gateway.stop();
    expect(performance.now() - since).toBeLessThan(2_000);
    await stream.waitForEnd();
    expect(stream.ending).toBe("ended");
    await stream.cancelledByGateway();
  });
});

describe("a stream whose key cannot be looked up", () => {
  it("goes on for a while, and then ends", async () => {
    const away = new FakeKeyLookupService();
    const { key, hash } = away.addKey();
    const gateway = await startTestGateway(environment, {
      accounts: away,
      inProcessServices: { "order-live": respondWithStream },
      variables: { KEY_LIFETIME: "1" },
    });
    const stream = await openTestStream(gateway, key);
    away.beforeResponse = () => Promise.reject(new Error("away"));
    // What is remembered of the key is forgotten, as when the bus was away.
    await publishKeyChange({ keyId: randomUUID(), keyHash: hash, revoked: false });
    await sleepMs(2_500);
    expect(stream.ending).toBeUndefined();
    await stream.waitForEnd();
    await gateway.stop();
  });
});

describe("a stream that begins while its key is being revoked", () => {
  it("is refused", async () => {
    const { key, hash, facts } = accounts.addKey();
    let isAsked = false;
    let letGo = () => {};
    const holding = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const slow = await startTestGateway(environment, {
      accounts,
      inProcessServices: {
        async "order-live"(request) {
          isAsked = true;
          await holding;
          return respondWithStream(request as Request);
        },
      },
    });
    const asking = slow.request("/v1/orders-live/stream", { key });
    await eventually("the service to be asked", () => isAsked);
    accounts.keys.set(hash, { ...facts, revokedAt: new Date().toISOString() });
    await publishKeyChange({ keyId: facts.keyId, keyHash: hash, revoked: true });
    await sleepMs(100);
    letGo();
    expect((await asking).status).toBe(401);
    await eventually("the service to see it end", () => streamControllers.size === 0);
    await slow.stop();
  });
});
