import type { BulkExportData } from "@pragma/contracts/bulk-export-columns";
import { ApiError } from "@pragma/contracts/errors";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import { groupByKey } from "../../calculation/groups.ts";
import {
  findBlock,
  findPackedTill,
  listPackedOrders,
  type PackedTillIndex,
} from "../../documents/queries/packed-tills.ts";
import type { TillKey } from "../../documents/queries/tills.ts";
import { DocumentTooLargeError, type StoredDocument } from "../../documents/stored-documents.ts";
import { type ExportedTill, isExportOfReports } from "./export-rows.ts";

interface Stores {
  sql: SqlClient;
  /** Returns a block of a packed till as it is stored. The first block is the report. */
  readBlock(till: PackedTillIndex, block: number): Promise<Uint8Array>;
}

const ordersPerRead = 25;

/**
 * Calls `use` with the V2 responses of one revision of a till in batches: its report for `reports` and `taxes`, and
 * otherwise its current orders, sorted by opening time. Does not call `use` if the till no longer has a report.
 *
 * @throws `ApiError` service_unavailable if the till is lost; `DocumentTooLargeError` if a document that is not packed is
 * larger than `maxDocumentBytes`.
 */
export async function readTillDocuments(
  { sql, readBlock }: Stores,
  { locationId, tillId, data, maxDocumentBytes }: TillKey & { data: BulkExportData; maxDocumentBytes: number },
  use: (documents: StoredDocument[], till: ExportedTill) => Promise<void>,
): Promise<void> {
  const isOfReports = isExportOfReports(data);
  const packed = await sql.begin("isolation level repeatable read read only", async (tx) => {
    const bytes = isOfReports
      ? tx`octet_length(v2)`
      : tx`(
          select max(octet_length(v1)) from orders
          where location_id = ${locationId} and till_id = ${tillId} and is_current
        )`;
    const [report] = await tx<{ day: string; id: string; v2: string | null; maxBytes: number }[]>`
      select day::text as day, id, coalesce(${bytes}, 0) as max_bytes,
        case when ${isOfReports} and octet_length(v2) <= ${maxDocumentBytes}::bigint then v2 else left(v2, 1) end as v2
      from reports where location_id = ${locationId} and till_id = ${tillId}`;
    if (!report) return undefined;
    if (report.maxBytes > maxDocumentBytes) throw new DocumentTooLargeError();
    const till = { locationId, businessDay: report.day, reportId: report.id, tillId };
    if (report.v2 !== null) {
      if (isOfReports) {
        await use([report.v2], till);
        return undefined;
      }
      const batches = tx<{ v1: string; v2Deflated: Uint8Array }[]>`
        select v1, v2_deflated from orders
        where location_id = ${locationId} and till_id = ${tillId} and is_current
        order by day, opened_at, id`.cursor(ordersPerRead);
      for await (const documents of batches) await use(documents, till);
      return undefined;
    }
    const index = await findPackedTill(tx, { locationId, tillId });
    if (!index || index.isLost)
      throw new ApiError("service_unavailable", {
        detail: `The till ${tillId} cannot be read until it is reprocessed.`,
      });
    // Sorted by day and opening time, as the stored orders.
    const groups = isOfReports ? [] : await listPackedOrders(tx, { locationId, tillId });
    const positions = groups
      .filter(({ isCurrent }) => isCurrent)
      .flatMap(({ firstPosition, ids }) => ids.map((_, number) => firstPosition + number));
    return { till, index, positions };
  });
  if (packed === undefined) return;
  const { till, index } = packed;
  if (isOfReports) return use([{ packedBlock: await readBlock(index, 0), kind: "report", numbers: [0] }], till);
  for (const positions of groupByKey(packed.positions, (position) => [findBlock(index, position)])) {
    const block = findBlock(index, positions[0]);
    const numbers = positions.map((position) => position - (index.blockFirstPositions[block] ?? 0));
    await use([{ packedBlock: await readBlock(index, block), kind: "orders", numbers }], till);
  }
}
