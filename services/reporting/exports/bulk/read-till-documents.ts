import type { BulkExportData } from "@pragma/contracts/bulk-export-columns";
import { ApiError } from "@pragma/contracts/errors";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { findPackedTill, listPackedOrders, type PackedTillIndex } from "../../documents/queries/packed-tills.ts";
import type { TillKey } from "../../documents/queries/tills.ts";
import { DocumentTooLargeError, type StoredDocument } from "../../documents/stored-documents.ts";
import { isExportOfReports } from "./export-rows.ts";

interface Stores {
  sql: SqlClient;
  /** Returns a block of a packed till as it is stored. The first block is the report. */
  readBlock(till: PackedTillIndex, block: number): Promise<Uint8Array>;
}

/** The report of a till when its documents were read. */
export interface ReadTillReport {
  businessDay: string;
  reportId: string;
}

const ordersPerRead = 25;

/**
 * Calls `use` with the V2 responses of a till in batches: its report for `reports` and `taxes`, and otherwise its current
 * orders, sorted by opening time. All batches are of the same revision of the till, whether it is packed or not. Does not
 * call `use` if the till no longer has a report.
 *
 * @throws `ApiError` service_unavailable if the till is lost; `DocumentTooLargeError` if a document that is not packed is
 * larger than `maxDocumentBytes`.
 */
export async function readTillDocuments(
  { sql, readBlock }: Stores,
  { locationId, tillId, data, maxDocumentBytes }: TillKey & { data: BulkExportData; maxDocumentBytes: number },
  use: (documents: StoredDocument[], till: ReadTillReport) => Promise<void>,
): Promise<void> {
  const packed = await sql.begin("isolation level repeatable read read only", async (tx) => {
    const [report] = await tx<{ day: string; id: string; v2: string | null; maxBytes: number }[]>`
      select day::text as day, id, case when ${isExportOfReports(data)} and octet_length(v2) <= ${maxDocumentBytes}::bigint then v2
        else left(v2, 1) end as v2,
        coalesce(${
          isExportOfReports(data)
            ? tx`octet_length(v2)`
            : tx`(
                select max(octet_length(coalesce(v2, v1))) from orders
                where location_id = ${locationId} and till_id = ${tillId} and is_current
              )`
        }, 0) as max_bytes
      from reports where location_id = ${locationId} and till_id = ${tillId}`;
    if (!report) return undefined;
    if (report.maxBytes > maxDocumentBytes) throw new DocumentTooLargeError();
    const till = { businessDay: report.day, reportId: report.id };
    if (isExportOfReports(data)) {
      if (report.v2 !== null) {
        await use([report.v2], till);
        return undefined;
      }
      return { till, index: await requirePackedTill(tx, { locationId, tillId }), positions: [] };
    }
    if (report.v2 !== null) {
      await readStoredOrders(tx, { locationId, tillId }, (documents) => use(documents, till));
      return undefined;
    }
    const index = await requirePackedTill(tx, { locationId, tillId });
    // Sorted by day and opening time, as the stored orders.
    const groups = await listPackedOrders(tx, { locationId, tillId });
    const positions = groups
      .filter(({ isCurrent }) => isCurrent)
      .flatMap(({ firstPosition, ids }) => ids.map((_, number) => firstPosition + number));
    return { till, index, positions };
  });
  if (packed === undefined) return;
  if (isExportOfReports(data)) {
    const packedBlock = await readBlock(packed.index, 0);
    await use([{ packedBlock, kind: "report", numbers: [0] }], packed.till);
    return;
  }
  for (const [block, numbers] of groupByBlock(packed.index, packed.positions)) {
    const packedBlock = await readBlock(packed.index, block);
    await use([{ packedBlock, kind: "orders", numbers }], packed.till);
  }
}

/** @throws `ApiError` service_unavailable if the till is lost, and must be reprocessed. */
async function requirePackedTill(tx: SqlTransaction, key: TillKey): Promise<PackedTillIndex> {
  const till = await findPackedTill(tx, key);
  if (!till || till.isLost)
    throw new ApiError("service_unavailable", {
      detail: `The till ${key.tillId} cannot be read until it is reprocessed.`,
    });
  return till;
}

async function readStoredOrders(
  tx: SqlTransaction,
  { locationId, tillId }: TillKey,
  use: (documents: StoredDocument[]) => Promise<void>,
): Promise<void> {
  const batches = tx<{ v1: string; v2Deflated: Uint8Array }[]>`
    select v1, v2_deflated from orders
    where location_id = ${locationId} and till_id = ${tillId} and is_current
    order by day, opened_at, id`.cursor(ordersPerRead);
  for await (const rows of batches) await use(rows);
}

/** Returns the numbers of orders in each block that contains any of them, in the order of the blocks. */
function groupByBlock({ blockFirstPositions }: PackedTillIndex, positions: number[]): Map<number, number[]> {
  const numbersByBlock = new Map<number, number[]>();
  for (const position of positions) {
    const block = blockFirstPositions.findLastIndex((first) => first <= position);
    const number = position - (blockFirstPositions[block] ?? 0);
    const numbers = numbersByBlock.get(block);
    if (numbers) numbers.push(number);
    else numbersByBlock.set(block, [number]);
  }
  return numbersByBlock;
}
