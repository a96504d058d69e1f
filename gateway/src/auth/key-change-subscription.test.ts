import { randomUUID } from "node:crypto";
import type { BusEventData } from "@pragma/contracts/events";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { createEventBus, type EventBus } from "@pragma/runtime/messaging/event-bus";
import type { EventBusConnection } from "@pragma/runtime/messaging/nats-connection";
import { createLogger } from "@pragma/runtime/observability/logger";
import { type OwnTestServer, startOwnTestServer } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeApiKeyLookupService, startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let environment: IsolatedTestEnvironment;
let server: OwnTestServer;
let bus: EventBus;
let publisher: EventBusConnection["nats"];
const accounts = new FakeApiKeyLookupService();
let gateways: TestGateway[];

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  server = await startOwnTestServer("nats");
  bus = createEventBus(
    { NATS_URL: server.url, NAMESPACE: environment.namespace, EVENT_STREAM_REPLICAS: 1 },
    { name: "test", log: createLogger({ name: "test", level: "silent" }) },
  );
  publisher = (await bus.connected).nats;
  const options = {
    accounts,
    inProcessServices: { reporting: async () => Response.json({ ok: true }) },
    variables: { NATS_URL: server.url },
  };
  gateways = await Promise.all([startTestGateway(environment, options), startTestGateway(environment, options)]);
  await waitForSubscriptions();
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await bus.close();
  await server.stop();
  await environment.remove();
});

/**
 * Waits until every gateway receives key changes. Publishes changes of an otherwise unused key until each gateway looks
 * up the key again. A gateway does this only after it has received a change, because it caches the key.
 */
async function waitForSubscriptions(): Promise<void> {
  const probe = accounts.addKey();
  for (const gateway of gateways) {
    await eventually("the gateway to receive key changes", async () => {
      await gateway.request("/v2/reports/", { key: probe.key });
      const lookupsBefore = accounts.lookups.length;
      publish("key.changed", { locationId: null, keyId: probe.resolvedKey.keyId, keyHash: probe.hash, revoked: false });
      await publisher.flush();
      await sleep(50);
      await gateway.request("/v2/reports/", { key: probe.key });
      return accounts.lookups.length > lookupsBefore;
    });
  }
}

function publish<Type extends "key.changed" | "location.updated">(type: Type, data: BusEventData<Type>): void {
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
  const responses = await Promise.all(gateways.map((gateway) => gateway.request("/v2/reports/", { key })));
  return Promise.all(responses.map(async (response) => ((await response.json()) as { code?: string }).code));
}

describe("every gateway", () => {
  it("rejects a key within a second of its revocation", async () => {
    const { key, hash, resolvedKey } = accounts.addKey();
    expect(await problemCodesOf(key)).toEqual([undefined, undefined]);
    accounts.keys.set(hash, { ...resolvedKey, revokedAt: new Date().toISOString() });
    expect(await problemCodesOf(key)).toEqual([undefined, undefined]);
    publish("key.changed", { locationId: null, keyId: resolvedKey.keyId, keyHash: hash, revoked: true });
    const hasChangedEverywhere = async () => (await problemCodesOf(key)).every((code) => code === "key_revoked");
    await eventually("the key to be rejected", hasChangedEverywhere, { timeoutSeconds: 1 });
  });

  it("accepts a new key at once, even if it was used before it was created", async () => {
    const created = new FakeApiKeyLookupService().addKey();
    expect(await problemCodesOf(created.key)).toEqual(["key_invalid", "key_invalid"]);
    accounts.addKey(created.resolvedKey, created.key);
    publish("key.changed", {
      locationId: null,
      keyId: created.resolvedKey.keyId,
      keyHash: created.hash,
      revoked: false,
    });
    const hasChangedEverywhere = async () => (await problemCodesOf(created.key)).every((code) => code === undefined);
    await eventually("the key to be accepted", hasChangedEverywhere, { timeoutSeconds: 1 });
  });

  it("looks up the keys of a changed location again", async () => {
    const { key, hash, resolvedKey } = accounts.addKey();
    const location = resolvedKey.location ?? expect.fail("the key has a location");
    await problemCodesOf(key);
    const countLookups = () => accounts.lookups.filter((lookup) => lookup === hash).length;
    const lookupsBefore = countLookups();
    const { application, legacyId } = location;
    publish("location.updated", { locationId: location.id, application, legacyId, timeZone: "America/Cayenne" });
    await eventually("both to look the key up again", async () => {
      await problemCodesOf(key);
      return countLookups() === lookupsBefore + 2;
    });
  });

  it("clears the key cache after an outage of NATS, because it may have missed a change", async () => {
    const { key, hash, resolvedKey } = accounts.addKey();
    expect(await problemCodesOf(key)).toEqual([undefined, undefined]);
    await server.kill();
    accounts.keys.set(hash, { ...resolvedKey, revokedAt: new Date().toISOString() });
    expect(await problemCodesOf(key)).toEqual([undefined, undefined]);
    await server.start();
    const hasChangedEverywhere = async () => (await problemCodesOf(key)).every((code) => code === "key_revoked");
    await eventually("the key to be rejected", hasChangedEverywhere);
    await waitForSubscriptions();
  });

  it("keeps accepting cached keys while accounts is unreachable", async () => {
    const { key } = accounts.addKey();
    const { key: uncachedKey } = accounts.addKey();
    await problemCodesOf(key);
    accounts.beforeResponse = () => Promise.reject(new Error("accounts is unreachable"));
    try {
      expect(await problemCodesOf(key)).toEqual([undefined, undefined]);
      const rejected = await gateways[0]?.request("/v2/reports/", { key: uncachedKey });
      expect([rejected?.status, rejected?.headers.get("retry-after")]).toEqual([503, "2"]);
    } finally {
      accounts.beforeResponse = async () => {};
    }
  });

  it("returns 503 within three seconds when accounts hangs", async () => {
    const { key } = accounts.addKey();
    accounts.beforeResponse = () => new Promise(() => {});
    const startedAt = Date.now();
    const response = await gateways[1]?.request("/v2/reports/", { key });
    accounts.beforeResponse = async () => {};
    expect(response?.status).toBe(503);
    expect(Date.now() - startedAt).toBeLessThan(3_000);
  });
});
