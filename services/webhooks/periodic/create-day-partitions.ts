import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { WebhooksServiceContext } from "../context.ts";
import { createDayPartitions } from "../queries/message-days.ts";

/**
 * Creates the partitions of messages and attempts for the coming days. Moves rows of other days, which are in the default
 * partitions, to partitions of their own, so that they are removed with their day.
 */
export const createDayPartitionsTask: PeriodicTask<Pick<WebhooksServiceContext, "db" | "log" | "clock">> = {
  name: "create day partitions",
  intervalSeconds: 3_600,
  async run({ db, log, clock }) {
    const partitions = await createDayPartitions(db, clock());
    if (partitions.length > 0) log.info({ partitions }, "partitions for messages and attempts created");
  },
};
