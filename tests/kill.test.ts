import { randomInt, randomUUID } from "node:crypto";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { serviceNames } from "@pragma/contracts/service-names";
import { eventually } from "@pragma/runtime/testing/eventually";
import { type PrivateServers, startPrivateServers } from "@pragma/runtime/testing/private-servers";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asRead, expectedReport } from "./harness/expected-report.ts";
import { type Product, startProduct } from "./harness/product.ts";
import { openShop } from "./harness/shop.ts";
import { expectConsistency } from "./round/expect-consistency.ts";
import { type Round, runRound } from "./round/run-round.ts";

/**
 * One short round unless SOAK_ROUNDS says how many long ones. The first has the seed SOAK_SEED, the next the number after
 * it: `SOAK_SEED=<seed of a failure> SOAK_ROUNDS=1 npm run test:soak -- tests/kill.test.ts` repeats one.
 */
const longRounds = Number(process.env.SOAK_ROUNDS ?? 0);
const firstSeed = Number(process.env.SOAK_SEED ?? randomInt(1_000_000_000));
const seeds = Array.from({ length: Math.max(1, longRounds) }, (_, index) => firstSeed + index);
const extent: Omit<Round, "seed" | "tell"> =
  longRounds > 0
    ? { tills: 60, clients: 8, readers: 3, services: serviceNames, outage: 5_000 }
    : { tills: 24, clients: 8, readers: 2, services: ["accounts", "till-ingest", "reporting"], outage: 1_000 };

let servers: PrivateServers;
let environment: TestEnvironment;
let product: Product;

beforeAll(async () => {
  servers = await startPrivateServers();
  environment = await createTestEnvironment({
    ...{ DATABASE_URL: servers.postgres.url, NATS_URL: servers.nats.url, REDIS_URL: servers.redis.url },
    ...{ RATE_LIMIT_PER_SECOND: "10000", RATE_LIMIT_BURST: "10000" },
    // So that a process that ends by itself is heard to say why.
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? "fatal",
  });
  product = await startProduct(environment.variables, { split: extent.services });
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
      const shop = await openShop(product);
      try {
        await runRound({ product, servers, environment, shop }, { ...extent, seed: String(seed), tell });
      } catch (cause) {
        throw new Error(`The round of SOAK_SEED=${seed} failed. What happened:\n${story.join("\n")}`, { cause });
      }
    },
    300_000,
  );
});

describe("a till that was accepted and cannot be processed", () => {
  it("is parked with its reason, holds up nobody, and is processed when it is tried again", async () => {
    const shop = await openShop(product);
    const [bad, good] = [newTill(), newTill()];
    const expectReportOf = async (till: object) => {
      const expected = expectedReport("V2", till, shop.locationId);
      const report = await eventually("the report", async () => {
        const answer = await shop.ask("GET", `/v2/reports/${expected?.id}`);
        return answer.status === 200 && answer.json();
      });
      expect(report).toEqual(asRead(expected?.reportV2));
    };
    await product.process("reporting").kill();
    const objectsBefore = new Set(await bodies());
    expect((await shop.ask("POST", "/v2/tills/", { body: bad })).status).toBe(201);
    const body =
      (await bodies()).find((path) => !objectsBefore.has(path)) ?? expect.unreachable("the body is in the store");
    await rename(body, `${body}.away`);
    expect((await shop.ask("POST", "/v2/tills/", { body: good })).status).toBe(201);
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
    await expectConsistency(environment, extent.services);
  }, 120_000);
});

const newTill = () => generateTill({ seed: 4, tillId: randomUUID(), orders: 12, day: "2026-04-01" });

/** Every file of the object store. */
async function bodies(): Promise<string[]> {
  const folder = (environment.variables.OBJECT_STORE ?? "").replace("file:", "");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
