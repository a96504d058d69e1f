import { setTimeout as sleep } from "node:timers/promises";
import { type OwnTestServer, startOwnTestServer } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/** Maximum time for which a gateway caches a key if NATS sends no events, in seconds. Production uses 60. */
const keyLifetimeSeconds = Number(process.env.KEY_CACHE_TTL_SECONDS ?? 2);
/** Maximum time until all gateways reject a revoked key while NATS is running, in milliseconds. */
const maxRevocationDelayMs = 1_000;
const requestsPerSecond = 50;

let nats: OwnTestServer;
let environment: IsolatedTestEnvironment;
let gateways: PragmaUnderTest[];

beforeAll(async () => {
  nats = await startOwnTestServer("nats");
  environment = await createMigratedTestEnvironment({
    NATS_URL: nats.url,
    KEY_CACHE_TTL_SECONDS: String(keyLifetimeSeconds),
    RATE_LIMIT_BURST: "1000000",
    AUTH_FAILURES_BURST: "1000000",
  });
  const first = await startPragmaUnderTest(environment.variables);
  gateways = [first, await startPragmaUnderTest(environment.variables, { adminKey: first.adminKey })];
}, 300_000);
afterAll(async () => {
  for (const gateway of gateways ?? []) await gateway.stop();
  await environment?.remove();
  await nats?.stop();
});

/** A request with an API key, the times of the request and its response, the gateway index, and the status. */
interface KeyUse {
  sentAt: number;
  respondedAt: number;
  gateway: number;
  status: number;
}

/** Sends requests with a key at a fixed rate to alternating gateways, until `stop`, which returns all uses. */
function sendAtFixedRate(key: string): { stop(): Promise<KeyUse[]> } {
  const started = performance.now();
  const sending: Promise<KeyUse>[] = [];
  const timer = setInterval(() => {
    const due = ((performance.now() - started) / 1000) * requestsPerSecond;
    // Timers can fire late, so each time the timer fires, all requests that are due are sent.
    while (sending.length < due) sending.push(sendRequest(key, sending.length % gateways.length));
  }, 5);
  return {
    stop() {
      clearInterval(timer);
      return Promise.all(sending);
    },
  };
}

async function sendRequest(key: string, gateway: number): Promise<KeyUse> {
  const sentAt = performance.now();
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${gateways[gateway]?.url}/v1/locations/own`, { headers });
  await response.arrayBuffer();
  return { sentAt, respondedAt: performance.now(), gateway, status: response.status };
}

async function createLocationWithKey(): Promise<TestLocation> {
  const [gateway = expect.unreachable("there is a gateway")] = gateways;
  return createTestLocation(gateway, { scopes: ["locations:read", "keys:write"] });
}

/** Revokes the API key of a location that has only one key. */
async function revokeKeysOf(testLocation: TestLocation): Promise<void> {
  const { data } = await testLocation.getJson<{ data: { id: string }[] }>("/v1/auth/keys");
  expect((await testLocation.request("DELETE", `/v1/auth/keys/${data[0]?.id}`)).status).toBe(204);
}

/** Revokes a key while it is used, and checks that all requests are rejected after this delay in milliseconds. */
async function expectRejectedAfter(testLocation: TestLocation, milliseconds: number): Promise<void> {
  const use = sendAtFixedRate(testLocation.key);
  await sleep(1_000);
  const revocationStartedAt = performance.now();
  await revokeKeysOf(testLocation);
  const revokedAt = performance.now();
  await sleep(milliseconds + 1_000);
  const sent = await use.stop();
  const before = sent.filter(({ respondedAt }) => respondedAt < revocationStartedAt);
  const late = sent.filter(({ sentAt }) => sentAt >= revokedAt + milliseconds);
  expect(new Set(before.map(({ gateway, status }) => `${gateway}: ${status}`))).toEqual(new Set(["0: 200", "1: 200"]));
  expect(new Set(late.map(({ gateway, status }) => `${gateway}: ${status}`))).toEqual(new Set(["0: 401", "1: 401"]));
}

describe("an API key that is revoked while it is used 50 times a second at two gateways", () => {
  it("is rejected by both gateways after one second", async () => {
    await expectRejectedAfter(await createLocationWithKey(), maxRevocationDelayMs);
  });

  it.each([
    ["is down", () => nats.kill(), () => nats.start()],
    ["does not respond", async () => nats.suspend(), async () => nats.resume()],
  ])(
    "is rejected by both gateways after its cache lifetime while NATS %s",
    async (_, interruptNats, restoreNats) => {
      const testLocation = await createLocationWithKey();
      try {
        await interruptNats();
        await expectRejectedAfter(testLocation, keyLifetimeSeconds * 1_000);
      } finally {
        await restoreNats();
      }
      // The next test needs fast revocations, so this test waits until the gateways are connected to NATS again.
      await eventually("the gateways to receive events again", async () => {
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
