import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import calculateTill, { type TillDocuments } from "@pragma/reporting/calculate-till";
import { compressDayText } from "@pragma/reporting/days/day-texts";
import { buildContentVersion, computeDocumentTag } from "@pragma/reporting/documents/entity-tags";
import {
  addBlockChecksum,
  encodeOrderBlock,
  encodeReportBlock,
  maxOrdersPerBlock,
  type PackedOrderTexts,
  verifyBlockChecksum,
} from "@pragma/reporting/documents/packing/pack-format";
import { packTill } from "@pragma/reporting/documents/packing/pack-till";
import { unpackTill } from "@pragma/reporting/documents/packing/unpack-till";
import { findPackedTill, replaceTillByPackedTill } from "@pragma/reporting/documents/queries/packed-tills";
import { upsertReportRow } from "@pragma/reporting/documents/queries/reports";
import { replaceTillMetrics } from "@pragma/reporting/metrics/queries/metrics";
import { replaceDocuments } from "@pragma/reporting/store-report";
import { Admission } from "@pragma/runtime/admission/admission";
import { createDatabasePool, type Database } from "@pragma/runtime/database/postgres";
import { joinJsonObjectTexts } from "@pragma/runtime/json/join-json";
import { type CompressingObjectStore, createObjectStore } from "@pragma/runtime/object-store/object-store";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import type { BenchEnvironment } from "./bench-environment.ts";
import { toCalculatedTill } from "./calculated-till.ts";
import { getBenchOrderHistoryDate } from "./order-history.ts";
import { benchBusyShiftTillJson } from "./sample-tills.ts";

const ordersPerHistoryTill = maxOrdersPerBlock;
const tillsPerDay = 3;
/** Pages of this size repeat the same contents after three pages, so the sizes of pages hardly differ. */
const pageSize = 100;
/** Tills that are written at a time. Compression uses the threads of libuv's pool, of which there are four. */
const maxConcurrentTills = 4;

/** A long history of a location, of which only the last days are not packed. */
export interface PackedOrderHistory {
  locationId: string;
  orders: number;
  /** The orders of the days that are not packed. */
  hotOrders: number;
  /** A till that is packed. */
  packedTillId: string;
  /** Some orders of packed tills, with the responses that reads must return. */
  samples: { id: string; v1: string; v2: string }[];
}

/** The reporting database and object store of a product, to which a history is written by the product's own functions. */
export interface PackedOrderHistoryStores {
  db: Database;
  objects: CompressingObjectStore;
  close(): Promise<void>;
}

export function openPackedOrderHistoryStores(
  { folder, urls }: Pick<BenchEnvironment, "folder" | "urls">,
  namespace: string,
): PackedOrderHistoryStores {
  const log = createLogger({ name: "bench", level: "silent" });
  const db = createDatabasePool(
    { DATABASE_URL: urls.DATABASE_URL, DATABASE_POOL: maxConcurrentTills },
    { schema: buildServiceSchemaName(namespace, "reporting"), log },
  );
  const objects = createObjectStore(`file:${join(folder, namespace, "objects")}`);
  return {
    ...{ db, objects },
    async close() {
      await db.close();
      await objects.close();
    },
  };
}

/**
 * Writes the history of a new location: `days` days of three tills of 150 real orders. The last `hotDays` days are stored
 * as pushed tills are. Earlier days are packed directly, because storing them first would take several times as long.
 */
export async function seedPackedOrderHistory(
  stores: PackedOrderHistoryStores,
  { days, hotDays }: { days: number; hotDays: number },
  reportProgress: (detail: string) => void,
): Promise<PackedOrderHistory> {
  const locationId = randomUUID();
  const template = calculateTemplate(locationId);
  const tills = Array.from({ length: days * tillsPerDay }, (_, index) => ({
    daysAgo: days - 1 - Math.floor(index / tillsPerDay),
    indexOfDay: index % tillsPerDay,
  }));
  const history: PackedOrderHistory = {
    locationId,
    orders: tills.length * ordersPerHistoryTill,
    hotOrders: hotDays * tillsPerDay * ordersPerHistoryTill,
    packedTillId: "",
    samples: [],
  };
  const semaphore = new Admission({ perProcess: maxConcurrentTills });
  let written = 0;
  await Promise.all(
    tills.map(({ daysAgo, indexOfDay }) =>
      semaphore.run(async () => {
        const till = buildHistoryTill(template, { locationId, day: getBenchOrderHistoryDate(daysAgo), indexOfDay });
        const isPacked = daysAgo >= hotDays;
        await (isPacked ? writePackedTill : writeTill)(stores, till);
        const sample = till.report.orders[written % ordersPerHistoryTill];
        if (isPacked && sample && written % Math.ceil(tills.length / 40) === 0) {
          history.packedTillId = till.pushed.tillId;
          history.samples.push({ id: sample.id, ...buildResponses(sample, storedAt) });
        }
        written += 1;
        if (written % 20 === 0) reportProgress(`${written * ordersPerHistoryTill} of ${history.orders} orders`);
      }),
    ),
  );
  // Stored tills were counted when they were written.
  await stores.db.sql`
    insert into day_counts (location_id, kind, day, count)
    select location_id, 'report', day, count(*) from reports where location_id = ${locationId} and v2 is null group by 1, 3
    union all
    select location_id, 'order', day, sum(cardinality(ids)) from packed_orders where location_id = ${locationId}
    group by 1, 3`;
  return history;
}

