import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { type Database, lockInTransaction, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { recordLocationWrite } from "@pragma/runtime/database/read-replica";
import type { ReportingContext } from "../../context.ts";
import { computeDocumentTag } from "../entity-tags.ts";
import { insertOrders } from "../queries/orders.ts";
import {
  deletePackedTill,
  findPackedTill,
  listPackedOrders,
  markPackedTillLost,
  type PackedTillRow,
} from "../queries/packed-tills.ts";
import { findReportOfTill } from "../queries/reports.ts";
import type { TillKey } from "../queries/tills.ts";
import { compressV2Order } from "../v2-order-compression.ts";
import { decodeOrderBlock, decodeReportBlock, verifyBlockChecksum } from "./pack-format.ts";
import { readPackedObject } from "./packed-object.ts";

export type UnpackingServices = Pick<ReportingContext, "db" | "objects">;

/**
 * Moves the responses of a packed till back to PostgreSQL, so that the till can change. Does nothing if the till is not
 * packed. The object is deleted a day later, so that requests that found it can still read it.
 *
 * @throws `UnreadablePackedTillError` if the object is missing or damaged.
 */
export async function unpackTill({ db, objects }: UnpackingServices, key: TillKey): Promise<void> {
  const found = await findPackedTill(db.sql, key);
  if (!found || found.isLost) return;
  const bytes = await readPackedObject(objects, found);
  await changePackedTill(db, found, async (tx, till) => {
    const rows = await buildOrderRows(tx, till);
    const readBlock = (block: number) =>
      verifyBlockChecksum(bytes.subarray(till.blockEnds[block - 1] ?? 0, till.blockEnds[block]), {
        objectKey: till.objectKey,
        block,
      });
    const report = { ...(await decodeReportBlock(readBlock(0))), packedV0Bytes: null };
    // The report counts as stored now, so that tills that share orders with packed tills do not keep the service busy with
    // unpacking and packing the same tills.
    await tx`
      update reports set ${tx(report)}, updated_at = now()
      where location_id = ${key.locationId} and till_id = ${key.tillId}`;
    for (const [block, firstPosition] of till.blockFirstPositions.entries()) {
      if (block === 0) continue;
      const texts = await decodeOrderBlock(readBlock(block));
      const unpacked = (async function* () {
        for (const [index, text] of texts.entries()) {
          const row = rows[firstPosition + index];
          if (!row) throw new Error(`${till.objectKey} has more orders than rows.`);
          const [v1, v2] = [`${text.v1}`, `${text.v2}`];
          // Both times are fields of the V1 response.
          const { createdAt, updatedAt } = JSON.parse(v1) as { createdAt: string; updatedAt: string };
          yield { ...row, v1, v2Deflated: await compressV2Order(v2, { v1 }), createdAt, updatedAt };
        }
      })();
      await insertOrders(tx, unpacked);
    }
    await deletePackedTill(tx, till);
  });
}

/**
 * Replaces the orders of a packed till whose object is missing or damaged by rows without texts, so that the till, and
 * other tills with its orders, can change. Reads of these orders fail until the till is computed again from its body.
 * Their creation time becomes that of the report.
 */
export async function giveUpPackedTexts({ db }: Pick<ReportingContext, "db">, found: PackedTillRow) {
  await changePackedTill(db, found, async (tx, till) => {
    const rows = await buildOrderRows(tx, till);
    const { report } = await findReportOfTill(tx, till);
    const createdAt = report?.createdAt ?? till.pushedAt.toISOString();
    const v2Deflated = new Uint8Array();
    await insertOrders(
      tx,
      rows.map((row) => ({ ...row, v1: "", v2Deflated, createdAt, updatedAt: createdAt })),
    );
    await markPackedTillLost(tx, till, { orderIds: rows.map(({ id }) => id) });
  });
}

/** Runs `change` in a transaction that has locked the location, unless the till is no longer packed in this object. */
async function changePackedTill(
  db: Database,
  found: PackedTillRow,
  change: (tx: SqlTransaction, till: PackedTillRow) => Promise<void>,
): Promise<void> {
  const { locationId } = found;
  await db.transaction(async (tx) => {
    await lockInTransaction(tx, db, `location ${locationId}`);
    const till = await findPackedTill(tx, found);
    if (!till || till.isLost || till.objectKey !== found.objectKey) return;
    await recordLocationWrite(tx, locationId);
    await change(tx, till);
  });
}

async function buildOrderRows(tx: SqlTransaction, { locationId, tillId, pushedAt, contentVersion }: PackedTillRow) {
  const reportId = computeTillReportId(tillId);
  const groups = await listPackedOrders(tx, { locationId, tillId });
  return groups.flatMap(({ day, isCurrent, ids, openedAt, etags }) =>
    ids.map((id, index) => {
      const etag = etags?.[index] ?? computeDocumentTag(contentVersion ?? "", id);
      return { id, day, isCurrent, openedAt: openedAt[index] ?? "", etag, pushedAt, reportId, tillId, locationId };
    }),
  );
}
