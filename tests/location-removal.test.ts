import { spawn } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChangePage } from "@pragma/contracts/changes";
import { EReport } from "@pragma/contracts/e-report";
import { serviceNames } from "@pragma/contracts/service-names";
import { buildCompanyNumbers } from "@pragma/contracts/siren";
import { packTill } from "@pragma/reporting/documents/packing/pack-till";
import { deleteUnusedObjectsTask } from "@pragma/reporting/documents/periodic/delete-unused-objects";
import { createDatabasePool, type Database } from "@pragma/runtime/database/postgres";
import { type CompressingObjectStore, createObjectStore } from "@pragma/runtime/object-store/object-store";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { createTestEventStreamAdmin } from "@pragma/runtime/testing/event-stream-admin";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { readDataStoresConfig, restoreDatabaseAndTillBackup } from "@pragma/services/commands/backup-and-restore";
import { listLocationObjects } from "@pragma/services/commands/location-tables";
import { generateTill } from "@pragma/simulator/generate-till";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import { buildRestaurantCatalog } from "@pragma/simulator/restaurant-catalog";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getTestCommandProgram } from "./harness/command-program.ts";
import { runTestLocationCommand } from "./harness/location-command.ts";
import { packTestTill } from "./harness/packed-till.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";
import { sendTestPaidLiveOrders } from "./webhooks/send-paid-live-orders.ts";

const opsProgram = getTestCommandProgram("ops");
const log = createLogger({ name: "test", level: "silent" });

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let sql: postgres.Sql;
let reporting: Database;
let objects: CompressingObjectStore;
/** The endpoint of a webhook, which fails, so that deliveries stay pending. */
let receiver: Server;
let location: TestLocation;
let otherLocation: TestLocation;
let countsBefore: Record<string, number>;

beforeAll(async () => {
  receiver = createServer((_request, response) => response.writeHead(503).end());
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  environment = await createMigratedTestEnvironment();
  const { DATABASE_URL = "", OBJECT_STORE = "" } = environment.variables;
  sql = postgres(DATABASE_URL, { max: 1 });
  reporting = createDatabasePool({ DATABASE_URL, DATABASE_POOL: 2 }, { schema: schemaOf("reporting"), log });
  objects = createObjectStore(OBJECT_STORE);
  product = await startPragmaUnderTest(environment.variables);
  location = await createTestLocation(product, {
    scopes: [
      ...(["tills:read", "tills:write", "reports:read", "orders:write", "catalog:write"] as const),
      ...(["webhooks:write", "jobs:write", "accounting:write"] as const),
    ],
  });
  otherLocation = await createTestLocation(product);
  await storeDataOfAllServices();
  countsBefore = await runLocationCommand(["count", location.locationId]);
}, 300_000);
afterAll(async () => {
  receiver?.close();
  await product?.stop();
  await objects?.close();
  await reporting?.close();
  await sql?.end();
  await environment?.remove();
});

const schemaOf = (service: (typeof serviceNames)[number]) => buildServiceSchemaName(environment.namespace, service);

const runLocationCommand = (args: string[]) => runTestLocationCommand(args, environment.variables);

async function pushTill({ request }: TestLocation): Promise<string> {
  const tillId = randomUUID();
  const body = generateTill({ seed: 1, tillId, orders: 4, day: "2026-04-01" });
  expect((await request("POST", "/v2/tills/", { body })).status).toBe(201);
  return tillId;
}

