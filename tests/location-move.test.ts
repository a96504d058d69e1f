import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChangePage } from "@pragma/contracts/changes";
import { serviceNames } from "@pragma/contracts/service-names";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { createTestEventStreamAdmin } from "@pragma/runtime/testing/event-stream-admin";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import { buildGeneratedRestaurantCatalog } from "@pragma/simulator/restaurant-catalog";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findReportingDatabaseInconsistencies } from "./fault-injection/expect-consistency.ts";
import { getTestCommandProgram } from "./harness/command-program.ts";
import { runTestLocationCommand } from "./harness/location-command.ts";
import { packTestTill } from "./harness/packed-till.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestAdminClient, createTestLocation, type TestLocation } from "./harness/test-location.ts";
import { sendTestPaidLiveOrders } from "./webhooks/send-paid-live-orders.ts";

const opsProgram = getTestCommandProgram("ops");
const archiveKey = "a key of an archive, of 32 characters or more";

interface Installation {
  environment: IsolatedTestEnvironment;
  product: PragmaUnderTest;
  sql: postgres.Sql;
}

let folder: string;
let file: string;
let from: Installation;
let to: Installation;
let location: TestLocation;
/** The location, with its key, in the installation to which it moves. */
let moved: TestLocation;
let receiver: Server;
/** The messages that the endpoint of the location has received, by path. */
const received: { path: string; event: string; id: string }[] = [];
let isReceiving = true;
let snapshotBefore: Map<string, ResponseSnapshot>;
let tillIds: string[];
let delayedJobId: string;
/** A key of the location whose consumer exists in both installations, under the same name. */
let keyOfSharedConsumer: string;
let countsBefore: Record<string, number>;

async function startInstallation(dataKeys: string): Promise<Installation> {
  const environment = await createMigratedTestEnvironment({ DATA_KEYS: dataKeys });
  const product = await startPragmaUnderTest(environment.variables);
  return { environment, product, sql: postgres(environment.variables.DATABASE_URL ?? "", { max: 1 }) };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pragma-move-"));
  file = join(folder, "location.archive");
  [from, to] = await Promise.all([
    startInstallation(`first:${"a-secret-of-the-first-one-".repeat(2)}`),
    startInstallation(`second:${"a-secret-of-the-second-one-".repeat(2)}`),
  ]);
  receiver = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      if (isReceiving) {
        const { meta } = JSON.parse(body);
        received.push({ path: request.url ?? "", event: meta.event, id: meta.id });
      }
      response.writeHead(isReceiving ? 200 : 503).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
}, 90_000);
afterAll(async () => {
  receiver?.close();
  for (const installation of [from, to]) {
    await installation?.product.stop();
    await installation?.sql.end();
    await installation?.environment.remove();
  }
  await rm(folder, { recursive: true, force: true });
});

const variablesOf = ({ environment }: Installation) => ({
  PATH: process.env.PATH,
  ...environment.variables,
  LOCATION_ARCHIVE_KEY: archiveKey,
});

const runLocationCommand = (installation: Installation, args: string[]) =>
  runTestLocationCommand(args, variablesOf(installation));

/** Waits until no service of an installation has events to publish or to handle. */
async function waitUntilEventsAreHandled({ environment, sql }: Installation): Promise<void> {
  const streams = await createTestEventStreamAdmin(environment);
  try {
    await eventually("all events to be handled", async () => {
      for (const service of serviceNames) {
        const outbox = await sql`
          select from ${sql(buildServiceSchemaName(environment.namespace, service))}.outbox limit 1`;
        if (outbox.count > 0) return false;
      }
      return streams.isFullyConsumed();
    });
  } finally {
    await streams.close();
  }
}

interface ResponseSnapshot {
  status: number;
  etag: string | null;
  body: string;
}

