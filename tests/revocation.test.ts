import { setTimeout as sleep } from "node:timers/promises";
import { type DedicatedServer, startDedicatedServer } from "@pragma/runtime/testing/dedicated-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProductUnderTest, startProductUnderTest } from "./harness/product-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/** Seconds that a key lives in a gateway that hears of nothing: 60 unless the operator says less. */
const keyLifetimeSeconds = Number(process.env.KEY_LIFETIME ?? 2);
/** Milliseconds after which a revocation is known everywhere, while the bus is up. */
const maxRevocationDelayMs = 1_000;
const requestsPerSecond = 50;

let nats: DedicatedServer;
let environment: TestEnvironment;
let gateways: ProductUnderTest[];

beforeAll(async () => {
  nats = await startDedicatedServer("nats");
  environment = await createTestEnvironment({
    NATS_URL: nats.url,
    KEY_LIFETIME: String(keyLifetimeSeconds),
    RATE_LIMIT_BURST: "1000000",
    AUTH_FAILURES_BURST: "1000000",
  });
  const first = await startProductUnderTest(environment.variables);
  gateways = [first, await startProductUnderTest(environment.variables, { adminKey: first.adminKey })];
}, 120_000);
afterAll(async () => {
  for (const gateway of gateways ?? []) await gateway.stop();
  await environment?.remove();
  await nats?.stop();
});

/** One request's fate: when it was sent, by whom it was answered, when, and how. */
interface Sent {
  sentAt: number;
  answeredAt: number;
  gateway: number;
  status: number;
}

/** Uses a key at a steady rate, at all gateways in turn, until it is told to stop; then gives what became of it all. */
function sendAtFixedRate(key: string): { stop(): Promise<Sent[]> } {
  const started = performance.now();
  const sending: Promise<Sent>[] = [];
  const timer = setInterval(() => {
    const due = ((performance.now() - started) / 1000) * requestsPerSecond;
    // A machine that is late sends what it owes at once.
    while (sending.length < due) sending.push(sendRequest(key, sending.length % gateways.length));
  }, 5);
  return {
    stop() {
      clearInterval(timer);
      return Promise.all(sending);
    },
  };
}

async function sendRequest(key: string, gateway: number): Promise<Sent> {
  const sentAt = performance.now();
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${gateways[gateway]?.url}/v1/locations/own`, { headers });
  await response.arrayBuffer();
  return { sentAt, answeredAt: performance.now(), gateway, status: response.status };
}

async function createLocationWithKey(): Promise<TestLocation> {
  const [gateway = expect.unreachable("there are gateways")] = gateways;
  return createTestLocation(gateway, { scopes: ["locations:read", "keys:write"] });
}

/** Revokes the shop's only key with itself. */
async function revokeKeysOf(shop: TestLocation): Promise<void> {
  const { data } = await shop.getJson<{ data: { id: string }[] }>("/v1/auth/keys");
  expect((await shop.request("DELETE", `/v1/auth/keys/${data[0]?.id}`)).status).toBe(204);
}

/** Uses a key, revokes it, and sees that nothing succeeds that is sent this many milliseconds later. */
async function expectRefusedAfter(shop: TestLocation, milliseconds: number): Promise<void> {
  const use = sendAtFixedRate(shop.key);
  await sleep(1_000);
  const askedAt = performance.now();
  await revokeKeysOf(shop);
  const revokedAt = performance.now();
  await sleep(milliseconds + 1_000);
  const sent = await use.stop();
  const before = sent.filter(({ answeredAt }) => answeredAt < askedAt);
  const late = sent.filter(({ sentAt }) => sentAt >= revokedAt + milliseconds);
  expect(new Set(before.map(({ gateway, status }) => `${gateway}: ${status}`))).toEqual(new Set(["0: 200", "1: 200"]));
  expect(new Set(late.map(({ gateway, status }) => `${gateway}: ${status}`))).toEqual(new Set(["0: 401", "1: 401"]));
}

describe("a key that is revoked while it is used 50 times a second at two gateways", () => {
  it("is refused by both a second later", async () => {
    await expectRefusedAfter(await createLocationWithKey(), maxRevocationDelayMs);
  });

  it.each([
    ["is away", () => nats.kill(), () => nats.start()],
    ["answers nobody", async () => nats.suspend(), async () => nats.resume()],
  ])(
    "is refused by both when its lifetime is over, while the bus %s",
    async (_, goAway, comeBack) => {
      const shop = await createLocationWithKey();
      try {
        await goAway();
        await expectRefusedAfter(shop, keyLifetimeSeconds * 1_000);
      } finally {
        await comeBack();
      }
      // Until this is over, changes are heard of late.
      await eventually("the gateways to hear of changes again", async () => {
        const other = await createLocationWithKey();
        await Promise.all([sendRequest(other.key, 0), sendRequest(other.key, 1)]);
        await revokeKeysOf(other);
        await sleep(maxRevocationDelayMs);
        const sent = await Promise.all([sendRequest(other.key, 0), sendRequest(other.key, 1)]);
        return sent.every(({ status }) => status === 401);
      });
    },
    (keyLifetimeSeconds + 60) * 1_000,
  );
});
