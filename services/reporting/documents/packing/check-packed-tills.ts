import { listPartitionNames } from "@pragma/runtime/database/partitions";
import { describeErrorChain } from "@pragma/runtime/observability/describe-error";
import type { ReportingContext } from "../../context.ts";
import { listPackedTillsAfter } from "../queries/packed-tills.ts";
import { readPackedObject } from "./packed-object.ts";

const maxTillsPerPage = 200;
const maxConcurrentReads = 8;

/**
 * Reads the objects of up to 200 packed tills, and compares them with their hashes. Lost tills are unreadable too. The
 * cursor contains the number of a partition, and the last till that was checked in it. `next` is null after the last page.
 */
export async function checkPackedTills(
  { db, objects }: Pick<ReportingContext, "db" | "objects">,
  cursor: string | undefined,
): Promise<{ checked: number; unreadable: object[]; next: string | null }> {
  // Otherwise, all tills would be listed while the object store is unavailable.
  await objects.check();
  const [partitionText = "", locationId, tillId] = cursor?.split("_") ?? [];
  const partitionNumber = Number(partitionText);
  const partitions = await listPartitionNames(db.sql, "packed_tills");
  const partition = partitions[partitionNumber];
  if (partition === undefined) return { checked: 0, unreadable: [], next: null };
  const after = locationId && tillId ? { locationId, tillId } : undefined;
  const tills = await listPackedTillsAfter(db.sql, partition, { after, limit: maxTillsPerPage });
  const unreadable: object[] = [];
  const queue = tills.values();
  const checkQueue = async () => {
    for (const till of queue) {
      const reason = till.isLost
        ? "The till is lost: its object was missing or damaged when it had to change."
        : await readPackedObject(objects, till).then(() => null, describeErrorChain);
      const { locationId, tillId, objectKey } = till;
      if (reason !== null) unreadable.push({ locationId, tillId, objectKey, reason });
    }
  };
  await Promise.all(Array.from({ length: maxConcurrentReads }, checkQueue));
  const last = tills[maxTillsPerPage - 1];
  const nextPartition = partitionNumber + 1 < partitions.length ? `${partitionNumber + 1}` : null;
  return {
    checked: tills.length,
    unreadable,
    next: last ? `${partitionNumber}_${last.locationId}_${last.tillId}` : nextPartition,
  };
}
