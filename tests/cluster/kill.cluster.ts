import { sleep } from "@pragma/runtime/sleep";
import { type PrivateServer, startPrivateServer } from "@pragma/runtime/testing/private-server";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTraffic, trafficScopes } from "../fleet/traffic.ts";
import { type Fleet, fleetRoles, startFleet } from "../harness/fleet.ts";
import { openShop } from "../harness/shop.ts";
import { expectConsistency } from "../round/expect-consistency.ts";
import { type NatsCluster, startNatsCluster } from "./nats-cluster.ts";

let nats: NatsCluster;
let postgres: PrivateServer;
let redis: PrivateServer;
let environment: TestEnvironment;
let fleet: Fleet;

beforeAll(async () => {
  [nats, postgres, redis] = await Promise.all([
    startNatsCluster(),
    startPrivateServer("postgres"),
    startPrivateServer("redis"),
  ]);
  environment = await createTestEnvironment({
    ...{ DATABASE_URL: postgres.url, NATS_URL: nats.url, REDIS_URL: redis.url, STREAM_REPLICAS: "3" },
    ...{ DATABASE_POOL: "3", RATE_LIMIT_PER_SECOND: "10000", RATE_LIMIT_BURST: "10000" },
    ...{ WEBHOOK_HOST_RATE: "10000", WEBHOOK_HOST_BURST: "10000" },
  });
  fleet = await startFleet(environment.variables);
}, 300_000);
afterAll(async () => {
  await fleet?.stop();
  await Promise.all([nats?.stop(), postgres?.stop(), redis?.stop()]);
}, 120_000);

const say = (line: string) => process.stderr.write(`${line}\n`);

describe("two instances of everything on three NATS servers", () => {
  it("lose nothing and do nothing twice while one of each is killed", async () => {
    const stream = `${environment.namespace}_events`;
    const shop = await openShop(fleet, { scopes: trafficScopes });
    const traffic = await startTraffic(shop, { clients: 8, pause: 40, isPatient: true });
    const { tally } = traffic;

    /** Does something, and tells how clients fared from then until so long after it. */
    async function under(what: string, work: () => Promise<void>): Promise<void> {
      const [answered, failures, since] = [tally.answered, tally.failures.length, performance.now()];
      await work();
      await sleep(2_000);
      const times = tally.times.slice(answered).sort((one, other) => one - other);
      const seconds = (performance.now() - since) / 1_000;
      const at = (share: number) => `${Math.round(times[Math.floor(share * (times.length - 1))] ?? 0)} ms`;
      const tried = `${tally.failures.length - failures} tried again`;
      say(
        `${what.padEnd(34)} ${seconds.toFixed(1).padStart(5)} s  ${String(times.length).padStart(5)} answered, ${tried}, ` +
          `half within ${at(0.5)}, 99 % within ${at(0.99)}, all within ${at(1)}`,
      );
    }

    await under("undisturbed", () => sleep(8_000));
    await under("NATS, the stream's leader, 8 s", async () => {
      await nats.killLeaderOf(stream);
      await sleep(8_000);
      await nats.mend(stream);
    });
    await under("Redis, 5 s", async () => {
      await redis.kill();
      await sleep(5_000);
      await redis.start();
    });
    for (const role of fleetRoles) {
      await under(`one ${role}`, async () => {
        const process = fleet.instances.get(role)?.[0];
        await process?.kill();
        await sleep(1_000);
        await process?.start();
      });
    }
    await traffic.stop();
    const { toldTwice } = await traffic.expectNothingLost();
    await expectConsistency({ ...environment });
    const { answered, failures } = tally;
    say(
      `${answered} requests answered, ${failures.length} times tried again; ${traffic.tills.length} tills, each with one exact report`,
    );
    say(`webhooks: every order told of, ${toldTwice} more than once, under the same id`);
    expect(answered).toBeGreaterThan(500);
    await traffic.close();
  }, 600_000);
});
