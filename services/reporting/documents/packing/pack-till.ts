import { createHash, randomUUID } from "node:crypto";
import type { BusEventData } from "@pragma/contracts/events";
import { lockInTransaction, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { recordLocationWrite } from "@pragma/runtime/database/read-replica";
import { ObjectNotFoundError, ObjectStoreUnavailableError } from "@pragma/runtime/object-store/object-store";
import type { ReportingContext } from "../../context.ts";
import { buildContentVersion, computeDocumentTag } from "../entity-tags.ts";
import { type OrderToPack, readStoredOrders } from "../queries/orders.ts";
import { type PackedOrdersRow, replaceTillByPackedTill } from "../queries/packed-tills.ts";
import { findStoredReport } from "../queries/reports.ts";
import { findAppliedTill, type TillKey } from "../queries/tills.ts";
import { keepUploadedObject, recordUpload } from "../queries/unused-objects.ts";
import { decompressV2Order } from "../v2-order-compression.ts";
import {
  addBlockChecksum,
  encodeOrderBlock,
  encodeReportBlock,
  maxBlockTextBytes,
  maxOrdersPerBlock,
  type PackedOrderTexts,
} from "./pack-format.ts";

/** What differs when an order of a till was replaced, or became current or not current. */
type OrderVersion = Pick<OrderToPack, "id" | "isCurrent" | "etag">;

type OrdersOfDay = PackedOrdersRow & { etags: string[] };

/**
 * Moves the responses of a till's report and orders from PostgreSQL to one object, which is read back before the rows are
 * replaced. Returns false when the till has no report, is packed already, or changed meanwhile.
 */
export async function packTill(
  { db, objects }: Pick<ReportingContext, "db" | "objects">,
  key: TillKey,
): Promise<boolean> {
  const { locationId, tillId } = key;
  const objectKey = `packed/${locationId}/${tillId}-${randomUUID()}`;
  const encoded = await db.sql.begin("isolation level repeatable read read only", (tx) =>
    encodeTill(tx, key, objectKey),
  );
  if (!encoded) return false;
  const { bytes, orders, reportEtag, finalized, ...till } = encoded;
  await recordUpload(db.sql, { locationId, objectKey });
  await objects.put(objectKey, bytes);
  await requireStoredBytes(objects, objectKey, bytes);
  return db.transaction(async (tx) => {
    await lockInTransaction(tx, db, `location ${locationId}`);
    const stored = await findStoredReport(tx, key);
    // Another instance can have packed the till, which keeps its entity tag.
    if (stored?.etag !== reportEtag || stored.v2 === null) return false;
    const versions = await tx<OrderVersion[]>`
      select id, is_current, etag from orders where location_id = ${locationId} and till_id = ${tillId}`;
    if (!haveSameOrders(orders, versions)) return false;
    if (!(await keepUploadedObject(tx, { locationId, objectKey }))) {
      // The upload took too long. If it ended after the deletion of the object, the object exists again.
      await recordUpload(tx, { locationId, objectKey });
      return false;
    }
    await recordLocationWrite(tx, locationId);
    const hash = createHash("sha256").update(bytes).digest("hex");
    const rows = till.contentVersion === null ? orders : orders.map((group) => ({ ...group, etags: null }));
    await replaceTillByPackedTill(tx, { ...key, ...till, objectKey, hash }, { orders: rows, finalized });
    return true;
  });
}

/** @throws `ObjectStoreUnavailableError` if the object store returns other bytes, which can be temporary. */
async function requireStoredBytes(
  objects: ReportingContext["objects"],
  objectKey: string,
  bytes: Buffer,
): Promise<void> {
  const stored = await objects.get(objectKey).catch((error: unknown) => {
    throw error instanceof ObjectNotFoundError
      ? new ObjectStoreUnavailableError(error.message, { cause: error })
      : error;
  });
  if (!bytes.equals(stored)) throw new ObjectStoreUnavailableError(`${objectKey} was not stored correctly.`);
}

async function encodeTill(tx: SqlTransaction, key: TillKey, objectKey: string) {
  const report = await findStoredReport(tx, key);
  const till = await findAppliedTill(tx, key);
  if (!till || !report) return undefined;
  const { etag, v2, v0, accountingData, finalized } = report;
  if (v2 === null || v0 === null || accountingData === null) return undefined;
  const reportBlock = await encodeReportBlock({ v2, v0, accountingData, finalized });
  const builder = createPackedObjectBuilder(objectKey, reportBlock);
  const orders: OrdersOfDay[] = [];
  let firstV1: string | undefined;
  for await (const rows of readStoredOrders(tx, key)) {
    for (const { v1: v1Text, v2Deflated, ...order } of rows) {
      firstV1 ??= v1Text;
      const v1 = Buffer.from(v1Text);
      const v2 = await decompressV2Order(v2Deflated, { v1 });
      const position = await builder.addOrder({ v1, v2: Buffer.from(v2) });
      addToDay(orders, { ...order, position, v1Bytes: v1.byteLength });
    }
  }
  const finalizedData: BusEventData<"report.finalized"> = JSON.parse(finalized);
  const contentVersion =
    firstV1 === undefined
      ? null
      : findContentVersion(orders, { ...till, ...finalizedData, ...(JSON.parse(firstV1) as { updatedAt: string }) });
  return {
    ...(await builder.finish()),
    ...{ orders, contentVersion, reportEtag: etag, pushedAt: till.pushedAt },
    /** Without the ids of the orders, which do not compress. */
    finalized: JSON.stringify({ ...finalizedData, orderIds: [] }),
  };
}

interface PackedOrder extends Omit<OrderToPack, "v1" | "v2Deflated"> {
  position: number;
  v1Bytes: number;
}

/** Adds an order to the last group, or to a new one if the last group differs in the day or in `isCurrent`. */
function addToDay(groups: OrdersOfDay[], { id, day, isCurrent, openedAt, etag, position, v1Bytes }: PackedOrder): void {
  let group = groups.at(-1);
  if (group?.day !== day || group.isCurrent !== isCurrent) {
    group = { day, isCurrent, firstPosition: position, ids: [], openedAt: [], v1Bytes: [], etags: [] };
    groups.push(group);
  }
  group.ids.push(id);
  group.openedAt.push(openedAt);
  group.v1Bytes.push(v1Bytes);
  group.etags.push(etag);
}

/** Returns the content version from which all entity tags can be computed; null if they were computed otherwise. */
function findContentVersion(orders: OrdersOfDay[], till: Parameters<typeof buildContentVersion>[0]): string | null {
  const contentVersion = buildContentVersion(till);
  const isComputable = orders.every(({ ids, etags }) =>
    ids.every((id, index) => computeDocumentTag(contentVersion, id) === etags[index]),
  );
  return isComputable ? contentVersion : null;
}

/** Other tills can change which orders are current, so the report's entity tag is not sufficient. */
function haveSameOrders(packed: OrdersOfDay[], stored: OrderVersion[]): boolean {
  const versions = new Set(
    packed.flatMap(({ ids, etags, isCurrent }) => ids.map((id, index) => `${id} ${isCurrent} ${etags[index]}`)),
  );
  return (
    versions.size === stored.length &&
    stored.every(({ id, isCurrent, etag }) => versions.has(`${id} ${isCurrent} ${etag}`))
  );
}

/** Returns functions that build the object of a till, of which the first block is its report. */
function createPackedObjectBuilder(objectKey: string, report: Buffer) {
  const blocks: Buffer[] = [];
  const blockFirstPositions: number[] = [];
  const blockV1Ends: number[] = [];
  let orders: PackedOrderTexts[] = [];
  let textBytes = 0;
  let orderCount = 0;

  function addBlock(compressed: Buffer, firstPosition: number, v1End: number): void {
    blocks.push(addBlockChecksum(compressed, { objectKey, block: blocks.length }));
    blockFirstPositions.push(firstPosition);
    blockV1Ends.push(v1End);
  }

  async function endOrderBlock(): Promise<void> {
    if (orders.length === 0) return;
    const { bytes, v1End } = await encodeOrderBlock(orders);
    addBlock(bytes, orderCount - orders.length, v1End);
    orders = [];
    textBytes = 0;
  }

  addBlock(report, 0, 0);
  return {
    /** Adds an order, and returns its position in the object. */
    async addOrder(texts: PackedOrderTexts): Promise<number> {
      const bytes = texts.v1.byteLength + texts.v2.byteLength;
      if (orders.length === maxOrdersPerBlock || textBytes + bytes > maxBlockTextBytes) await endOrderBlock();
      orders.push(texts);
      textBytes += bytes;
      orderCount += 1;
      return orderCount - 1;
    },
    /** Returns the bytes of the object, and where its blocks are in it. */
    async finish() {
      await endOrderBlock();
      let end = 0;
      const blockEnds = blocks.map(({ byteLength }) => {
        end += byteLength;
        return end;
      });
      return { bytes: Buffer.concat(blocks), blockEnds, blockFirstPositions, blockV1Ends };
    },
  };
}
