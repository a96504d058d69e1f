import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { ReportingContext } from "../../context.ts";
import {
  claimExpiredUnusedObjects,
  deleteUnusedObjectRow,
  lockExpiredUnusedObject,
} from "../queries/unused-objects.ts";

const maxObjectsPerRun = 200;

/** Deletes objects of unpacked tills after a day, and objects whose till was not packed after an hour. */
export const deleteUnusedObjectsTask: PeriodicTask<Pick<ReportingContext, "db" | "objects" | "log">> = {
  name: "delete unused objects",
  intervalSeconds: 60,
  async run({ db, objects, log }) {
    let deleted = 0;
    for (const object of await claimExpiredUnusedObjects(db.sql, maxObjectsPerRun)) {
      await db.transaction(async (tx) => {
        if (!(await lockExpiredUnusedObject(tx, object))) return;
        await objects.delete(object.objectKey);
        await deleteUnusedObjectRow(tx, object);
        deleted += 1;
      });
    }
    if (deleted > 0) log.info({ objects: deleted }, "deleted unused objects");
  },
};
