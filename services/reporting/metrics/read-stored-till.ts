import type { ReportingServiceContext } from "../context.ts";
import { readPackedBlock } from "../packing/packed-reader.ts";
import { findPackedTill, listPackedOrders } from "../queries/packed-tills.ts";
import type { TillKey } from "../queries/tills.ts";
import type { StoredDocument } from "../stored-documents.ts";
import type { StoredTillDocuments } from "./compute-stored-till-metrics.ts";

interface StoredTill extends Omit<StoredTillDocuments, "timeZone"> {
  day: string;
  etag: string;
}

/**
 * Returns the report and orders of a till, whether it is packed or not; undefined if it has no report.
 *
 * @throws `ApiError` service_unavailable if its object cannot be read; `Error` if the till is lost.
 */
export async function readStoredTill(
  { db, objects }: Pick<ReportingServiceContext, "db" | "objects">,
  key: TillKey,
): Promise<StoredTill | undefined> {
  const { locationId, tillId } = key;
  const stored = await db.sql.begin("isolation level repeatable read read only", async (tx) => {
    const [report] = await tx<{ day: string; etag: string; v2: string | null }[]>`
      select day::text as day, etag, v2 from reports where location_id = ${locationId} and till_id = ${tillId}`;
    if (!report) return undefined;
    const { day, etag, v2 } = report;
    if (v2 !== null) {
      const rows = await tx<{ v1: string; v2: string | null; v2Deflated: Uint8Array }[]>`
        select case when v2 is null then v1 end as v1, v2, v2_deflated from orders
        where location_id = ${locationId} and till_id = ${tillId}`;
      return { day, etag, report: v2, orders: rows.map(({ v1, v2, v2Deflated }) => v2 ?? { v1, v2Deflated }) };
    }
    const packed = await findPackedTill(tx, key);
    if (!packed || packed.isLost) throw new Error("The texts of the till are lost until it is reprocessed.");
    const groups = await listPackedOrders(tx, key);
    return { day, etag, packed, orderCount: groups.reduce((sum, { ids }) => sum + ids.length, 0) };
  });
  if (!stored || stored.packed === undefined) return stored;
  const { day, etag, packed, orderCount } = stored;
  const { blockFirstPositions } = packed;
  const orders: StoredDocument[] = [];
  for (const [block, first] of blockFirstPositions.entries()) {
    if (block === 0) continue;
    const count = (blockFirstPositions[block + 1] ?? orderCount) - first;
    const numbers = Array.from({ length: count }, (_, number) => number);
    orders.push({ packedBlock: await readPackedBlock(objects, packed, block), kind: "orders", numbers });
  }
  const packedBlock = await readPackedBlock(objects, packed, 0);
  return { day, etag, report: { packedBlock, kind: "report", numbers: [0] }, orders };
}
