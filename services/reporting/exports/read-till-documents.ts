import type { BulkExportData } from "@pragma/contracts/bulk-export-columns";
import { ApiError } from "@pragma/contracts/errors";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { ReportingServiceContext } from "../context.ts";
import { type PackedResponseReference, readPackedBodies, readPackedReport } from "../packing/packed-reader.ts";
import { findPackedTill, listPackedOrders, type PackedTillIndex } from "../queries/packed-tills.ts";
import type { TillKey } from "../queries/tills.ts";
import type { StoredDocument } from "./encode-export-rows.ts";
import { isExportOfReports } from "./export-rows.ts";

type Stores = { sql: SqlClient; objects: Pick<ReportingServiceContext["objects"], "getStoredRange"> };

/** The report of a till when its documents were read. */
export interface ReadTillReport {
  businessDay: string;
  reportId: string;
}

const ordersPerRead = 25;

/**
 * Calls `use` with the V2 responses of a till in batches: its report for `reports` and `taxes`, and otherwise its current
 * orders, sorted by opening time. All batches are of the same revision of the till, whether it is packed or not. Returns
 * false without calling `use` if the till no longer has a report.
 *
 * @throws `ApiError` service_unavailable if a packed till cannot be read.
 */
export async function readTillDocuments(
  { sql, objects }: Stores,
  { locationId, tillId, data }: TillKey & { data: BulkExportData },
  use: (documents: StoredDocument[], till: ReadTillReport) => Promise<void>,
): Promise<boolean> {
  const packed = await sql.begin("isolation level repeatable read read only", async (tx) => {
    const [report] = await tx<{ day: string; id: string; v2: string | null }[]>`
      select day::text as day, id, ${isExportOfReports(data) ? tx`v2` : tx`left(v2, 1) as v2`} from reports
      where location_id = ${locationId} and till_id = ${tillId}`;
    if (!report) return null;
    const till = { businessDay: report.day, reportId: report.id };
    if (isExportOfReports(data)) {
      if (report.v2 !== null) {
        await use([report.v2], till);
        return undefined;
      }
      return { till, index: await requirePackedTill(tx, { locationId, tillId }), references: [] };
    }
    if (report.v2 !== null) {
      await readStoredOrders(tx, { locationId, tillId }, (documents) => use(documents, till));
      return undefined;
    }
    const index = await requirePackedTill(tx, { locationId, tillId });
    // Sorted by day and opening time, as the stored orders.
    const groups = await listPackedOrders(tx, { locationId, tillId });
    const references = groups
      .filter(({ isCurrent }) => isCurrent)
      .flatMap(({ firstPosition, ids }) => ids.map((_, number) => ({ till: index, position: firstPosition + number })));
    return { till, index, references };
  });
  if (packed === null) return false;
  if (packed === undefined) return true;
  if (isExportOfReports(data)) {
    const { v2 } = await readPackedReport(objects, packed.index);
    await use([v2], packed.till);
    return true;
  }
  for (const references of groupByBlock(packed.references))
    await use(await readPackedBodies(objects, references, "v2"), packed.till);
  return true;
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
  const batches = tx<{ v1: string; v2: string | null; v2Deflated: Uint8Array }[]>`
    select case when v2 is null then v1 end as v1, v2, v2_deflated from orders
    where location_id = ${locationId} and till_id = ${tillId} and is_current
    order by day, opened_at, id`.cursor(ordersPerRead);
  for await (const rows of batches) {
    // Small buffers share memory, all of which would be copied to the thread.
    await use(rows.map(({ v1, v2, v2Deflated }) => v2 ?? { v1, v2Deflated: new Uint8Array(v2Deflated) }));
  }
}

/** Yields references to the orders of one block at a time, so that each block is read once. */
function* groupByBlock(references: PackedResponseReference[]): Generator<PackedResponseReference[]> {
  let group: PackedResponseReference[] = [];
  let groupBlock = -1;
  for (const reference of references) {
    const block = reference.till.blockFirstPositions.findLastIndex((first) => first <= (reference.position ?? 0));
    if (block !== groupBlock && group.length > 0) {
      yield group;
      group = [];
    }
    groupBlock = block;
    group.push(reference);
  }
  if (group.length > 0) yield group;
}
