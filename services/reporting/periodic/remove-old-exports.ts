import type { PeriodicTask } from "@pragma/runtime/define-service";
import { removeExportsOlderThan } from "../queries/accounting-exports.ts";
import type { Reporting } from "../reporting.ts";

const portion = 50;

/** Removes exports with their files once they are too old; they can be made again from the same tills. */
export const removeOldExports: PeriodicTask<Pick<Reporting, "db" | "exportsKeptDays">> = {
  name: "remove old accounting exports",
  everySeconds: 3_600,
  async run({ db, exportsKeptDays: days }) {
    while ((await db.transaction((tx) => removeExportsOlderThan(tx, { days, limit: portion }))) === portion);
  },
};
