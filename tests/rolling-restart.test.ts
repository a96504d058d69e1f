import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTraffic, trafficScopes } from "./fleet/traffic.ts";
import { type Fleet, fleetRoles, startFleet } from "./harness/fleet.ts";
import { openShop, type Shop } from "./harness/shop.ts";
import { expectConsistency } from "./round/expect-consistency.ts";

let environment: TestEnvironment;
let fleet: Fleet;
let shop: Shop;

beforeAll(async () => {
  environment = await createTestEnvironment({
    // A busy balancer takes a while to notice that an instance is to stop, and each connection to be used once more.
    SHUTDOWN_DELAY_SECONDS: "3",
    DATABASE_POOL: "3",
    RATE_LIMIT_PER_SECOND: "10000",
    RATE_LIMIT_BURST: "10000",
    WEBHOOK_HOST_RATE: "10000",
    WEBHOOK_HOST_BURST: "10000",
  });
  fleet = await startFleet(environment.variables);
  shop = await openShop(fleet, { scopes: trafficScopes });
}, 180_000);
afterAll(async () => {
  await fleet?.stop();
  await environment?.remove();
}, 60_000);

describe("an upgrade, one instance of every part after the other", () => {
  it("fails no request, loses nothing, and tells nothing twice", async () => {
    const traffic = await startTraffic(shop, { clients: 6, pause: 200, isPatient: false });
    for (const instance of [0, 1]) await Promise.all(fleetRoles.map((role) => fleet.restart(role, instance)));
    await traffic.stop();
    expect(traffic.tally.failures).toEqual([]);
    expect(traffic.tally.answered).toBeGreaterThan(100);
    expect(await traffic.expectNothingLost()).toEqual({ toldTwice: 0 });
    await traffic.close();
    await expectConsistency(environment);
  }, 240_000);
});