/** Stores data of the location in all services, among them a packed till, a pending delivery and a delayed job. */
async function storeDataOfAllServices(): Promise<void> {
  const tillIds = [await pushTill(location), await pushTill(location)];
  await pushTill(otherLocation);
  await Promise.all([location.waitForReports(2), otherLocation.waitForReports(1)]);
  await packTestTill(environment, tillIds[0] ?? "");
  const catalog = buildRestaurantCatalog(generateRestaurant("removal"));
  expect((await location.request("PUT", "/v1/catalog/", { body: catalog })).status).toBe(200);
  const config = await location.create("/v1/accounting/configs", { name: "Cabinet Martin" });
  const item = { tillId: tillIds[1], accountingConfigId: config.id, accountingProvider: "FULLL" };
  const { id: exportId } = await location.create("/v1/accounting/exports", [item]);
  await eventually("the accounting export", async () => {
    const { state } = await location.getJson<{ state: string }>(`/v1/accounting/exports/${exportId}`);
    return state === "done";
  });
  await location.create("/v1/jobs", { message: "Later", jobOptions: { delay: 3_600_000 } });
  const recipient = await location.create("/v1/recipients/", { name: "Stock" });
  await location.create("/v1/webhooks/", {
    ...{ recipientId: recipient.id, events: ["order.paid"] },
    endpointUrl: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/stock`,
  });
  await sendTestPaidLiveOrders(location, { orders: 1, batchSize: 1, perSecond: 100 });
  await eventually("a pending delivery", async () => {
    const pending = await sql`select from ${sql(schemaOf("webhooks"))}.webhook_deliveries where state = 'pending'`;
    return pending.count > 0;
  });
}

/** Waits until no service has events to publish or to handle. */
async function waitUntilEventsAreHandled(): Promise<void> {
  const streams = await createTestEventStreamAdmin(environment);
  try {
    await eventually("all events to be handled", async () => {
      for (const service of serviceNames)
        if ((await sql`select from ${sql(schemaOf(service))}.outbox limit 1`).count > 0) return false;
      return streams.isFullyConsumed();
    });
  } finally {
    await streams.close();
  }
}

/** Pushes tills until their key is revoked, or `isEnded` returns true. Returns the statuses of the responses. */
async function pushTills(path: string, key: string, isEnded: () => boolean): Promise<Set<number>> {
  const statuses = new Set<number>();
  while (!isEnded()) {
    const body = generateTill({ seed: 1, tillId: randomUUID(), orders: 1, day: "2026-04-05" });
    const { status } = await location.request("POST", path, { body, key });
    statuses.add(status);
    // Further requests with a revoked key would be limited.
    if (status === 401) break;
    await sleep(50);
  }
  return statuses;
}

/** The times after which a removal is killed, one after the other. */
const killTimesMs = [500, 1_000, 1_500, 2_000, 2_500, 3_000, 4_000];

/** Starts a removal again and again, and kills it after ever longer times, until one ends by itself. Returns the kills. */
async function removeWithKills(locationId: string): Promise<number> {
  for (let kills = 0; ; ) {
    const command = spawn(process.execPath, [opsProgram, "location", "remove", locationId, "--yes", locationId], {
      ...{ env: { PATH: process.env.PATH, ...environment.variables }, stdio: ["ignore", "ignore", "pipe"] },
    });
    const exited = once(command, "exit");
    const messages = text(command.stderr);
    const killTimeMs = killTimesMs[kills];
    if (killTimeMs !== undefined) {
      await Promise.race([exited, sleep(killTimeMs)]);
      command.kill("SIGKILL");
    }
    const [code] = await exited;
    if (code === 0) return kills;
    // PostgreSQL holds the lock of a killed command until its last statement has ended. Another error would be repeated.
    if (code === null) kills += 1;
    else expect(await messages).toContain("Another command is removing this location.");
  }
}

/** Begins to pack a till, up to the upload of its object. */
async function startPacking(tillId: string, locationId: string) {
  const upload = new EventEmitter();
  const begun = once(upload, "begin");
  const ended = once(upload, "end");
  const slowObjects: CompressingObjectStore = {
    ...objects,
    async put(objectKey, bytes) {
      upload.emit("begin", objectKey);
      await ended;
      await objects.put(objectKey, bytes);
    },
  };
  const packed = packTill({ db: reporting, objects: slowObjects }, { locationId, tillId });
  return {
    objectKey: String((await begun)[0]),
    finish() {
      upload.emit("end");
      return packed;
    },
  };
}

describe("npm run ops -- location remove", () => {
  it("removes nothing unless the id or the name of the location is repeated", async () => {
    for (const confirmation of [[], ["--yes", "another"]])
      await expect(runLocationCommand(["remove", location.locationId, ...confirmation])).rejects.toThrow(
        /repeat its id or name/,
      );
    await expect(runLocationCommand(["remove", randomUUID(), "--yes", "x"])).rejects.toThrow(/does not exist/);
    expect((await location.request("GET", "/v2/reports")).status).toBe(200);
  });

  it("removes everything of a location, while points of sale push and although it is killed at any moment", async () => {
    const { locationId } = location;
    const feedPath = "/v1/changes/?allLocations=true&size=1000";
    const { data: known } = await location.getJson<ChangePage>(feedPath, product.adminKey);
    const { nextCursor } = await location.getJson<ChangePage>(`${feedPath}&after=now`, product.adminKey);
    let isRemoved = false;
    const pushing = [
      pushTills("/v2/tills/", location.key, () => isRemoved),
      pushTills(`/v2/tills/?locationId=${locationId}`, product.adminKey, () => isRemoved),
    ];
    try {
      expect(await removeWithKills(locationId)).toBeGreaterThan(2);
    } finally {
      isRemoved = true;
    }
    const statuses = (await Promise.all(pushing)).flatMap((each) => [...each]);
    expect([...new Set(statuses)].sort()).toEqual([201, 401, 404]);
    await waitUntilEventsAreHandled();

    const receipt = await runLocationCommand(["remove", locationId, "--yes", locationId]);
    expect(receipt).toMatchObject({ locationId, removedAt: expect.any(String) });
    for (const table of [
      "reporting.orders",
      "reporting.packed_tills",
      "reporting.export_files",
      "webhooks.webhook_deliveries",
      "jobs.location_jobs",
    ])
      expect(receipt.rows[table], table).toBeGreaterThanOrEqual(countsBefore[table] ?? Number.NaN);
    expect(receipt.objects).toBeGreaterThanOrEqual(4);
    const kept = /^accounts\.outbox$|\.sent_events$|\.daily_usage$/;
    const left = Object.keys(await runLocationCommand(["count", locationId])).filter((name) => !kept.test(name));
    expect(left).toEqual([]);
    expect((await location.request("GET", "/v2/reports")).status).toBe(401);
    const { revision: lastRevision = 0 } = known.find(({ type, id }) => type === "location" && id === locationId) ?? {};
    // A follower that begins again, and one that continues.
    for (const after of ["", `&after=${nextCursor}`]) {
      const feed = await location.getJson<ChangePage>(feedPath + after, product.adminKey);
      expect(feed.data.filter((change) => change.locationId === locationId)).toMatchObject([
        { type: "location", id: locationId, action: "removed", revision: lastRevision + 1 },
      ]);
    }
    const folder = environment.variables.OBJECT_STORE?.slice("file:".length) ?? "";
    expect(await readdir(join(folder, "tills"))).toContain(otherLocation.locationId);
    // No other location has exports, so that even the folder is gone.
    expect(await readdir(folder)).not.toContain("accounting");
    const storingTill = sql.begin(async (tx) => {
      await tx`select set_config('search_path', ${schemaOf("till-ingest")}, true)`;
      const pendingUploads = await tx`select key from pending_uploads`;
      expect(pendingUploads.every(({ key }) => key.startsWith(`tills/${locationId}/`))).toBe(true);
      await tx`insert into till_directory values (${randomUUID()}, ${locationId})`;
    });
    await expect(storingTill).rejects.toThrow("the location was removed");
    const stored = await sql`select removed_at, receipt from ${sql(schemaOf("accounts"))}.removed_locations`;
    expect(stored).toEqual([{ removed_at: new Date(receipt.removedAt), receipt }]);
    expect((await otherLocation.request("GET", "/v2/reports")).status).toBe(200);
  }, 120_000);

  it("deletes the objects of unpacked tills, and leaves that of a till that is being packed to its task", async () => {
    const removed = await createTestLocation(product);
    const { locationId } = removed;
    const tillIds = [await pushTill(removed), await pushTill(removed)];
    await removed.waitForReports(2);
    await packTestTill(environment, tillIds[0] ?? "");
    const unpackedKey = `packed/${locationId}/unpacked`;
    await objects.put(unpackedKey, Buffer.from("{}"));
    await reporting.sql`
      insert into unused_objects values (${locationId}, ${unpackedKey}, now() + interval '1 day')`;
    const packing = await startPacking(tillIds[1] ?? "", locationId);

    const receipt = await runLocationCommand(["remove", locationId, "--yes", locationId]);
    // The bodies of two tills, a packed till, and the object of the till that was unpacked.
    expect(receipt.objects).toBe(4);
    expect(receipt.events).toBeGreaterThan(0);
    await expect(objects.get(unpackedKey)).rejects.toThrow();
    expect(await reporting.sql`select object_key from unused_objects where location_id = ${locationId}`).toEqual([
      { objectKey: packing.objectKey },
    ]);
    expect(await packing.finish()).toBe(false);
    expect(await objects.get(packing.objectKey)).toBeDefined();
    await reporting.sql`
      update unused_objects set delete_after = now() - interval '1 second' where location_id = ${locationId}`;
    await deleteUnusedObjectsTask.run({ db: reporting, objects, log });
    // The task of the running product may have taken the object.
    await eventually("the deletion of the object", async () => !(await objects.has(packing.objectKey)));
  }, 60_000);

  it("keeps what a business with other locations has reported", async () => {
    const { siren, siretCode } = buildCompanyNumbers(randomInt(20_000, 40_000));
    const [kept, removed] = await Promise.all(
      [0, 1].map(() => createTestLocation(product, { scopes: ["tills:write", "reports:read"] })),
    );
    if (!kept || !removed) throw new Error("The locations were not created.");
    for (const each of [kept, removed]) {
      const till = { ...generateTill({ seed: 1, tillId: randomUUID(), orders: 4, day: "2026-04-01" }), siretCode };
      expect((await each.request("POST", "/v2/tills/", { body: till })).status).toBe(201);
      await each.waitForReports(1);
    }
    const key = product.adminKey;
    const body = { companyName: "Two", vatRegime: "monthly", platform: { number: "0123", name: "Platform" } };
    await kept.request("PUT", `/v1/e-reporting/declarants/${siren}`, { body, key });
    const read = async () => {
      const response = await kept.request("GET", `/v1/e-reports/${siren}/transactions/2026-04-01`, { key });
      return EReport.parse(await response.json()).transactions;
    };
    const before = await read();
    expect(before[0]?.tills).toHaveLength(2);
    await runLocationCommand(["remove", removed.locationId, "--yes", removed.locationId]);
    expect(await read()).toEqual(before);
  });

  it("refuses to run when it is not decided whether a column names objects of a location", async () => {
    const listObjects = () =>
      Readable.from(
        listLocationObjects(reporting.sql, { service: "reporting", locationId: otherLocation.locationId }),
      ).toArray();
    expect(await listObjects()).toEqual([]);
    await reporting.sql`create table undecided (location_id uuid not null, object_key text)`;
    try {
      await expect(listObjects()).rejects.toThrow(/reporting\.undecided\.object_key names objects/);
    } finally {
      await reporting.sql`drop table undecided`;
    }
  });
});

describe("the commands of operators", () => {
  it("name the folder that contains no backup", async () => {
    const folder = join(tmpdir(), randomUUID());
    await expect(
      restoreDatabaseAndTillBackup(readDataStoresConfig(environment.variables), { folder, log: () => {} }),
    ).rejects.toThrow(`The folder ${folder} does not contain a backup`);
  });

  it("name the variable of a database that cannot be reached", async () => {
    const unreachable = {
      ...environment.variables,
      WEBHOOKS_DATABASE_URL: "postgres://user:secret@127.0.0.1:1/webhooks",
    };
    const { locationId } = otherLocation;
    for (const commandLine of [
      ["count", locationId],
      ["remove", locationId, "--yes", locationId],
    ]) {
      const error = await runTestLocationCommand(commandLine, unreachable).catch((reason: Error) => reason.message);
      expect(error).toMatch(/^The database 127\.0\.0\.1:1\/webhooks cannot be reached with the URL in WEBHOOKS_/);
      expect(error).not.toContain("secret");
    }
  });
});
