import { randomInt, randomUUID } from "node:crypto";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { serviceNames } from "@pragma/contracts/service-names";
import { type DedicatedServers, startDedicatedServers } from "@pragma/runtime/testing/dedicated-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectDatabaseConsistency } from "./fault-injection/expect-consistency.ts";
import { type FaultInjectionRun, runWithFaults } from "./fault-injection/run-with-faults.ts";
import { computeExpectedReport, toJsonValue } from "./harness/expected-report.ts";
import { type ProductUnderTest, startProductUnderTest } from "./harness/product-under-test.ts";
import { createTestLocation } from "./harness/test-location.ts";

/**
 * One short round unless SOAK_ROUNDS says how many long ones. The first has the seed SOAK_SEED, the next the number after
 * it: `SOAK_SEED=<seed of a failure> SOAK_ROUNDS=1 npm run test:soak -- tests/kill.test.ts` repeats one.
 */
const longRounds = Number(process.env.SOAK_ROUNDS ?? 0);
const firstSeed = Number(process.env.SOAK_SEED ?? randomInt(1_000_000_000));
const seeds = Array.from({ length: Math.max(1, longRounds) }, (_, index) => firstSeed + index);
const faultInjectionRun: Omit<FaultInjectionRun, "seed" | "tell"> =
  longRounds > 0
    ? { tills: 60, clients: 8, readers: 3, services: serviceNames, outage: 5_000 }
    : { tills: 24, clients: 8, readers: 2, services: ["accounts", "till-ingest", "reporting"], outage: 1_000 };

let servers: DedicatedServers;
let environment: TestEnvironment;
let product: ProductUnderTest;

beforeAll(async () => {
  servers = await startDedicatedServers();
  environment = await createTestEnvironment({
    ...{ DATABASE_URL: servers.postgres.url, NATS_URL: servers.nats.url, REDIS_URL: servers.redis.url },
    ...{ RATE_LIMIT_PER_SECOND: "10000", RATE_LIMIT_BURST: "10000" },
    // So that a process that ends by itself is heard to say why.
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? "fatal",
  });
  product = await startProductUnderTest(environment.variables, { split: faultInjectionRun.services });
}, 120_000);
afterAll(async () => {
  await product?.stop();
  await servers?.stop();
});

describe("while processes are killed and servers go away", () => {
  it.each(seeds)(
    "every till has exactly one report, with exact figures, and readers see nothing odd (seed %i)",
    async (seed) => {
      const story: string[] = [];
      const tell = (what: string) => {
        story.push(what);
        if (longRounds > 0) process.stderr.write(`${what}\n`);
      };
      const shop = await createTestLocation(product);
      try {
        await runWithFaults(
          { product, servers, environment, shop },
          { ...faultInjectionRun, seed: String(seed), tell },
        );
      } catch (cause) {
        throw new Error(`The round of SOAK_SEED=${seed} failed. What happened:\n${story.join("\n")}`, { cause });
      }
    },
    300_000,
  );
});

describe("a till that was accepted and cannot be processed", () => {
  it("is parked with its reason, holds up nobody, and is processed when it is tried again", async () => {
    const shop = await createTestLocation(product);
    const [bad, good] = [createTill(), createTill()];
    const expectReportOf = async (till: object) => {
      const expected = computeExpectedReport("V2", till, shop.locationId);
      const report = await eventually("the report", async () => {
        const answer = await shop.request("GET", `/v2/reports/${expected?.id}`);
        return answer.status === 200 && answer.json();
      });
      expect(report).toEqual(toJsonValue(expected?.reportV2));
    };
    await product.process("reporting").kill();
    const objectsBefore = new Set(await listTillBodies());
    expect((await shop.request("POST", "/v2/tills/", { body: bad })).status).toBe(201);
    const body =
      (await listTillBodies()).find((path) => !objectsBefore.has(path)) ??
      expect.unreachable("the body is in the store");
    await rename(body, `${body}.away`);
    expect((await shop.request("POST", "/v2/tills/", { body: good })).status).toBe(201);
    await product.process("reporting").start();

    await expectReportOf(good);
    const { opsUrl } = product.process("reporting");
    const parked = await eventually("the message to be parked", async () => {
      const messages = (await (await fetch(`${opsUrl}/parked`)).json()) as {
        eventId: string;
        reason: string;
        body: string;
      }[];
      return messages.find((message) => message.body.includes(bad.id));
    });
    expect(parked.reason).toMatch(/ObjectNotFound/);

    await rename(`${body}.away`, body);
    const retried = await fetch(`${opsUrl}/parked/${parked.eventId}/retry`, { method: "POST" });
    expect(await retried.json()).toEqual([{ subscription: "till.pushed", done: true }]);
    await expectReportOf(bad);
    await expectDatabaseConsistency(environment, faultInjectionRun.services);
  }, 120_000);
});

const createTill = () => generateTill({ seed: 4, tillId: randomUUID(), orders: 12, day: "2026-04-01" });

/** Every file of the object store. */
async function listTillBodies(): Promise<string[]> {
  const folder = (environment.variables.OBJECT_STORE ?? "").replace("file:", "");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