/** Vacuums and analyzes the tables, because autovacuum may not have done so when the measurement starts. */
export async function vacuumPackedOrderHistory({ db }: PackedOrderHistoryStores): Promise<void> {
  const connection = await db.sql.reserve();
  try {
    await connection`set statement_timeout = 0`;
    for (const table of [
      "orders",
      "reports",
      "tills",
      "day_counts",
      "packed_tills",
      "packed_orders",
      "metric_totals",
      "metric_cells",
    ])
      await connection`vacuum analyze ${connection(table)}`;
  } finally {
    connection.release();
  }
}

/**
 * Unpacks a till and packs it again with the product's own functions.
 *
 * @throws Error if the result differs from the packed till that was written directly.
 */
export async function requireProductPacksEqually(
  stores: PackedOrderHistoryStores,
  { locationId, packedTillId: tillId }: PackedOrderHistory,
): Promise<void> {
  const read = async () => {
    const till = await findPackedTill(stores.db.sql, { locationId, tillId });
    if (!till) throw new Error("A till is not packed.");
    const { objectKey, hash: _, ...columns } = till;
    // Without the checksums of the blocks, which depend on the random key of the object.
    const bytes = await stores.objects.get(objectKey);
    const blocks = till.blockEnds.map((end, block) =>
      verifyBlockChecksum(bytes.subarray(till.blockEnds[block - 1] ?? 0, end), { objectKey, block }),
    );
    const content = createHash("sha256").update(Buffer.concat(blocks)).digest("hex");
    const orders = await stores.db.sql`
      select * from packed_orders where location_id = ${locationId} and till_id = ${tillId} order by first_position`;
    return JSON.stringify([columns, content, orders]);
  };
  const written = await read();
  await unpackTill(stores, { locationId, tillId });
  if (!(await packTill(stores, { locationId, tillId }))) throw new Error("The product did not pack a till again.");
  const packed = await read();
  if (written !== packed) throw new Error(`The product packs a till differently:\n${written}\n${packed}`);
}

/** Returns the report and orders of the sample till. Their order makes the pages of a history equally large. */
function calculateTemplate(locationId: string): TillDocuments {
  const bytes = Buffer.from(benchBusyShiftTillJson);
  const { id: tillId } = JSON.parse(benchBusyShiftTillJson) as { id: string };
  const hash = createHash("sha256").update(bytes).digest("hex");
  const till = calculateTill({ bytes, hash, version: "V2", tillId, locationId, timeZone: "Europe/Paris" });
  if (!till) throw new Error("The sample till has no report.");
  const bySize = till.orders.toSorted((one, other) => one.v1.length - other.v1.length);
  while (bySize.length < ordersPerHistoryTill) bySize.push(...bySize.slice(0, ordersPerHistoryTill - bySize.length));
  const groups = ordersPerHistoryTill / (pageSize / 2);
  const orders = Array.from({ length: groups }, (_, group) => bySize.filter((_, index) => index % groups === group));
  return { ...till, orders: orders.flat() };
}

interface HistoryTill {
  pushed: Parameters<typeof replaceDocuments>[1];
  report: TillDocuments;
}

function buildHistoryTill(
  template: TillDocuments,
  { locationId, day, indexOfDay }: { locationId: string; day: string; indexOfDay: number },
): HistoryTill {
  const tillId = randomUUID();
  const dayStartMs = Date.parse(`${day}T08:00:00Z`);
  const openedAt = (number: number) =>
    new Date(dayStartMs + (indexOfDay * ordersPerHistoryTill + number) * 60_000).toISOString();
  const pushedAt = `${day}T23:00:00.000Z`;
  const object = { key: `tills/${tillId}`, hash: createHash("sha256").update(tillId).digest("hex") };
  return {
    pushed: {
      ...{ tillId, locationId, revision: 1, reason: "push", version: "V2" },
      pushedAt,
      object,
      timeZone: "UTC",
    },
    report: {
      ...{ ...template, id: computeTillReportId(tillId), day, startedAt: openedAt(0), finalizedAt: pushedAt },
      orders: template.orders.map((order, number) => ({
        ...order,
        ...{ id: randomUUID(), day, openedAt: openedAt(number) },
      })),
    },
  };
}

