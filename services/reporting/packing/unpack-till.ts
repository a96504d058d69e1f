import { createHash } from "node:crypto";
import { racePromiseWithAbort } from "@pragma/runtime/concurrency/race-promise-with-abort";
import { acquireTransactionAdvisoryLock } from "@pragma/runtime/database/postgres";
import { recordLocationWrite } from "@pragma/runtime/database/read-replica";
import { ObjectStoreUnavailableError } from "@pragma/runtime/object-store/object-store";
import { computeTillReportId } from "../calculation/report-id.ts";
import type { ReportingServiceContext } from "../context.ts";
import { computeReportOrOrderEntityTag } from "../entity-tags.ts";
import { insertOrders } from "../queries/orders.ts";
import { deletePackedTill, findPackedTill, listPackedOrders } from "../queries/packed-tills.ts";
import { restoreReportTexts } from "../queries/reports.ts";
import type { TillKey } from "../queries/tills.ts";
import { decodeOrderBlock, decodeReportBlock, verifyBlockChecksum } from "./pack-format.ts";

export interface UnpackingServices extends Pick<ReportingServiceContext, "db" | "objects"> {
  config: Pick<ReportingServiceContext["config"], "COMPRESS_V2_ORDERS">;
}

/** After this time, the till cannot change yet, and its event is handled later. */
const objectTimeoutMs = 30_000;

/**
 * Moves the responses of a packed till back to PostgreSQL, so that the till can change. Does nothing if the till is not
 * packed. The object is deleted a day later, so that requests that found it can still read it.
 */
export async function unpackTill({ db, objects, config }: UnpackingServices, key: TillKey): Promise<void> {
  const { locationId, tillId } = key;
  const found = await findPackedTill(db.sql, key);
  if (!found) return;
  const bytes = await racePromiseWithAbort(objects.get(found.objectKey), AbortSignal.timeout(objectTimeoutMs));
  if (createHash("sha256").update(bytes).digest("hex") !== found.hash)
    throw new ObjectStoreUnavailableError(`The object ${found.objectKey} does not have its hash.`);
  await db.transaction(async (tx) => {
    await acquireTransactionAdvisoryLock(tx, db, `location ${locationId}`);
    const till = await findPackedTill(tx, key);
    if (till?.objectKey !== found.objectKey) return;
    const groups = await listPackedOrders(tx, key);
    const entries = groups.flatMap(({ day, isCurrent, ids, openedAt, etags }) =>
      ids.map((id, index) => ({
        id,
        day,
        isCurrent,
        openedAt: openedAt[index] ?? "",
        etag: etags?.[index] ?? computeReportOrOrderEntityTag(till.contentVersion ?? "", id),
      })),
    );
    const readBlock = (block: number) =>
      verifyBlockChecksum(bytes.subarray(till.blockEnds[block - 1] ?? 0, till.blockEnds[block]), {
        objectKey: till.objectKey,
        block,
      });
    await recordLocationWrite(tx, locationId);
    await restoreReportTexts(tx, key, await decodeReportBlock(readBlock(0)));
    const reportId = computeTillReportId(tillId);
    for (const [block, firstPosition] of till.blockFirstPositions.entries()) {
      if (block === 0) continue;
      const rows = (await decodeOrderBlock(readBlock(block))).map((texts, index) => {
        const entry = entries[firstPosition + index];
        if (!entry) throw new Error(`${till.objectKey} has more orders than rows.`);
        const [v1, v2] = [`${texts.v1}`, `${texts.v2}`];
        // Both times are fields of the V1 response.
        const { createdAt, updatedAt } = JSON.parse(v1) as { createdAt: string; updatedAt: string };
        return {
          ...entry,
          v1,
          v2,
          createdAt,
          updatedAt,
          pushedAt: till.pushedAt,
          reportId,
          tillId,
          locationId,
        };
      });
      await insertOrders(tx, rows, { isCompressed: config.COMPRESS_V2_ORDERS });
    }
    await deletePackedTill(tx, till);
  });
}
