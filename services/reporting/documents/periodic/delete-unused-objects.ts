import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { ReportingContext } from "../../context.ts";
import type { UnusedObject } from "../queries/unused-objects.ts";

const maxObjectsPerRun = 200;

/** Deletes objects of unpacked tills after a day, and objects whose till was not packed after an hour. */
export const deleteUnusedObjectsTask: PeriodicTask<Pick<ReportingContext, "db" | "objects" | "log">> = {
  name: "delete unused objects",
  intervalSeconds: 60,
  async run({ db, objects, log }) {
    // From now on, `keepUploadedObject` returns false for these objects, even if this task ends before it has deleted
    // their rows, and the clock of the server is set back.
    const expired = await db.sql<UnusedObject[]>`
      update unused_objects set delete_after = '-infinity'
      where (location_id, object_key) in (
        select location_id, object_key from unused_objects
        where delete_after < now() order by delete_after limit ${maxObjectsPerRun} for update skip locked
      )
      returning location_id, object_key`;
    let deleted = 0;
    for (const { locationId, objectKey } of expired) {
      await db.transaction(async (tx) => {
        // Locks the row until the object is deleted. Finds none if another process has it.
        const rows = await tx`
          delete from unused_objects where (location_id, object_key) in (
            select location_id, object_key from unused_objects
            where location_id = ${locationId} and object_key = ${objectKey} and delete_after < now()
            for update skip locked
          )`;
        if (rows.count === 0) return;
        await objects.delete(objectKey);
        deleted += 1;
      });
    }
    if (deleted > 0) log.info({ objects: deleted }, "deleted unused objects");
  },
};
