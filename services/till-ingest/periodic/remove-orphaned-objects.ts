import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { TillIngestServiceContext } from "../context.ts";
import { listStaleTillUploadKeys } from "../queries/pending-uploads.ts";
import { removeUnreferencedObject } from "../remove-unreferenced-object.ts";

/** Maximum number of objects that one run removes. The next run removes the others. */
const maxPerRun = 1_000;

/**
 * Removes objects that no till refers to and whose upload started more than a day ago. Such objects remain, for
 * example, when a process crashes after it wrote a body and before it stored the till.
 */
export const removeOrphanedTillObjectsTask: PeriodicTask<Pick<TillIngestServiceContext, "db" | "objects" | "log">> = {
  name: "remove orphaned objects",
  intervalSeconds: 60 * 60,
  timeoutSeconds: 3_600,
  async run(services) {
    let removed = 0;
    for (const key of await listStaleTillUploadKeys(services.db.sql, maxPerRun)) {
      if (await removeUnreferencedObject(services, key)) removed += 1;
    }
    if (removed > 0) services.log.info({ objects: removed }, "removed orphaned objects");
  },
};