async function insertTillRow(tx: Parameters<typeof replaceDocuments>[0], { pushed }: HistoryTill) {
  const { tillId, locationId, revision, pushedAt, object } = pushed;
  await tx`insert into tills ${tx({ tillId, locationId, revision, pushedAt, hash: object.hash })}`;
}

async function writeTill({ db }: PackedOrderHistoryStores, till: HistoryTill): Promise<void> {
  await db.transaction(async (tx) => {
    await insertTillRow(tx, till);
    await replaceDocuments(tx, till.pushed, toCalculatedTill(till.report));
  });
}

/** The time at which packed tills were stored. */
const storedAt = "2020-01-01T00:00:00.000Z";

function buildResponses(order: TillDocuments["orders"][number], updatedAt: string) {
  const idAndTimes = JSON.stringify({ id: order.id, createdAt: updatedAt, updatedAt });
  return { v1: joinJsonObjectTexts(idAndTimes, order.v1), v2: joinJsonObjectTexts(idAndTimes, order.v2) };
}

async function writePackedTill({ db, objects }: PackedOrderHistoryStores, till: HistoryTill): Promise<void> {
  const { pushed, report } = till;
  const { tillId, locationId, revision, pushedAt, object } = pushed;
  const { id, day, reportVersion, reportNumber, startedAt, finalizedAt, totalSales, orders } = report;
  const { v2, listItem, accountingDataJson, tillFiguresJson, metrics } = report;
  const times = { createdAt: storedAt, updatedAt: storedAt };
  const v0 = joinJsonObjectTexts(JSON.stringify({ id, ...times }), report.v0);
  const finalized = {
    ...{ locationId, reportId: id, tillId, revision, reportVersion, reportNumber, startedAt, finalizedAt, totalSales },
    orderIds: orders.map((order) => order.id),
  };
  const texts = orders.map((order): PackedOrderTexts => {
    const { v1, v2 } = buildResponses(order, storedAt);
    return { v1: Buffer.from(v1), v2: Buffer.from(v2) };
  });
  const [reportBytes, orderBlock] = await Promise.all([
    encodeReportBlock({ v2, v0, accountingData: accountingDataJson, finalized: JSON.stringify(finalized) }),
    encodeOrderBlock(texts),
  ]);
  const objectKey = `packed/${locationId}/${tillId}-${randomUUID()}`;
  const blocks = [reportBytes, orderBlock.bytes].map((bytes, block) => addBlockChecksum(bytes, { objectKey, block }));
  const bytes = Buffer.concat(blocks);
  await objects.put(objectKey, bytes);
  const contentVersion = buildContentVersion({ hash: object.hash, revision, reportVersion, updatedAt: storedAt });
  const etag = computeDocumentTag(contentVersion, id);
  await db.transaction(async (tx) => {
    await insertTillRow(tx, till);
    await upsertReportRow(tx, {
      ...{
        id,
        tillId,
        locationId,
        day,
        startedAt,
        ...times,
        v2,
        v0,
        listItem,
        accountingData: accountingDataJson,
        etag,
      },
      tillFigures: tillFiguresJson === null ? null : compressDayText(tillFiguresJson),
      hasMetrics: metrics !== null,
      finalized: "",
    });
    await replaceTillMetrics(tx, { locationId, tillId, previousDay: undefined, day, metrics });
    await replaceTillByPackedTill(
      tx,
      {
        ...{ locationId, tillId, objectKey, contentVersion, pushedAt: new Date(pushedAt) },
        hash: createHash("sha256").update(bytes).digest("hex"),
        blockEnds: [blocks[0]?.byteLength ?? 0, bytes.byteLength],
        blockFirstPositions: [0, 0],
        blockV1Ends: [0, orderBlock.v1End],
      },
      {
        orders: [
          {
            ...{ day, isCurrent: true, firstPosition: 0, etags: null },
            ids: orders.map((order) => order.id),
            openedAt: orders.map((order) => order.openedAt),
            v1Bytes: texts.map(({ v1 }) => v1.byteLength),
          },
        ],
        finalized: JSON.stringify({ ...finalized, orderIds: [] }),
      },
    );
  });
}