/** Returns the responses of all reads of the location. */
async function readEverything({ request, getJson }: TestLocation): Promise<Map<string, ResponseSnapshot>> {
  const paths = new Set([
    ...[
      "/v1/reports?size=2",
      "/v2/reports?size=100",
      "/v1/orders?size=3",
      "/v1/orders?size=100",
      "/v1/tills?size=100&sinceDate=2020-01-01T00:00:00Z",
    ],
    ...["/v1/orders-live", "/v1/catalog", "/v1/catalog/taxes", "/v1/locations/own?devices=true"],
    ...["/v1/recipients", "/v1/webhooks", "/v1/accounting/configs", `/v1/jobs/${delayedJobId}`],
  ]);
  const addItems = async (list: string, toPaths: (id: string) => string[]) => {
    const { data } = await getJson<{ data: { id: string }[] }>(list);
    expect(data.length, list).toBeGreaterThan(0);
    for (const { id } of data) for (const path of toPaths(id)) paths.add(path);
  };
  await addItems("/v2/reports?size=100", (id) => [
    `/v1/reports/${id}`,
    `/v2/reports/${id}`,
    `/v1/orders?reportId=${id}`,
  ]);
  await addItems("/v1/orders?size=100", (id) => [`/v1/orders/${id}`, `/v2/orders/${id}`]);
  await addItems("/v1/tills?size=100&sinceDate=2020-01-01T00:00:00Z", (id) => [
    `/v1/tills/${id}`,
    `/v1/tills/${id}/object`,
  ]);
  const responses = new Map<string, ResponseSnapshot>();
  for (const path of paths) {
    const response = await request("GET", path);
    // The links of pages and tills contain the address of the installation, and the entity tags of tills depend on it.
    const hasAddress = /^\/v1\/tills\/[^/]+$/.test(path);
    const text = (await response.text()).replaceAll(from.product.url, "").replaceAll(to.product.url, "");
    responses.set(path, {
      status: response.status,
      etag: hasAddress ? null : response.headers.get("etag"),
      body: text.length < 1_000 ? text : createHash("sha256").update(text).digest("hex"),
    });
  }
  return responses;
}

