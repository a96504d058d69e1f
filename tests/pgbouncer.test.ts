import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { serviceNames } from "@pragma/contracts/service-names";
import { createTestLiveOrderInput } from "@pragma/order-live/testing/order-fixtures";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { startTestWebhookReceiver, type TestWebhookReceiver } from "@pragma/webhooks/testing/webhook-receiver";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestServerDataFolder, removeServerDataFolder } from "../deploy/local/servers.js";
import { findPgBouncer, type StartedPgBouncer, startPgBouncer } from "../deploy/local/testing/pgbouncer.js";
import { runPragmaToExit } from "./harness/pragma-exit.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation } from "./harness/test-location.ts";
import {
  type LeastPrivilegeTestServers,
  startLeastPrivilegeTestServers,
} from "./privileges/least-privilege-test-servers.ts";

// `npm test` installs PgBouncer on Debian. Elsewhere, it prints that these tests are skipped.
describe.skipIf(findPgBouncer() === undefined)("behind PgBouncer", () => {
  const folder = createTestServerDataFolder("pgbouncer");
  const bouncers: StartedPgBouncer[] = [];
  let environment: IsolatedTestEnvironment;
  let servers: LeastPrivilegeTestServers;
  let receiver: TestWebhookReceiver;

  beforeAll(async () => {
    [environment, servers, receiver] = await Promise.all([
      createMigratedTestEnvironment(),
      startLeastPrivilegeTestServers(),
      startTestWebhookReceiver(),
    ]);
    await servers.migrate();
  }, 240_000);
  afterAll(async () => {
    for (const bouncer of bouncers) await bouncer.stop();
    await Promise.all([environment?.remove(), servers?.stop(), receiver?.close()]);
    await removeServerDataFolder(folder);
  });

  const listServerUrls = () => [
    servers.ownerUrl,
    ...serviceNames.map((name) => servers.variablesOf(name).DATABASE_URL),
  ];

  async function startBouncer(
    serverUrls: (string | undefined)[],
    poolMode: "session" | "transaction",
    settings = {},
  ): Promise<StartedPgBouncer> {
    const dataFolder = join(folder, String(bouncers.length));
    const urls = serverUrls.filter((url) => url !== undefined);
    const bouncer = await startPgBouncer({ dataFolder, serverUrls: urls, poolMode, settings });
    bouncers.push(bouncer);
    return bouncer;
  }

  /** Uses what writes, reads, locks and waits: a till and its report, live orders, a webhook, a job, and an export. */
  async function useProduct(product: PragmaUnderTest): Promise<void> {
    const testLocation = await createTestLocation(product, {
      scopes: ["tills:write", "reports:read", "orders:read", "orders:write", "webhooks:write", "jobs:write"],
    });
    const endpoint = receiver.addEndpoint();
    const recipient = await testLocation.create("/v1/recipients", { name: "Receiver" });
    await testLocation.create("/v1/webhooks", {
      ...{ recipientId: recipient.id, endpointUrl: endpoint.url, events: ["report.finalized"] },
    });
    const order = createTestLiveOrderInput();
    expect((await testLocation.request("POST", "/v1/orders-live/", { body: [order] })).status).toBe(200);
    const day = "2026-04-01";
    const tills = [1, 2, 3].map((seed) => generateTill({ seed, tillId: randomUUID(), orders: 3, day }));
    for (const till of tills) expect((await testLocation.pushTillWithRetries(till)).status).toBe(201);
    const orders = tills.flatMap(({ orderList }) => orderList).filter(({ isTraining }) => !isTraining);
    const [report] = await testLocation.waitForReports(3);
    await testLocation.getJson(`/v2/reports/${report?.id}`);
    expect(await testLocation.getJson("/v1/orders/?size=50")).toMatchObject({
      meta: { totalCount: orders.length },
    });
    expect(await testLocation.getJson("/v1/orders-live/")).toMatchObject({ data: [{ id: order.id }] });
    await testLocation.getJson(`/v1/metrics/?measures=sales&since=${day}&until=${day}`);
    const job = await testLocation.create("/v1/jobs", { message: "queued", duration: 1 });
    await eventually("the job", async () => {
      return (await testLocation.getJson<{ state: string }>(`/v1/jobs/${job.id}`)).state === "completed";
    });
    const file = await testLocation.create("/v1/exports", { data: "orders", format: "csv", since: day, until: day });
    await eventually("the export", async () => {
      return (await testLocation.getJson<{ state: string }>(`/v1/exports/${file.id}`)).state === "done";
    });
    await eventually("the webhooks", () => endpoint.receivedWebhooks.length === 3);
  }

  it("works in session mode, all in one process with one role", { timeout: 240_000 }, async () => {
    const { DATABASE_URL: url = "" } = environment.variables;
    const bouncer = await startBouncer([url], "session", { default_pool_size: 80 });
    const product = await startPragmaUnderTest({
      ...environment.variables,
      DATABASE_URL: bouncer.toPooledUrl(url),
    });
    try {
      await useProduct(product);
    } finally {
      await product.stop();
    }
  });

  it("works in transaction mode, with a role and a process for each service", { timeout: 240_000 }, async () => {
    // Fewer sessions than the connections of the services, so that they share them.
    const bouncer = await startBouncer(listServerUrls(), "transaction", { default_pool_size: 3 });
    const product = await startPragmaUnderTest(servers.variables, {
      split: true,
      variablesOf(part) {
        const { DATABASE_URL, ...others } = servers.variablesOf(part);
        const pooled = DATABASE_URL && { DATABASE_URL, DATABASE_TRANSACTION_URL: bouncer.toPooledUrl(DATABASE_URL) };
        return { ...others, ...pooled };
      },
    });
    try {
      await useProduct(product);
      const sql = postgres(servers.ownerUrl, { max: 1 });
      const sessions = await sql<{ role: string; count: number }[]>`
        select usename as role, count(*)::int from pg_stat_activity where usename like '%\\_till\\_ingest' group by 1`;
      await sql.end();
      // The three of the pooler, and that of the leader election.
      expect(sessions).toMatchObject([{ count: 4 }]);
    } finally {
      await product.stop();
    }
  });

  it("refuses transaction mode without a URL for sessions, and a role of another service", {
    timeout: 90_000,
  }, async () => {
    const bouncer = await startBouncer(listServerUrls(), "transaction");
    const start = (changes: Record<string, string>) =>
      runPragmaToExit("accounts", { ...servers.variables, ...servers.variablesOf("accounts"), ...changes });
    const { DATABASE_URL: url = "" } = servers.variablesOf("accounts");
    expect(await start({ DATABASE_URL: bouncer.toPooledUrl(url) })).toMatch(
      /^PostgreSQL at \S+ cannot be used: a pooler runs .* Set pool_mode = session, or .*$/,
    );
    expect(await start({ DATABASE_TRANSACTION_URL: bouncer.toPooledUrl(servers.ownerUrl) })).toMatch(
      /^PostgreSQL at \S+ cannot be used: the search_path of the role pragma is .*, not \S+_accounts\. .*$/,
    );
  });
});
