import { sleep } from "@pragma/runtime/concurrency/sleep";
import { type OwnTestServer, startOwnTestServer } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectDatabaseConsistency } from "../fault-injection/expect-consistency.ts";
import { serviceAndGatewayNames } from "../harness/pragma-process.ts";
import { type ReplicatedPragmaUnderTest, startReplicatedPragmaUnderTest } from "../harness/replicated-pragma.ts";
import { createTestLocation } from "../harness/test-location.ts";
import { startTestTrafficClients, testTrafficApiKeyScopes } from "../traffic/client-traffic.ts";
import { startTestNatsCluster, type TestNatsCluster } from "./nats-cluster.ts";

let nats: TestNatsCluster;
let postgres: OwnTestServer;
let redis: OwnTestServer;
let environment: IsolatedTestEnvironment;
let replicatedProduct: ReplicatedPragmaUnderTest;

beforeAll(async () => {
  [nats, postgres, redis] = await Promise.all([
    startTestNatsCluster(),
    startOwnTestServer("postgres"),
    startOwnTestServer("redis"),
  ]);
  environment = await createIsolatedTestEnvironment({
    ...{ DATABASE_URL: postgres.url, NATS_URL: nats.url, REDIS_URL: redis.url, EVENT_STREAM_REPLICAS: "3" },
    ...{ DATABASE_POOL: "3", RATE_LIMIT_PER_SECOND: "10000", RATE_LIMIT_BURST: "10000" },
    ...{ WEBHOOK_HOST_RATE_PER_SECOND: "10000", WEBHOOK_HOST_BURST: "10000" },
  });
  replicatedProduct = await startReplicatedPragmaUnderTest(environment.variables);
}, 300_000);
afterAll(async () => {
  await replicatedProduct?.stop();
  await Promise.all([nats?.stop(), postgres?.stop(), redis?.stop()]);
}, 120_000);

const writeLine = (line: string) => process.stderr.write(`${line}\n`);

describe("two instances of everything on three NATS servers", () => {
  it("lose nothing and repeat nothing while one instance of each is killed", async () => {
    const stream = `${environment.namespace}_events`;
    const testLocation = await createTestLocation(replicatedProduct, { scopes: testTrafficApiKeyScopes });
    const traffic = await startTestTrafficClients(testLocation, { clients: 8, maxPauseMs: 40, shouldRetry: true });
    const { results } = traffic;

    /** Runs `work`. Logs the response times of the clients from the start of `work` until two seconds after its end. */
    async function measureDuring(label: string, work: () => Promise<void>): Promise<void> {
      const [responsesBefore, failuresBefore, since] = [
        results.responseCount,
        results.failures.length,
        performance.now(),
      ];
      await work();
      await sleep(2_000);
      const times = results.responseTimesMs.slice(responsesBefore).sort((one, other) => one - other);
      const seconds = (performance.now() - since) / 1_000;
      const at = (share: number) => `${Math.round(times[Math.floor(share * (times.length - 1))] ?? 0)} ms`;
      const retried = `${results.failures.length - failuresBefore} retried`;
      writeLine(
        `${label.padEnd(34)} ${seconds.toFixed(1).padStart(5)} s  ${String(times.length).padStart(5)} responses, ${retried}, ` +
          `half within ${at(0.5)}, 99 % within ${at(0.99)}, all within ${at(1)}`,
      );
    }

    await measureDuring("no faults", () => sleep(8_000));
    await measureDuring("NATS, the stream's leader, 8 s", async () => {
      await nats.killStreamLeader(stream);
      await sleep(8_000);
      await nats.restartKilledServer(stream);
    });
    await measureDuring("Redis, 5 s", async () => {
      await redis.kill();
      await sleep(5_000);
      await redis.start();
    });
    for (const role of serviceAndGatewayNames) {
      await measureDuring(`one ${role}`, async () => {
        const process = replicatedProduct.instances.get(role)?.[0];
        await process?.kill();
        await sleep(1_000);
        await process?.start();
      });
    }
    await traffic.stop();
    const { duplicateCount } = await traffic.expectNothingLost();
    await expectDatabaseConsistency({ ...environment });
    const { responseCount, failures } = results;
    writeLine(
      `${responseCount} responses, ${failures.length} retries; ${traffic.tills.length} tills, each with one exact report`,
    );
    writeLine(`webhooks: every order delivered, ${duplicateCount} more than once, under the same id`);
    expect(responseCount).toBeGreaterThan(500);
    await traffic.close();
  }, 600_000);
});
