import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageFolder } from "@pragma/runtime/package-folder";
import { eventually } from "@pragma/runtime/testing/eventually";
import { type PrivateServers, startPrivateServers } from "@pragma/runtime/testing/private-servers";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { answers, startReceiver } from "@pragma/webhooks/testing/receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asRead, expectedReport } from "./harness/expected-report.ts";
import { type Product, startProduct } from "./harness/product.ts";
import { openShop, type Shop } from "./harness/shop.ts";
import { expectConsistency } from "./round/expect-consistency.ts";

const program = join(packageFolder(import.meta.resolve("@pragma/services/definitions")), "dist", "backup.js");

let folder: string;
let servers: PrivateServers[] = [];
let environment: TestEnvironment;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pragma-backup-"));
  servers = [await startPrivateServers(), await startPrivateServers()];
  environment = await createTestEnvironment();
}, 120_000);
afterAll(async () => {
  await Promise.all(servers.map((each) => each.stop()));
  await rm(folder, { recursive: true, force: true });
});

/** What a process needs on one of the two places that the product lives in, before and after. */
function variablesOf(place: number): Record<string, string> {
  const { postgres, nats, redis } = servers[place] ?? expect.unreachable();
  const urls = { DATABASE_URL: postgres.url, NATS_URL: nats.url, REDIS_URL: redis.url };
  return { ...environment.variables, ...urls, OBJECT_STORE: `file:${folder}/place-${place}` };
}

const run = (verb: "backup" | "restore", place: number) =>
  promisify(execFile)(process.execPath, [program, verb, join(folder, "backup")], {
    env: { PATH: process.env.PATH, ...variablesOf(place) },
  });

const newTill = () => generateTill({ seed: 4, tillId: randomUUID(), orders: 8, day: "2026-04-01" });

async function expectReportOf(shop: Shop, till: object): Promise<void> {
  const expected = expectedReport("V2", till, shop.locationId);
  const report = await eventually("the report", async () => {
    const answer = await shop.ask("GET", `/v2/reports/${expected?.id}`);
    return answer.status === 200 && answer.json();
  });
  expect(report).toEqual(asRead(expected?.reportV2));
}

/** The same shop, asked where the product lives now. */
function movedTo(product: Product, shop: Shop): Shop {
  const moved: Shop = {
    ...shop,
    ask: (method, path, { body, headers } = {}) =>
      fetch(`${product.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${shop.key}`, "content-type": "application/json", ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    async read<T>(path: string) {
      const answer = await moved.ask("GET", path);
      expect(answer.status).toBe(200);
      return (await answer.json()) as T;
    },
  };
  return moved;
}

describe("a backup", () => {
  it("brings everything back when PostgreSQL, the objects, NATS and Redis are all lost", async () => {
    const receiver = await startReceiver();
    const endpoint = receiver.endpoint(answers(503));
    const before = await startProduct(variablesOf(0));
    const shop = await openShop(before, {
      scopes: ["tills:write", "tills:read", "reports:read", "orders:read", "webhooks:write"],
    });
    const { data: recipient } = await shop.api.POST("/v1/recipients", { body: { name: "Restored" } });
    await shop.api.POST("/v1/webhooks", {
      body: { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["report.finalized"] },
    });
    const [done, unsent] = [newTill(), newTill()];
    await shop.ask("POST", "/v2/tills/", { body: done });
    await expectReportOf(shop, done);
    await eventually("an attempt that fails", () => endpoint.received.length > 0);
    const body = await (await shop.ask("GET", `/v1/tills/${done.id}/object`)).text();
    const ofReport = `/v1/orders/?size=100&reportId=${expectedReport("V2", done, shop.locationId)?.id}`;
    const orders = await shop.read<{ data: object[] }>(ofReport);
    // Accepted, and not told to anybody when the backup is made.
    await servers[0]?.kill("nats");
    expect((await shop.ask("POST", "/v2/tills/", { body: unsent })).status).toBe(201);
    expect(JSON.parse((await run("backup", 0)).stdout)).toMatchObject({ objects: 2 });
    expect((await stat(join(folder, "backup"))).mode & 0o077).toBe(0);
    await before.process("all").kill();
    await Promise.all([servers[0]?.kill("postgres"), servers[0]?.kill("redis")]);
    await rm(join(folder, "place-0"), { recursive: true });

    endpoint.behave(answers(204));
    const restoring = performance.now();
    await run("restore", 1);
    const after = await startProduct(variablesOf(1), { adminKey: before.adminKey });
    const seconds = (performance.now() - restoring) / 1000;
    try {
      const restored = movedTo(after, shop);
      expect((await restored.read<{ data: object[] }>(ofReport)).data).toEqual(orders.data);
      expect(await (await restored.ask("GET", `/v1/tills/${done.id}/object`)).text()).toBe(body);
      await expectReportOf(restored, done);
      await expectReportOf(restored, unsent);
      const next = newTill();
      expect((await restored.ask("POST", "/v2/tills/", { body: next })).status).toBe(201);
      await expectReportOf(restored, next);
      const told = () => endpoint.received.map(({ headers }) => headers["webhook-id"]);
      await eventually("each report to be told of", () => new Set(told()).size === 3, { withinSeconds: 40 });
      await expectConsistency({ ...environment, variables: variablesOf(1) });
      expect(seconds).toBeLessThan(60);
    } finally {
      await after.stop();
      await receiver.close();
    }
  }, 180_000);

  it("is not restored over anything", async () => {
    await expect(run("restore", 1)).rejects.toThrow(/not empty/);
  });
});
