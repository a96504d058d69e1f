import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type OwnTestServers, startOwnTestServers } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { createFixedStatusResponseHandler, startTestWebhookReceiver } from "@pragma/webhooks/testing/webhook-receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectDatabaseConsistency } from "./fault-injection/expect-consistency.ts";
import { getTestCommandProgram } from "./harness/command-program.ts";
import { computeExpectedDocuments, roundTripThroughJson } from "./harness/expected-report.ts";
import { packTestTill } from "./harness/packed-till.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const backupProgram = getTestCommandProgram("backup");

let folder: string;
let servers: OwnTestServers[] = [];
let environment: IsolatedTestEnvironment;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pragma-backup-"));
  servers = [await startOwnTestServers(), await startOwnTestServers()];
  environment = await createIsolatedTestEnvironment();
}, 300_000);
afterAll(async () => {
  await Promise.all(servers.map((each) => each.stop()));
  await rm(folder, { recursive: true, force: true });
});

/**
 * Returns the environment variables of an installation. Installation 0 is backed up, and the backup is restored to
 * installation 1.
 */
function variablesFor(installation: number): Record<string, string> {
  const { postgres, nats, redis } = servers[installation] ?? expect.unreachable();
  const urls = { DATABASE_URL: postgres.url, NATS_URL: nats.url, REDIS_URL: redis.url };
  return { ...environment.variables, ...urls, OBJECT_STORE: `file:${folder}/installation-${installation}` };
}

const runBackupCommand = (command: "backup" | "restore", installation: number) =>
  promisify(execFile)(process.execPath, [backupProgram, command, join(folder, "backup")], {
    env: { PATH: process.env.PATH, ...variablesFor(installation) },
  });

const newTill = () => generateTill({ seed: 4, tillId: randomUUID(), orders: 8, day: "2026-04-01" });

async function expectReportOf(testLocation: TestLocation, till: object): Promise<void> {
  const expected = computeExpectedDocuments("V2", till, testLocation.locationId);
  const report = await eventually("the report", async () => {
    const response = await testLocation.request("GET", `/v2/reports/${expected?.id}`);
    return response.status === 200 && response.json();
  });
  expect(report).toEqual(roundTripThroughJson(expected?.reportV2));
}

/** Returns a copy of the test location whose `request` and `getJson` send requests to another installation. */
function copyOfTestLocation(product: PragmaUnderTest, testLocation: TestLocation): TestLocation {
  const copy: TestLocation = {
    ...testLocation,
    request: (method, path, { body, headers } = {}) =>
      fetch(`${product.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${testLocation.key}`, "content-type": "application/json", ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    async getJson<T>(path: string) {
      const response = await copy.request("GET", path);
      expect(response.status).toBe(200);
      return (await response.json()) as T;
    },
  };
  return copy;
}

/** Returns the path of a file with the journal entries of a till. */
async function exportToAccounting(testLocation: TestLocation, tillId: string): Promise<string> {
  const config = await testLocation.create("/v1/accounting/configs", {});
  const item = { tillId, accountingConfigId: config.id, accountingProvider: "FULLL" };
  const { id } = await testLocation.create("/v1/accounting/exports", [item]);
  await eventually("the accounting export", async () => {
    const { state } = await testLocation.getJson<{ state: string }>(`/v1/accounting/exports/${id}`);
    return state === "done";
  });
  return `/v1/accounting/exports/${id}/files/1`;
}

describe("a backup", () => {
  it("restores all data when PostgreSQL, the objects, NATS and Redis are lost", async () => {
    const receiver = await startTestWebhookReceiver();
    const endpoint = receiver.addEndpoint(createFixedStatusResponseHandler(503));
    const before = await startPragmaUnderTest(variablesFor(0));
    const testLocation = await createTestLocation(before, {
      scopes: ["tills:write", "tills:read", "reports:read", "orders:read", "webhooks:write", "accounting:write"],
    });
    const { data: recipient } = await testLocation.api.POST("/v1/recipients", { body: { name: "Restored" } });
    await testLocation.api.POST("/v1/webhooks", {
      body: { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["report.finalized"] },
    });
    const [processed, unprocessed] = [newTill(), newTill()];
    await testLocation.request("POST", "/v2/tills/", { body: processed });
    await expectReportOf(testLocation, processed);
    await eventually("a failed attempt", () => endpoint.receivedWebhooks.length > 0);
    const body = await (await testLocation.request("GET", `/v1/tills/${processed.id}/object`)).text();
    const filePath = await exportToAccounting(testLocation, processed.id);
    const entries = await (await testLocation.request("GET", filePath)).text();
    await packTestTill({ ...environment, variables: variablesFor(0) }, processed.id);
    const ordersPath = `/v1/orders/?size=100&reportId=${computeExpectedDocuments("V2", processed, testLocation.locationId)?.id}`;
    const orders = await testLocation.getJson<{ data: object[] }>(ordersPath);
    // While NATS is down, the till is accepted, but its event is not published before the backup.
    await servers[0]?.kill("nats");
    expect((await testLocation.request("POST", "/v2/tills/", { body: unprocessed })).status).toBe(201);
    expect(JSON.parse((await runBackupCommand("backup", 0)).stdout)).toMatchObject({ objects: 4 });
    expect((await stat(join(folder, "backup"))).mode & 0o077).toBe(0);
    await before.process("all").kill();
    await Promise.all([servers[0]?.kill("postgres"), servers[0]?.kill("redis")]);
    await rm(join(folder, "installation-0"), { recursive: true });

    endpoint.setHandler(createFixedStatusResponseHandler(204));
    const { stderr: progress } = await runBackupCommand("restore", 1);
    expect(progress.split("\n")).toEqual(expect.arrayContaining(["accounts restore", "reporting restore"]));
    const after = await startPragmaUnderTest(variablesFor(1), { adminKey: before.adminKey });
    try {
      const restored = copyOfTestLocation(after, testLocation);
      expect((await restored.getJson<{ data: object[] }>(ordersPath)).data).toEqual(orders.data);
      expect(await (await restored.request("GET", `/v1/tills/${processed.id}/object`)).text()).toBe(body);
      expect(await (await restored.request("GET", filePath)).text()).toBe(entries);
      await expectReportOf(restored, processed);
      await expectReportOf(restored, unprocessed);
      const next = newTill();
      expect((await restored.request("POST", "/v2/tills/", { body: next })).status).toBe(201);
      await expectReportOf(restored, next);
      const webhookIds = () => endpoint.receivedWebhooks.map(({ headers }) => headers["webhook-id"]);
      await eventually("a message for each report", () => new Set(webhookIds()).size === 3, { timeoutSeconds: 40 });
      await expectDatabaseConsistency({ ...environment, variables: variablesFor(1) });
    } finally {
      await after.stop();
      await receiver.close();
    }
  }, 180_000);

  it("is not restored into a database with data", async () => {
    await expect(runBackupCommand("restore", 1)).rejects.toThrow(/not empty/);
  });

  it("is not written to a folder named like an option", async () => {
    const options = { env: { PATH: process.env.PATH, ...variablesFor(1) } };
    const backUp = promisify(execFile)(process.execPath, [backupProgram, "backup", "--help"], options);
    await expect(backUp).rejects.toThrow(/backup <folder> {5}back up/);
  });
});
