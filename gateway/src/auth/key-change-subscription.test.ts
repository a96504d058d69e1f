import { randomUUID } from "node:crypto";
import type { EventData } from "@pragma/contracts/events";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { createEventBus, type EventBus, type EventBusConnection } from "@pragma/runtime/messaging/event-bus";
import { createLogger } from "@pragma/runtime/observability/logger";
import { type DedicatedServer, startDedicatedServer } from "@pragma/runtime/testing/dedicated-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeKeyLookupService, startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let environment: TestEnvironment;
let server: DedicatedServer;
let bus: EventBus;
let publisher: EventBusConnection["nats"];
const accounts = new FakeKeyLookupService();
let gateways: TestGateway[];

beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await startDedicatedServer("nats");
  bus = createEventBus(
    { NATS_URL: server.url, NAMESPACE: environment.namespace, STREAM_REPLICAS: 1 },
    { name: "test", log: createLogger({ name: "test", level: "silent" }) },
  );
  publisher = (await bus.connected).nats;
  const options = {
    accounts,
    direct: { reporting: async () => Response.json({ ok: true }) },
    variables: { NATS_URL: server.url },
  };
  gateways = await Promise.all([startTestGateway(environment, options), startTestGateway(environment, options)]);
  await gatewaysAreSubscribed();
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await bus.close();
  await server.stop();
  await environment.remove();
});

/** The gateways are told of a key that nobody uses until each asks for it again. */
async function gatewaysAreSubscribed(): Promise<void> {
  const probe = accounts.addKey();
  for (const gateway of gateways) {
    await eventually("the gateway to hear of changes", async () => {
      await gateway.request("/v2/reports/", { key: probe.key });
      const before = accounts.lookups.length;
      publish("key.changed", { locationId: null, keyId: probe.facts.keyId, keyHash: probe.hash, revoked: false });
      await publisher.flush();
      await sleep(50);
      await gateway.request("/v2/reports/", { key: probe.key });
      return accounts.lookups.length > before;
    });
  }
}

function publish<Type extends "key.changed" | "location.updated">(type: Type, data: EventData<Type>): void {
  const envelope = {
    specversion: "1.0",
    id: randomUUID(),
    type,
    source: "accounts",
    time: new Date().toISOString(),
    subject: "x",
    data,
  };
  publisher.publish(bus.buildSubject(type, data.locationId), JSON.stringify(envelope));
}

async function problemCodesOf(key: string): Promise<(string | undefined)[]> {
  const replies = await Promise.all(gateways.map((gateway) => gateway.request("/v2/reports/", { key })));
  return Promise.all(replies.map(async (reply) => ((await reply.json()) as { code?: string }).code));
}

describe("every gateway", () => {
  it("refuses a key within a second of its revocation", async () => {
    const { key, hash, facts } = accounts.addKey();
    expect(await problemCodesOf(key)).toEqual([undefined, undefined]);
    accounts.keys.set(hash, { ...facts, revokedAt: new Date().toISOString() });
    expect(await problemCodesOf(key)).toEqual([undefined, undefined]);
    publish("key.changed", { locationId: null, keyId: facts.keyId, keyHash: hash, revoked: true });
    const everywhere = async () => (await problemCodesOf(key)).every((code) => code === "key_revoked");
    await eventually("the key to be refused", everywhere, { timeoutSeconds: 1 });
  });

  it("knows a new key at once, though it was asked for before it was made", async () => {
    const made = new FakeKeyLookupService().addKey();
    expect(await problemCodesOf(made.key)).toEqual(["key_invalid", "key_invalid"]);
    accounts.addKey(made.facts, made.key);
    publish("key.changed", { locationId: null, keyId: made.facts.keyId, keyHash: made.hash, revoked: false });
    const everywhere = async () => (await problemCodesOf(made.key)).every((code) => code === undefined);
    await eventually("the key to be good", everywhere, { timeoutSeconds: 1 });
  });

  it("asks again for the keys of a location that changed", async () => {
    const { key, hash, facts } = accounts.addKey();
    const location = facts.location ?? expect.fail("the key has a location");
    await problemCodesOf(key);
    const before = accounts.lookups.filter((asked) => asked === hash).length;
    const { application, legacyId } = location;
    publish("location.updated", { locationId: location.id, application, legacyId, timeZone: "America/Cayenne" });
    await eventually("both to ask again", async () => {
      await problemCodesOf(key);
      return accounts.lookups.filter((asked) => asked === hash).length === before + 2;
    });
  });

  it("forgets every key when the bus was away, since it may have missed a change", async () => {
    const { key, hash, facts } = accounts.addKey();
    expect(await problemCodesOf(key)).toEqual([undefined, undefined]);
    await server.kill();
    accounts.keys.set(hash, { ...facts, revokedAt: new Date().toISOString() });
    expect(await problemCodesOf(key)).toEqual([undefined, undefined]);
    await server.start();
    const everywhere = async () => (await problemCodesOf(key)).every((code) => code === "key_revoked");
    await eventually("the key to be refused", everywhere);
    await gatewaysAreSubscribed();
  });

  it("goes on with the keys it knows while accounts is away", async () => {
    const { key } = accounts.addKey();
    const { key: unseen } = accounts.addKey();
    await problemCodesOf(key);
    accounts.beforeResponse = () => Promise.reject(new Error("accounts is away"));
    try {
      expect(await problemCodesOf(key)).toEqual([undefined, undefined]);
      const refused = await gateways[0]?.request("/v2/reports/", { key: unseen });
      expect([refused?.status, refused?.headers.get("retry-after")]).toEqual([503, "2"]);
    } finally {
      accounts.beforeResponse = async () => {};
    }
  });

  it("does not wait for an accounts that hangs", async () => {
    const { key } = accounts.addKey();
    accounts.beforeResponse = () => new Promise(() => {});
    const began = Date.now();
    const reply = await gateways[1]?.request("/v2/reports/", { key });
    accounts.beforeResponse = async () => {};
    expect(reply?.status).toBe(503);
    expect(Date.now() - began).toBeLessThan(3_000);
  });
});
