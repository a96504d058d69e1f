import type { Database } from "@pragma/runtime/database/postgres";
import {
  type AllChangesFeed,
  assignAllChangesPositions,
  deleteUnsequencedChanges,
  findAllChangesFeed,
  findLocationPositions,
  findUnsequencedChanges,
  hasUnsequencedChanges,
  lockAllChangesFeed,
} from "../queries/all-changes.ts";

const maxBatchSize = 1_000;

/**
 * Adds committed changes to the feed of all locations, in up to `maxBatches` batches, and returns the state of the feed.
 * Any process can do this at any time.
 *
 * Positions are assigned after the commit, because a transaction that takes a position must keep all others from taking one
 * until it ends. Here, only these short transactions wait for each other, and no event of a location waits for another
 * location.
 */
export async function sequenceChanges(
  db: Database,
  { maxBatches }: { maxBatches: number },
): Promise<AllChangesFeed & { isComplete: boolean }> {
  let isComplete = false;
  for (let batch = 0; batch < maxBatches && !isComplete; batch += 1)
    isComplete = !(await hasUnsequencedChanges(db.sql)) || (await sequenceBatch(db)) < maxBatchSize;
  return { ...(await findAllChangesFeed(db.sql)), isComplete };
}

/** Returns the number of changes that no longer wait for a position. */
async function sequenceBatch(db: Database): Promise<number> {
  return db.transaction(async (tx) => {
    const feed = await lockAllChangesFeed(tx);
    const queued = await findUnsequencedChanges(tx, maxBatchSize);
    if (queued.length === 0) return 0;
    const locationPositions = await findLocationPositions(tx, queued);
    const comparePosition = ({ queueId, locationPosition }: (typeof queued)[number]) =>
      (locationPositions.get(queueId) ?? 0) - locationPosition;
    // If a row is on another server, its part of a distributed transaction can be committed a moment later.
    const stored = queued.filter((change) => comparePosition(change) >= 0);
    // If a row has moved again, the queue contains its later position, too.
    const current = stored.filter((change) => comparePosition(change) === 0);
    await Promise.all([
      deleteUnsequencedChanges(
        tx,
        stored.map(({ queueId }) => queueId),
      ),
      current.length > 0 && assignAllChangesPositions(tx, feed.position, current),
    ]);
    return stored.length;
  });
}
