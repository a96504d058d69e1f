import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { TillIngestServiceContext } from "../context.ts";
import { groupByLocation, listTillPartitionSuffixes } from "../queries/till-partitions.ts";
import { listReplacedTillBodies, scheduleObjectRemovals } from "../queries/till-versions.ts";
import { removeUnreferencedObject } from "../remove-unreferenced-object.ts";

const batchSize = 500;

/** Removes the bodies of till revisions that were replaced longer ago than the retention period. Keeps their rows. */
export const removeReplacedTillBodiesTask: PeriodicTask<Pick<TillIngestServiceContext, "db" | "objects" | "config">> = {
  name: "remove replaced bodies",
  intervalSeconds: 3_600,
  timeoutSeconds: 3_600,
  async run({ db, objects, config: { REPLACED_BODIES_RETENTION_DAYS: days } }) {
    if (days === undefined) return;
    for (const suffix of await listTillPartitionSuffixes(db.sql)) {
      for (let count = batchSize; count === batchSize; ) {
        const replaced = await listReplacedTillBodies(db.sql, { suffix, days, limit: batchSize });
        for (const [locationId, revisions] of groupByLocation(replaced)) {
          const keys = await db.transaction((tx) => scheduleObjectRemovals(tx, { locationId, revisions, days }));
          for (const key of keys) await removeUnreferencedObject({ db, objects }, key);
        }
        count = replaced.length;
      }
    }
  },
};
