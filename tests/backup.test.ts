import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findPackageFolder } from "@pragma/runtime/process/package-folder";
import { type DedicatedServers, startDedicatedServers } from "@pragma/runtime/testing/dedicated-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { respondWithStatus, startWebhookReceiver } from "@pragma/webhooks/testing/webhook-receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectDatabaseConsistency } from "./fault-injection/expect-consistency.ts";
import { computeExpectedReport, toJsonValue } from "./harness/expected-report.ts";
import { type ProductUnderTest, startProductUnderTest } from "./harness/product-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const backupProgram = join(
  findPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "dist",
  "commands",
  "backup.js",
);

let folder: string;
let servers: DedicatedServers[] = [];
let environment: TestEnvironment;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pragma-backup-"));
  servers = [await startDedicatedServers(), await startDedicatedServers()];
  environment = await createTestEnvironment();
}, 120_000);
afterAll(async () => {
  await Promise.all(servers.map((each) => each.stop()));
  await rm(folder, { recursive: true, force: true });
});

/** What a process needs on one of the two places that the product lives in, before and after. */
function variablesFor(place: number): Record<string, string> {
  const { postgres, nats, redis } = servers[place] ?? expect.unreachable();
  const urls = { DATABASE_URL: postgres.url, NATS_URL: nats.url, REDIS_URL: redis.url };
  return { ...environment.variables, ...urls, OBJECT_STORE: `file:${folder}/place-${place}` };
}

const runBackupCommand = (verb: "backup" | "restore", place: number) =>
  promisify(execFile)(process.execPath, [backupProgram, verb, join(folder, "backup")], {
    env: { PATH: process.env.PATH, ...variablesFor(place) },
  });

const newTill = () => generateTill({ seed: 4, tillId: randomUUID(), orders: 8, day: "2026-04-01" });

async function expectReportOf(shop: TestLocation, till: object): Promise<void> {
  const expected = computeExpectedReport("V2", till, shop.locationId);
  const report = await eventually("the report", async () => {
    const answer = await shop.request("GET", `/v2/reports/${expected?.id}`);
    return answer.status === 200 && answer.json();
  });
  expect(report).toEqual(toJsonValue(expected?.reportV2));
}

/** The same shop, asked where the product lives now. */
function copyOfTestLocation(product: ProductUnderTest, shop: TestLocation): TestLocation {
  const moved: TestLocation = {
    ...shop,
    request: (method, path, { body, headers } = {}) =>
      fetch(`${product.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${shop.key}`, "content-type": "application/json", ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    async getJson<T>(path: string) {
      const answer = await moved.request("GET", path);
      expect(answer.status).toBe(200);
      return (await answer.json()) as T;
    },
  };
  return moved;
}

describe("a backup", () => {
  it("brings everything back when PostgreSQL, the objects, NATS and Redis are all lost", async () => {
    const receiver = await startWebhookReceiver();
    const endpoint = receiver.addEndpoint(respondWithStatus(503));
    const before = await startProductUnderTest(variablesFor(0));
    const shop = await createTestLocation(before, {
      scopes: ["tills:write", "tills:read", "reports:read", "orders:read", "webhooks:write"],
    });
    const { data: recipient } = await shop.api.POST("/v1/recipients", { body: { name: "Restored" } });
    await shop.api.POST("/v1/webhooks", {
      body: { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["report.finalized"] },
    });
    const [done, unsent] = [newTill(), newTill()];
    await shop.request("POST", "/v2/tills/", { body: done });
    await expectReportOf(shop, done);
    await eventually("an attempt that fails", () => endpoint.receivedWebhooks.length > 0);
    const body = await (await shop.request("GET", `/v1/tills/${done.id}/object`)).text();
    const ofReport = `/v1/orders/?size=100&reportId=${computeExpectedReport("V2", done, shop.locationId)?.id}`;
    const orders = await shop.getJson<{ data: object[] }>(ofReport);
    // Accepted, and not told to anybody when the backup is made.
    await servers[0]?.kill("nats");
    expect((await shop.request("POST", "/v2/tills/", { body: unsent })).status).toBe(201);
    expect(JSON.parse((await runBackupCommand("backup", 0)).stdout)).toMatchObject({ objects: 2 });
    expect((await stat(join(folder, "backup"))).mode & 0o077).toBe(0);
    await before.process("all").kill();
    await Promise.all([servers[0]?.kill("postgres"), servers[0]?.kill("redis")]);
    await rm(join(folder, "place-0"), { recursive: true });

    endpoint.setHandler(respondWithStatus(204));
    const restoring = performance.now();
    await runBackupCommand("restore", 1);
    const after = await startProductUnderTest(variablesFor(1), { adminKey: before.adminKey });
    const seconds = (performance.now() - restoring) / 1000;
    try {
      const restored = copyOfTestLocation(after, shop);
      expect((await restored.getJson<{ data: object[] }>(ofReport)).data).toEqual(orders.data);
      expect(await (await restored.request("GET", `/v1/tills/${done.id}/object`)).text()).toBe(body);
      await expectReportOf(restored, done);
      await expectReportOf(restored, unsent);
      const next = newTill();
      expect((await restored.request("POST", "/v2/tills/", { body: next })).status).toBe(201);
      await expectReportOf(restored, next);
      const told = () => endpoint.receivedWebhooks.map(({ headers }) => headers["webhook-id"]);
      await eventually("each report to be told of", () => new Set(told()).size === 3, { timeoutSeconds: 40 });
      await expectDatabaseConsistency({ ...environment, variables: variablesFor(1) });
      expect(seconds).toBeLessThan(60);
    } finally {
      await after.stop();
      await receiver.close();
    }
  }, 180_000);

  it("is not restored over anything", async () => {
    await expect(runBackupCommand("restore", 1)).rejects.toThrow(/not empty/);
  });
});
