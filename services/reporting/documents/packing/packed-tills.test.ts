import { rename, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { operatorCommandAuditSource } from "@pragma/runtime/messaging/audit-events";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { reportingServiceConfigSchema } from "../../config.ts";
import { publishErasureEvents } from "../../retention/request-erasure.ts";
import { readEverything } from "../../testing/read-everything.ts";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../../testing/start-test-reporting.ts";
import { buildTestOrder, buildTestTill } from "../../testing/till-fixtures.ts";
import { deleteUnusedObjectsTask } from "../periodic/delete-unused-objects.ts";
import { packTillsTask } from "../periodic/pack-tills.ts";
import { countTillsToPack } from "../queries/reports.ts";
import { packTill } from "./pack-till.ts";
import { unpackTill } from "./unpack-till.ts";

type TestTill = ReturnType<typeof buildTestTill>;
type TestPrincipal = ReturnType<typeof buildTestPrincipalWithScopes>;

let service: TestReportingService;
const config = reportingServiceConfigSchema.parse({ OBJECT_STORE: "file:/unused" });
const log = createLogger({ name: "test", level: "silent" });
const services = () => ({ db: service.db, objects: service.objects, config, log });
const newPrincipal = () => buildTestPrincipalWithScopes("reports:read", "orders:read");

beforeAll(async () => {
  // The service itself packs nothing, so that each test decides when a till is packed.
  service = await startTestReportingService({ HOT_DAYS: "36500" });
});
afterAll(() => service?.remove());

/** A till of a shift that ended years ago, whose orders were opened on two days. */
function buildOldTill(
  orderCount: number,
  { sharedOrder }: { sharedOrder?: ReturnType<typeof buildTestOrder> } = {},
): TestTill {
  const orders = Array.from({ length: orderCount }, (_, index) =>
    buildTestOrder({
      openedAt: `2020-03-0${1 + (index % 2)}T1${index % 9}:00:00.000Z`,
      deviceName: `Table “${index}” – é`,
    }),
  );
  return buildTestTill(sharedOrder ? [...orders, sharedOrder] : orders, { startedAt: "2020-03-01T08:00:00.000Z" });
}

async function pushOldTill(principal: TestPrincipal, till: TestTill): Promise<void> {
  await service.pushTills([till], principal.location.id);
  await makeOld(principal);
}

/** Lets the packing task believe that the reports of a location were stored two days ago. */
async function makeOld(principal: TestPrincipal): Promise<void> {
  await service.db.sql`
    update reports set updated_at = now() - interval '2 days' where location_id = ${principal.location.id}`;
}

const keyOf = (principal: TestPrincipal, till: TestTill) => ({ locationId: principal.location.id, tillId: till.id });

async function isPacked(principal: TestPrincipal, till: TestTill): Promise<boolean> {
  const { locationId, tillId } = keyOf(principal, till);
  const [row] = await service.db.sql<{ orders: number; packed: number; texts: number }[]>`
    select (select count(*) from orders where location_id = ${locationId} and till_id = ${tillId}) as orders,
      (select count(*) from packed_tills where location_id = ${locationId} and till_id = ${tillId}) as packed,
      (select count(v2) + count(v0) from reports where location_id = ${locationId} and till_id = ${tillId}) as texts`;
  if (row?.packed) expect(row).toEqual({ orders: 0, packed: 1, texts: 0 });
  return row?.packed === 1;
}

describe("packTillsTask", () => {
  it("packs old tills, and all replies stay the same", async () => {
    const principal = newPrincipal();
    const [old, other] = [buildOldTill(23), buildOldTill(4)];
    const recent = buildTestTill([buildTestOrder({ openedAt: new Date().toISOString() })], {
      startedAt: new Date().toISOString(),
    });
    for (const till of [old, other, recent]) await pushOldTill(principal, till);
    const before = await readEverything(service, principal, [old, other, recent]);
    await packTillsTask.run(services());
    for (const till of [old, other]) expect(await isPacked(principal, till)).toBe(true);
    expect(await isPacked(principal, recent)).toBe(false);
    expect(await readEverything(service, principal, [old, other, recent])).toEqual(before);
    expect(Object.values(before).filter((reply) => (reply as { status: number }).status !== 200)).toEqual([]);
    for (const till of [old, other]) await unpackTill(services(), keyOf(principal, till));
    expect(await isPacked(principal, old)).toBe(false);
    expect(await readEverything(service, principal, [old, other, recent])).toEqual(before);
    // Otherwise, a till that shares orders with many packed tills would unpack them again and again.
    await packTillsTask.run(services());
    for (const till of [old, other]) expect(await isPacked(principal, till)).toBe(false);
  });

  it("reads pages that extend over several days, of packed tills and others", async () => {
    const principal = newPrincipal();
    const buildTill = (hour: number) =>
      buildTestTill(
        Array.from({ length: 12 }, (_, index) =>
          buildTestOrder({ openedAt: `2020-03-${10 + Math.floor(index / 2)}T${hour}:0${index % 2}:00.000Z` }),
        ),
        { startedAt: "2020-03-10T08:00:00.000Z" },
      );
    const tills = [10, 11, 12].map(buildTill);
    for (const till of tills) await pushOldTill(principal, till);
    const readPages = async () => {
      const pages: unknown[] = [];
      const read = async (path: string) => {
        const text = await (await service.request("GET", path, { principal })).text();
        pages.push([path, text]);
        return JSON.parse(text) as { nextPageToken: string | null };
      };
      for (const size of [1, 5, 7, 30]) {
        for (let index = 0; index < 8; index += 1) await read(`/v1/orders/?size=${size}&index=${index}`);
        let page = await read(`/v1/orders/?size=${size}&until=2020-03-14`);
        while (page.nextPageToken)
          page = await read(`/v1/orders/?size=${size}&until=2020-03-14&pageToken=${page.nextPageToken}`);
      }
      return pages;
    };
    const before = await readPages();
    for (const till of tills) {
      await packTill(services(), keyOf(principal, till));
      expect(await readPages()).toEqual(before);
    }
  });

  it("leaves tills that changed in the last 24 hours, and tills of the last HOT_DAYS days", async () => {
    const principal = newPrincipal();
    const till = buildOldTill(1);
    await service.pushTills([till], principal.location.id);
    await packTillsTask.run(services());
    expect(await isPacked(principal, till)).toBe(false);
    await makeOld(principal);
    await packTillsTask.run({ ...services(), config: { ...config, HOT_DAYS: 36_500 } });
    expect(await isPacked(principal, till)).toBe(false);
    await packTillsTask.run(services());
    expect(await isPacked(principal, till)).toBe(true);
  });
});

describe("packTillsTask, at an error", () => {
  it("tries a till whose statements take too long again after a day, and the others after an outage", async () => {
    const principal = newPrincipal();
    const [large, other] = [buildOldTill(1), buildOldTill(1)];
    for (const till of [large, other]) await pushOldTill(principal, till);
    const failingFor = (tills: TestTill[], code: string) => {
      const put = async (key: string, bytes: Uint8Array) => {
        if (tills.some(({ id }) => key.includes(id)))
          throw Object.assign(new postgres.PostgresError("canceled" as never), { code });
        await service.objects.put(key, bytes);
      };
      return { ...services(), objects: { ...service.objects, put } };
    };
    await expect(packTillsTask.run(failingFor([large, other], "57P01"))).rejects.toThrow();
    expect(await isPacked(principal, other)).toBe(false);
    await packTillsTask.run(failingFor([large], "57014"));
    expect([await isPacked(principal, large), await isPacked(principal, other)]).toEqual([false, true]);
    const countWaiting = () => countTillsToPack(service.db.sql, { hotDays: config.HOT_DAYS, limit: 1_000 });
    expect(await countWaiting()).toBe(1);
    const now = Date.now();
    try {
      for (const [hours, isLargePacked] of [
        [23, false],
        [25, true],
      ] as const) {
        vi.spyOn(Date, "now").mockReturnValue(now + hours * 3_600_000);
        await packTillsTask.run(services());
        expect(await isPacked(principal, large)).toBe(isLargePacked);
      }
    } finally {
      vi.restoreAllMocks();
    }
    expect(await countWaiting()).toBe(0);
  });
});

describe("a packed till", () => {
  it("answers conditional requests with 304, and is not visible to other locations", async () => {
    const principal = newPrincipal();
    const till = buildOldTill(2);
    await pushOldTill(principal, till);
    await packTill(services(), keyOf(principal, till));
    const paths = [`/v2/orders/${till.orderList[0]?.id}`, `/v1/reports/${computeTillReportId(till.id)}`];
    for (const path of paths) {
      const etag = (await service.request("GET", path, { principal })).headers.get("etag") ?? "";
      const repeated = await service.request("GET", path, { principal, headers: { "if-none-match": etag } });
      expect(repeated.status).toBe(304);
      expect((await service.request("GET", path, { principal: newPrincipal() })).status).toBe(404);
      const { location: _, ...withoutLocation } = principal;
      const operator = { ...withoutLocation, location: null, scopes: [...principal.scopes, "locations:any" as const] };
      expect((await service.request("GET", path, { principal: operator })).status).toBe(200);
    }
  });

  it("keeps entity tags that were computed otherwise, and tags of ids in capital letters", async () => {
    const principal = newPrincipal();
    const till = buildOldTill(2);
    await pushOldTill(principal, till);
    const paths = till.orderList.map(({ id }) => `/v1/orders/${id.toUpperCase()}`);
    const readTags = () =>
      Promise.all(paths.map(async (path) => (await service.request("GET", path, { principal })).headers.get("etag")));
    const tags = await readTags();
    await packTill(services(), keyOf(principal, till));
    expect(await readTags()).toEqual(tags);
    await unpackTill(services(), keyOf(principal, till));
    await service.db.sql`update orders set etag = 'earlier' || left(id::text, 8) where till_id = ${till.id}`;
    const earlierTags = await readTags();
    expect(earlierTags[0]).toContain("earlier");
    await packTill(services(), keyOf(principal, till));
    expect(await readTags()).toEqual(earlierTags);
    await unpackTill(services(), keyOf(principal, till));
    expect(await readTags()).toEqual(earlierTags);
  });

  it("is reported as temporarily unavailable while the object store is, and read afterwards", async () => {
    const principal = newPrincipal();
    const till = buildOldTill(2);
    await pushOldTill(principal, till);
    await packTill(services(), keyOf(principal, till));
    const paths = [`/v1/orders/${till.orderList[0]?.id}`, "/v1/orders/", "/v1/reports/"];
    const readStatuses = () =>
      Promise.all(paths.map(async (path) => (await service.request("GET", path, { principal })).status));
    const folder = fileURLToPath(service.environment.variables.OBJECT_STORE ?? "");
    await rename(folder, `${folder}-away`);
    try {
      expect(await readStatuses()).toEqual([503, 503, 503]);
    } finally {
      await rm(folder, { recursive: true, force: true });
      await rename(`${folder}-away`, folder);
    }
    expect(await readStatuses()).toEqual([200, 200, 200]);
  });

  it("is unpacked when it is replaced, and its object is deleted a day later", async () => {
    const principal = newPrincipal();
    const till = buildOldTill(3);
    await pushOldTill(principal, till);
    await packTill(services(), keyOf(principal, till));
    const [{ objectKey = "" } = {}] = await service.db.sql<{ objectKey: string }[]>`
      select object_key from packed_tills where till_id = ${till.id}`;
    await service.pushTills([till], principal.location.id, { revision: 2 });
    expect(await isPacked(principal, till)).toBe(false);
    await deleteUnusedObjectsTask.run(services());
    expect((await service.objects.get(objectKey)).byteLength).toBeGreaterThan(0);
    await service.db.sql`
      update unused_objects set delete_after = now() - interval '1 second' where object_key = ${objectKey}`;
    await deleteUnusedObjectsTask.run(services());
    await expect(service.objects.get(objectKey)).rejects.toThrow("no object");
    expect(await service.db.sql`select from unused_objects where object_key = ${objectKey}`).toHaveLength(0);
  });

  it("is unpacked when another till contains one of its orders, which stays unique", async () => {
    const principal = newPrincipal();
    const sharedOrder = buildTestOrder({ openedAt: "2020-03-02T12:00:00.000Z" });
    const [first, second] = [buildOldTill(2, { sharedOrder }), buildOldTill(2, { sharedOrder })];
    await pushOldTill(principal, first);
    const createdAt = await readCreationTime(principal, sharedOrder.id);
    await packTill(services(), keyOf(principal, first));
    await pushOldTill(principal, second);
    expect(await isPacked(principal, first)).toBe(false);
    expect(await readCreationTime(principal, sharedOrder.id)).toBe(createdAt);
    // Both are packed, one of them with a copy that is not current.
    for (const till of [first, second]) await packTill(services(), keyOf(principal, till));
    const list = await service.request("GET", "/v1/orders/?size=100", { principal });
    const { data, meta } = (await list.json()) as { data: { id: string }[]; meta: { totalCount: number } };
    expect(data.filter(({ id }) => id === sharedOrder.id)).toHaveLength(1);
    expect([data.length, meta.totalCount]).toEqual([5, 5]);
    // In training mode, the second till has no orders, so the first till's copy becomes current again.
    await service.pushTills([{ ...second, isTraining: true }], principal.location.id, { revision: 2 });
    expect((await service.request("GET", `/v1/orders/${sharedOrder.id}`, { principal })).status).toBe(200);
    expect(await isPacked(principal, first)).toBe(false);
  });

  it("is read by operators before an order of another location with the same id that was pushed earlier", async () => {
    const [principal, other] = [newPrincipal(), newPrincipal()];
    const order = buildTestOrder({ openedAt: "2020-03-02T12:00:00.000Z" });
    await pushOldTill(other, buildOldTill(1, { sharedOrder: { ...order, tableName: "pushed earlier" } }));
    const till = buildOldTill(1, { sharedOrder: { ...order, tableName: "pushed later" } });
    await pushOldTill(principal, till);
    const { location: _, ...withoutLocation } = principal;
    const operator = { ...withoutLocation, location: null, scopes: [...principal.scopes, "locations:any" as const] };
    const readTable = async () => {
      const response = await service.request("GET", `/v2/orders/${order.id}`, { principal: operator });
      return ((await response.json()) as { tableName: string }).tableName;
    };
    expect(await readTable()).toBe("pushed later");
    await packTill(services(), keyOf(principal, till));
    expect(await readTable()).toBe("pushed later");
  });

  it("is found by a request to erase personal data", async () => {
    const principal = newPrincipal();
    const till = buildOldTill(2);
    await pushOldTill(principal, till);
    await packTill(services(), keyOf(principal, till));
    const locationId = principal.location.id;
    const orderIds = [till.orderList[0]?.id ?? ""];
    expect(await publishErasureEvents(service.db, { locationId, orderIds }, operatorCommandAuditSource)).toEqual({
      ...{ tills: 1, orderIdsWithoutTill: [] },
    });
    expect(
      await publishErasureEvents(service.db, { locationId, before: "2099-01-01" }, operatorCommandAuditSource),
    ).toEqual({
      tills: 1,
    });
  });
});

async function readCreationTime(principal: TestPrincipal, id: string): Promise<string> {
  const response = await service.request("GET", `/v1/orders/${id}`, { principal });
  return ((await response.json()) as { createdAt: string }).createdAt;
}

describe("packTill", () => {
  it("can run again after it died at any call of the object store", async () => {
    const principal = newPrincipal();
    const till = buildOldTill(3);
    await pushOldTill(principal, till);
    const before = await readEverything(service, principal, [till]);
    for (const method of ["put", "get"] as const) {
      const objects = { ...service.objects, [method]: () => Promise.reject(new Error("the process died")) };
      await expect(packTill({ ...services(), objects }, keyOf(principal, till))).rejects.toThrow("the process died");
      expect(await readEverything(service, principal, [till])).toEqual(before);
    }
    expect(await packTill(services(), keyOf(principal, till))).toBe(true);
    expect(await readEverything(service, principal, [till])).toEqual(before);
    expect(await packTill(services(), keyOf(principal, till))).toBe(false);
  });

  it("packs nothing if the object store returns other bytes than were stored", async () => {
    const principal = newPrincipal();
    const till = buildOldTill(1);
    await pushOldTill(principal, till);
    const objects = { ...service.objects, get: async () => Buffer.from("damaged") };
    await expect(packTill({ ...services(), objects }, keyOf(principal, till))).rejects.toThrow("not stored correctly");
    expect(await isPacked(principal, till)).toBe(false);
  });

  it("packs nothing if the till changes, or its upload expires, before the rows are replaced", async () => {
    const principal = newPrincipal();
    const till = buildOldTill(2);
    await pushOldTill(principal, till);
    const { sql } = service.db;
    const changes = [
      () => service.pushTills([till], principal.location.id, { revision: 2 }),
      () => sql`update orders set is_current = false where till_id = ${till.id}`,
      () => sql`delete from unused_objects`,
      // The task that deletes the object may have died before it deleted the row.
      () => sql`update unused_objects set delete_after = now() - interval '1 second'`,
    ];
    for (const change of changes) {
      const get = async (key: string) => {
        const bytes = await service.objects.get(key);
        await change();
        return bytes;
      };
      expect(await packTill({ ...services(), objects: { ...service.objects, get } }, keyOf(principal, till))).toBe(
        false,
      );
      expect(await isPacked(principal, till)).toBe(false);
    }
  });

  it("lists an object for deletion whose upload ended after the object was deleted", async () => {
    const principal = newPrincipal();
    const till = buildOldTill(1);
    await pushOldTill(principal, till);
    const { sql } = service.db;
    const put = async (key: string, bytes: Uint8Array) => {
      await sql`update unused_objects set delete_after = now() - interval '1 second' where object_key = ${key}`;
      await deleteUnusedObjectsTask.run(services());
      await service.objects.put(key, bytes);
    };
    const objects = { ...service.objects, put };
    expect(await packTill({ ...services(), objects }, keyOf(principal, till))).toBe(false);
    expect(await sql`select from unused_objects where location_id = ${principal.location.id}`).toHaveLength(1);
  });

  it("packs a till without orders once when two instances pack it at the same time", async () => {
    const principal = newPrincipal();
    const till = buildTestTill([], { startedAt: "2020-03-01T08:00:00.000Z" });
    await pushOldTill(principal, till);
    const get = async (key: string) => {
      expect(await packTill(services(), keyOf(principal, till))).toBe(true);
      return service.objects.get(key);
    };
    const objects = { ...service.objects, get };
    expect(await packTill({ ...services(), objects }, keyOf(principal, till))).toBe(false);
    expect(await isPacked(principal, till)).toBe(true);
  });

  it("keeps the till unchanged at a crash before the commit, and repeats a push at which unpacking failed", async () => {
    const principal = newPrincipal();
    const till = buildOldTill(2);
    await pushOldTill(principal, till);
    await packTill(services(), keyOf(principal, till));
    const before = await readEverything(service, principal, [till]);
    const get = () => Promise.reject(new Error("the process died"));
    await expect(
      unpackTill({ ...services(), objects: { ...service.objects, get } }, keyOf(principal, till)),
    ).rejects.toThrow();
    expect(await readEverything(service, principal, [till])).toEqual(before);
    await Promise.all([1, 2].map(() => unpackTill(services(), keyOf(principal, till))));
    expect(await readEverything(service, principal, [till])).toEqual(before);
  });

  it("neither loses nor doubles orders while tills are pushed, packed, unpacked and read", async () => {
    const principal = newPrincipal();
    const locationId = principal.location.id;
    const tills = [buildOldTill(8), buildOldTill(5), buildOldTill(3)];
    await service.pushTills(tills, locationId);
    const ids = tills.flatMap(({ orderList }) => orderList.map(({ id }) => id)).sort();
    let isDone = false;
    const faults: unknown[] = [];
    const readUntilDone = async () => {
      while (!isDone) {
        const response = await service.request("GET", "/v1/orders/?size=100", { principal });
        const { data } = (await response.json()) as { data: { id: string }[] };
        const listed = data.map(({ id }) => id).sort();
        if (JSON.stringify(listed) !== JSON.stringify(ids)) faults.push(listed);
        const id = ids[Math.floor(Math.random() * ids.length)];
        const single = await service.request("GET", `/v2/orders/${id}`, { principal });
        if (single.status !== 200 || ((await single.json()) as { id: string }).id !== id)
          faults.push(id, single.status);
      }
    };
    const reading = [readUntilDone(), readUntilDone()];
    for (let round = 0; round < 12; round += 1) {
      await Promise.all([
        ...tills.map((till) =>
          (Math.random() < 0.6 ? packTill : unpackTill)(services(), { locationId, tillId: till.id }),
        ),
        round % 5 === 0 ? service.pushTills(tills.slice(0, 2), locationId, { revision: round + 2 }) : undefined,
      ]);
    }
    isDone = true;
    await Promise.all(reading);
    expect(faults).toEqual([]);
    await eventually("all tills to be packed", async () => {
      for (const till of tills) await packTill(services(), { locationId, tillId: till.id });
      return (await Promise.all(tills.map((till) => isPacked(principal, till)))).every(Boolean);
    });
  });

  it("never refers to a deleted object, even if objects expire at once while two instances pack", async () => {
    const principal = newPrincipal();
    const locationId = principal.location.id;
    const tills = [buildOldTill(3), buildOldTill(2), buildTestTill([], { startedAt: "2020-03-03T08:00:00.000Z" })];
    for (const till of tills) await pushOldTill(principal, till);
    const before = await readEverything(service, principal, tills);
    const { sql } = service.db;
    let isDone = false;
    const deleteUntilDone = async () => {
      while (!isDone) {
        await sql`
          update unused_objects set delete_after = now() where location_id = ${locationId} and random() < 0.2`;
        await deleteUnusedObjectsTask.run(services());
      }
    };
    const deleting = [deleteUntilDone(), deleteUntilDone()];
    let packedCount = 0;
    for (let round = 0; round < 10; round += 1) {
      const packed = await Promise.all(
        // The object can be deleted before it has been verified.
        [...tills, ...tills].map((till) => packTill(services(), keyOf(principal, till)).catch(() => false)),
      );
      packedCount += packed.filter(Boolean).length;
      if (round % 5 === 4) expect(await readEverything(service, principal, tills)).toEqual(before);
      await Promise.all(
        [...tills, ...tills].map((till) => unpackTill(services(), keyOf(principal, till)).catch(() => {})),
      );
    }
    isDone = true;
    await Promise.all(deleting);
    expect(packedCount).toBeGreaterThan(3);
    expect(packedCount).toBeLessThan(10 * tills.length);
    expect(await readEverything(service, principal, tills)).toEqual(before);
  }, 120_000);
});
