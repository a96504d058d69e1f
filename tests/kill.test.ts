import { randomInt, randomUUID } from "node:crypto";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { serviceNames } from "@pragma/contracts/service-names";
import { type OwnTestServers, startOwnTestServers } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectDatabaseConsistency } from "./fault-injection/expect-consistency.ts";
import { type FaultInjectionRunOptions, runFaultInjectionRound } from "./fault-injection/run-with-faults.ts";
import { computeExpectedDocuments, roundTripThroughJson } from "./harness/expected-report.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation } from "./harness/test-location.ts";

/**
 * Number of long runs. If it is 0, one short run is executed. `SOAK_SEED` is the seed of the first run, and each
 * further run increases it by 1. The following command repeats a failure:
 * `SOAK_SEED=<seed> SOAK_ROUNDS=1 npm run test:soak -- tests/kill.test.ts`.
 */
const longRunCount = Number(process.env.SOAK_ROUNDS ?? 0);
const firstSeed = Number(process.env.SOAK_SEED ?? randomInt(1_000_000_000));
const seeds = Array.from({ length: Math.max(1, longRunCount) }, (_, index) => firstSeed + index);
const faultInjectionRun: Omit<FaultInjectionRunOptions, "seed" | "log"> =
  longRunCount > 0
    ? { tills: 60, clients: 8, readers: 3, services: serviceNames, outageMs: 5_000 }
    : { tills: 24, clients: 8, readers: 2, services: ["accounts", "till-ingest", "reporting"], outageMs: 1_000 };

let servers: OwnTestServers;
let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;

beforeAll(async () => {
  servers = await startOwnTestServers();
  environment = await createIsolatedTestEnvironment({
    ...{ DATABASE_URL: servers.postgres.url, NATS_URL: servers.nats.url, REDIS_URL: servers.redis.url },
    ...{ RATE_LIMIT_PER_SECOND: "10000", RATE_LIMIT_BURST: "10000" },
    // By default, only fatal errors are logged, because other messages would hide the cause of a crash.
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? "fatal",
  });
  product = await startPragmaUnderTest(environment.variables, { split: faultInjectionRun.services });
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await servers?.stop();
});

describe("while processes are killed and servers go away", () => {
  it.each(seeds)(
    "every till has exactly one correct report, and readers see consistent lists (seed %i)",
    async (seed) => {
      const messages: string[] = [];
      const log = (logLine: string) => {
        messages.push(logLine);
        if (longRunCount > 0) process.stderr.write(`${logLine}\n`);
      };
      const testLocation = await createTestLocation(product);
      try {
        await runFaultInjectionRound(
          { product, servers, environment, testLocation },
          { ...faultInjectionRun, seed: String(seed), log },
        );
      } catch (cause) {
        throw new Error(`The run of SOAK_SEED=${seed} failed. Its log:\n${messages.join("\n")}`, { cause });
      }
    },
    300_000,
  );
});

describe("an accepted till that cannot be processed", () => {
  it("becomes a dead letter with a reason, does not block other tills, and is processed after a retry", async () => {
    const testLocation = await createTestLocation(product);
    const [failingTill, nextTill] = [createTill(), createTill()];
    const expectReportOf = async (till: object) => {
      const expected = computeExpectedDocuments("V2", till, testLocation.locationId);
      const report = await eventually("the report", async () => {
        const response = await testLocation.request("GET", `/v2/reports/${expected?.id}`);
        return response.status === 200 && response.json();
      });
      expect(report).toEqual(roundTripThroughJson(expected?.reportV2));
    };
    await product.process("reporting").kill();
    const objectsBefore = new Set(await listTillBodies());
    expect((await testLocation.request("POST", "/v2/tills/", { body: failingTill })).status).toBe(201);
    const body =
      (await listTillBodies()).find((path) => !objectsBefore.has(path)) ??
      expect.unreachable("the body is in the object store");
    await rename(body, `${body}.moved`);
    expect((await testLocation.request("POST", "/v2/tills/", { body: nextTill })).status).toBe(201);
    await product.process("reporting").start();

    await expectReportOf(nextTill);
    const { opsUrl } = product.process("reporting");
    const deadLetter = await eventually("the dead letter", async () => {
      const messages = (await (await fetch(`${opsUrl}/dead-letters`)).json()) as {
        eventId: string;
        reason: string;
        body: string;
      }[];
      return messages.find((message) => message.body.includes(failingTill.id));
    });
    expect(deadLetter.reason).toMatch(/ObjectNotFound/);
    const expectReportState = (reportState: string, reportParkedReason: string | null) =>
      eventually(`the report state ${reportState}`, async () => {
        const till = (await (await testLocation.request("GET", `/v1/tills/${failingTill.id}`)).json()) as object;
        return isDeepStrictEqual({ ...till, reportState, reportParkedReason }, till);
      });
    await expectReportState("parked", "body_missing");

    await rename(`${body}.moved`, body);
    const retried = await fetch(`${opsUrl}/dead-letters/${deadLetter.eventId}/retry`, { method: "POST" });
    expect(await retried.json()).toEqual([{ subscription: "till.pushed", done: true }]);
    await expectReportOf(failingTill);
    await expectReportState("done", null);
    await expectDatabaseConsistency(environment, faultInjectionRun.services);
  }, 120_000);
});

const createTill = () => generateTill({ seed: 4, tillId: randomUUID(), orders: 12, day: "2026-04-01" });

/** Returns the paths of all files in the object store, each of which is the body of a till. */
async function listTillBodies(): Promise<string[]> {
  const folder = (environment.variables.OBJECT_STORE ?? "").replace("file:", "");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
