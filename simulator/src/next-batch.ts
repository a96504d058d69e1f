import { mostLiveOrders } from "@pragma/contracts/order-live";
import type { Revision } from "./order-revisions.ts";

interface Batch {
  /** What goes into the next call: of each order its next revision, if it is due. */
  batch: Revision[];
  rest: Revision[];
}

/** Takes the revisions that are due by now off a queue that is sorted by time, as many as one call may bring. */
export function nextBatch(queue: readonly Revision[], now: number): Batch {
  const taken = new Set<string>();
  const batch: Revision[] = [];
  const rest: Revision[] = [];
  for (const revision of queue) {
    const { id } = revision.order;
    if (revision.at <= now && batch.length < mostLiveOrders && !taken.has(id)) {
      batch.push(revision);
      taken.add(id);
    } else rest.push(revision);
  }
  return { batch, rest };
}

/** The queue for somebody who joins at an instant: of what happened before, each order's last revision only. */
export function joinedAt(revisions: readonly Revision[], now: number): Revision[] {
  const last = new Map(revisions.filter(({ at }) => at <= now).map((revision) => [revision.order.id, revision]));
  return revisions.filter((revision) => revision.at > now || last.get(revision.order.id) === revision);
}