/** Returns a location as a client of another installation sees it. */
const locationIn = ({ product }: Installation, { key, ...rest }: TestLocation): TestLocation => {
  const request: TestLocation["request"] = (method, path, { body, headers, key: otherKey } = {}) =>
    fetch(`${product.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${otherKey ?? key}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return {
    ...rest,
    key,
    request,
    async getJson<T>(path: string, otherKey?: string) {
      const response = await request("GET", path, otherKey === undefined ? {} : { key: otherKey });
      if (response.status !== 200) throw new Error(`GET ${path} returned ${response.status}`);
      return (await response.json()) as T;
    },
  };
};

async function countTotal({ getJson }: TestLocation, path: string): Promise<number> {
  return (await getJson<{ meta: { totalCount: number } }>(path)).meta.totalCount;
}

describe("a location with data of all services", () => {
  it("is exported while it has due deliveries and jobs", async () => {
    location = await createTestLocation(from.product, {
      scopes: [
        ...(["tills:read", "tills:write", "reports:read", "orders:read", "orders:write", "catalog:read"] as const),
        ...([
          "catalog:write",
          "webhooks:write",
          "jobs:write",
          "accounting:write",
          "locations:read",
          "keys:write",
        ] as const),
      ],
    });
    const other = await createTestLocation(from.product, { scopes: ["tills:write", "reports:read"] });
    const tills = [1, 2, 3].map((seed) =>
      generateTill({ seed, tillId: randomUUID(), orders: 4, day: `2026-04-0${seed}` }),
    );
    tillIds = tills.map(({ id }) => id);
    for (const body of tills) expect((await location.request("POST", "/v2/tills/", { body })).status).toBe(201);
    const othersTill = generateTill({ seed: 9, tillId: randomUUID(), orders: 2, day: "2026-04-01" });
    expect((await other.request("POST", "/v2/tills/", { body: othersTill })).status).toBe(201);
    await Promise.all([location.waitForReports(3), other.waitForReports(1)]);
    await Promise.all([location.waitForTillStates(), other.waitForTillStates()]);
    const catalog = await location.request("PUT", "/v1/catalog/", {
      body: buildGeneratedRestaurantCatalog(generateRestaurant("move")),
    });
    expect(catalog.status).toBe(200);
    await location.create("/v1/accounting/configs", { name: "Cabinet Martin" });
    const consumer = { name: "Shared by locations" };
    await createTestAdminClient(from.product).POST("/v1/consumers", { body: consumer });
    const { data: created } = await createTestAdminClient(from.product).POST("/v1/auth/keys", {
      body: { locationId: location.locationId, consumerName: consumer.name },
    });
    keyOfSharedConsumer = created.apiKey;
    const { data: existing } = await createTestAdminClient(to.product).POST("/v1/consumers", { body: consumer });
    await createTestAdminClient(to.product).PATCH("/v1/consumers/{id}", {
      ...{ params: { path: { id: existing.id } }, body: { scopes: ["orders:read"] } },
    });
    delayedJobId = (await location.create("/v1/jobs", { message: "Later", jobOptions: { delay: 3_600_000 } })).id;
    const { port } = receiver.address() as AddressInfo;
    const recipient = await location.create("/v1/recipients/", { name: "Stock" });
    await location.create("/v1/webhooks/", {
      ...{ recipientId: recipient.id, events: ["order.paid", "report.finalized"] },
      endpointUrl: `http://127.0.0.1:${port}/stock`,
    });
    isReceiving = false;
    await sendTestPaidLiveOrders(location, { orders: 1, batchSize: 1, perSecond: 100 });
    await eventually("a pending delivery", async () => {
      const [row] = await from.sql`
        select from ${from.sql(`${from.environment.namespace}_webhooks`)}.webhook_deliveries where state = 'pending'`;
      return row;
    });
    await packTestTill(from.environment, tillIds[0] ?? "");
    snapshotBefore = await readEverything(location);
    countsBefore = await runLocationCommand(from, ["count", location.locationId]);
    expect(await runLocationCommand(from, ["export", location.locationId, "--output", file])).toMatchObject({
      missingObjects: [],
    });
    moved = locationIn(to, location);
  }, 60_000);

  it("is not imported where it still exists", async () => {
    await expect(runLocationCommand(from, ["import", file])).rejects.toThrow(/already has data/);
  });

  it("is not imported where another location uses the id of one of its tills", async () => {
    const squatter = await createTestLocation(to.product, { scopes: ["tills:write", "reports:read"] });
    const schema = to.sql(`${to.environment.namespace}_till_ingest`);
    await to.sql`insert into ${schema}.till_directory values (${tillIds[0] ?? ""}, ${squatter.locationId})`;
    await expect(runLocationCommand(to, ["import", file])).rejects.toThrow(
      /till_directory.*belongs to another location/,
    );
    await to.sql`delete from ${schema}.till_directory where till_id = ${tillIds[0] ?? ""}`;
    await expect(runLocationCommand(to, ["count", location.locationId])).rejects.toThrow(/does not exist/);
  });

  it("is not imported where other migrations have run", async () => {
    const schema = to.sql(`${to.environment.namespace}_catalog`);
    await to.sql`insert into ${schema}.migrations (name, checksum) values ('catalog/999_later.sql', '')`;
    await expect(runLocationCommand(to, ["import", file])).rejects.toThrow(/catalog: the archive is older.*999_later/);
    await to.sql`delete from ${schema}.migrations where name = 'catalog/999_later.sql'`;
  });

  it("is not removed unless its id or name is repeated", async () => {
    for (const confirmation of [[], ["--yes", "another"]])
      await expect(runLocationCommand(from, ["remove", location.locationId, ...confirmation])).rejects.toThrow(
        /repeat its id or name/,
      );
    await expect(runLocationCommand(from, ["remove", randomUUID(), "--yes", "x"])).rejects.toThrow(/does not exist/);
    expect((await location.request("GET", "/v2/reports")).status).toBe(200);
  });

  it("is removed with everything that it has, while points of sale push and after the command was killed", async () => {
    const { locationId } = location;
    const feedPath = "/v1/changes/?allLocations=true&size=1000";
    const { data: known } = await location.getJson<ChangePage>(feedPath, from.product.adminKey);
    const { nextCursor } = await location.getJson<ChangePage>(`${feedPath}&after=now`, from.product.adminKey);
    let isPushing = true;
    const statuses = new Set<number>();
    const push = async (path: string, key: string) => {
      for (let seed = 100; isPushing; seed++) {
        const body = generateTill({ seed, tillId: randomUUID(), orders: 1, day: "2026-04-05" });
        const { status } = await location.request("POST", path, { body, key });
        statuses.add(status);
        // Further requests with a revoked key would be limited.
        if (status === 401) return;
      }
    };
    const pushing = [
      push("/v2/tills/", location.key),
      push(`/v2/tills/?locationId=${locationId}`, from.product.adminKey),
    ];
    const accounts = `${from.environment.namespace}_accounts`;
    const killed = spawn(process.execPath, [opsProgram, "location", "remove", locationId, "--yes", locationId], {
      ...{ env: variablesOf(from), stdio: "ignore" },
    });
    await eventually("the removal to begin", async () => {
      const [row] = await from.sql`
        select from ${from.sql(accounts)}.removed_locations
        where location_id = ${locationId} and receipt ->> 'rows' is not null`;
      return row;
    });
    killed.kill("SIGKILL");
    // PostgreSQL holds the lock of the killed command until its last statement has ended.
    const receipt = await eventually("the lock of the killed command", () =>
      runLocationCommand(from, ["remove", locationId, "--yes", locationId]).catch((error: unknown) => {
        if (!String(error).includes("Another command")) throw error;
      }),
    );
    isPushing = false;
    await Promise.all(pushing);
    expect([...statuses].sort()).toEqual([201, 401, 404]);
    await waitUntilEventsAreHandled(from);

    expect(receipt).toMatchObject({ locationId, removedAt: expect.any(String) });
    expect(receipt.rows["reporting.orders"]).toBeGreaterThanOrEqual(countsBefore["reporting.orders"] ?? 0);
    expect(receipt.objects).toBeGreaterThanOrEqual(3);
    expect(receipt.events).toBeGreaterThan(0);
    const kept = /^accounts\.outbox$|\.sent_events$|\.daily_usage$/;
    const left = Object.keys(await runLocationCommand(from, ["count", locationId])).filter((name) => !kept.test(name));
    expect(left).toEqual([]);
    expect((await location.request("GET", "/v2/reports")).status).toBe(401);
    const { revision: lastRevision = 0 } = known.find(({ type, id }) => type === "location" && id === locationId) ?? {};
    // A follower that begins again, and one that continues.
    for (const after of ["", `&after=${nextCursor}`]) {
      const feed = await location.getJson<ChangePage>(feedPath + after, from.product.adminKey);
      expect(feed.data.filter((change) => change.locationId === locationId)).toMatchObject([
        { type: "location", id: locationId, action: "removed", revision: lastRevision + 1 },
      ]);
    }
    const folders = await readdir(join(from.environment.variables.OBJECT_STORE?.slice("file:".length) ?? "", "tills"));
    expect(folders).not.toEqual([]);
    const { sql } = from;
    const pendingUploads = await sql`
      select key from ${sql(`${from.environment.namespace}_till_ingest`)}.pending_uploads`;
    expect(pendingUploads.every(({ key }) => key.startsWith(`tills/${locationId}/`))).toBe(true);
    await expect(
      sql`insert into ${sql(`${from.environment.namespace}_till_ingest`)}.till_directory
        values (${randomUUID()}, ${locationId})`,
    ).rejects.toThrow();
    const stored = await sql`select removed_at, receipt from ${sql(accounts)}.removed_locations`;
    expect(stored).toEqual([{ removed_at: new Date(receipt.removedAt), receipt }]);
  }, 90_000);

  it("delivers nothing and has no working key while an import is interrupted, which can be continued", async () => {
    isReceiving = true;
    const catalog = `${to.environment.namespace}_catalog`;
    const tillIngest = `${to.environment.namespace}_till_ingest`;
    const blocker = postgres(to.environment.variables.DATABASE_URL ?? "", { max: 1 });
    try {
      // The import stores all rows that cause no work, and then waits for this lock.
      await blocker`begin`.simple();
      await blocker`lock table ${blocker(catalog)}.location_writes in share mode`;
      const importing = startImportInBackground();
      await eventually("the rows of the last service", async () => {
        const [row] = await to.sql`
          select from ${to.sql(tillIngest)}.location_imports
          where location_id = ${location.locationId} and rows_imported_at is not null`;
        return row;
      });
      // Longer than the pauses after which the webhooks service looks for deliveries that are due.
      await sleep(4_000);
      expect(received).toEqual([]);
      expect((await moved.request("GET", "/v2/reports")).status).toBe(401);
      importing.kill("SIGKILL");
    } finally {
      await blocker.end();
    }
    // The endpoint still fails, so that its webhook has the same state as before until the deliveries are tested.
    isReceiving = false;
    expect(await runLocationCommand(to, ["import", file])).toMatchObject({
      locationId: location.locationId,
      consumers: expect.arrayContaining([
        expect.objectContaining({ archivedId: location.consumerId, isNew: true }),
        expect.objectContaining({ name: "Shared by locations", isNew: false }),
      ]),
    });
  }, 60_000);

  it("answers every read as before, with the same entity tags and bodies", async () => {
    await eventually("the key to work", async () => (await moved.request("GET", "/v2/reports")).status === 200);
    expect(await readEverything(moved)).toEqual(snapshotBefore);
  });

  it("has the scopes of the consumer that existed under the same name", async () => {
    const read = async (path: string) => (await moved.request("GET", path, { key: keyOfSharedConsumer })).status;
    expect(await Promise.all(["/v1/orders", "/v2/reports"].map(read))).toEqual([200, 403]);
  });

  it("has the same rows, and none twice", async () => {
    const after = await runLocationCommand(to, ["count", location.locationId]);
    const transient =
      /\.(outbox|sent_events|unsequenced_changes|all_changes|daily_usage|location_writes|attempts|published_devices|request_counts_\w+|failed_requests)$|webhook_hourly_stats/;
    const persistent = (counts: object) => Object.entries(counts).filter(([name]) => !transient.test(name));
    expect(persistent(after)).toEqual(persistent(countsBefore));
  });

  it("adds its changes once to the feed of all locations, in which cursors of the former installation are invalid", async () => {
    const path = "/v1/changes/?allLocations=true&size=1000";
    const { nextCursor } = await location.getJson<ChangePage>(path, from.product.adminKey);
    const rejected = await moved.request("GET", `${path}&after=${nextCursor}`, { key: to.product.adminKey });
    expect(await rejected.json()).toMatchObject({ code: "invalid_cursor" });
    const describeEntries = ({ data }: ChangePage) =>
      data
        .filter(({ locationId }) => locationId === location.locationId)
        .map(({ type, id, action, revision, at }) => ({ type, id, action, revision, at }));
    const own = await moved.getJson<ChangePage>(
      `/v1/changes/?size=1000&locationId=${location.locationId}`,
      to.product.adminKey,
    );
    expect(own.data.filter(({ type }) => type === "report")).toHaveLength(3);
    await eventually("the feed of all locations", async () => {
      const all = await moved.getJson<ChangePage>(path, to.product.adminKey);
      return describeEntries(all).length >= own.data.length;
    });
    const all = await moved.getJson<ChangePage>(path, to.product.adminKey);
    expect(describeEntries(all)).toEqual(describeEntries(own));
  });

  it("delivers the messages that were due, and messages about new tills", async () => {
    isReceiving = true;
    // The next attempt can be due in some minutes.
    await to.sql`
      update ${to.sql(`${to.environment.namespace}_webhooks`)}.webhook_deliveries set due_at = now() where state = 'pending'`;
    await eventually("the delivery that was pending", () => received.some(({ event }) => event === "order.paid"), {
      timeoutSeconds: 60,
    });
    // The id of a till determines how many of its orders are finished.
    const orderCount = await countTotal(moved, "/v1/orders");
    const till = generateTill({ seed: 4, tillId: randomUUID(), orders: 6, day: "2026-04-04" });
    expect((await moved.request("POST", "/v2/tills/", { body: till })).status).toBe(201);
    await eventually("the message about the report", () => received.some(({ event }) => event === "report.finalized"), {
      timeoutSeconds: 20,
    });
    expect(await countTotal(moved, "/v2/reports")).toBe(4);
    const schema = `${to.environment.namespace}_reporting`;
    expect(await findReportingDatabaseInconsistencies(to.sql, schema)).toEqual([]);
    expect(await countTotal(moved, "/v1/orders")).toBeGreaterThan(orderCount);
  }, 90_000);

  it("changes nothing when it is imported again", async () => {
    const before = await readEverything(moved);
    await runLocationCommand(to, ["import", file]);
    expect(await readEverything(moved)).toEqual(before);
  });
});

function startImportInBackground(): ChildProcess {
  return spawn(process.execPath, [opsProgram, "location", "import", file], { env: variablesOf(to), stdio: "ignore" });
}
