import { type UsageBatch, type UsageBatchReply, usageBatchSchema, usageBatchTopic } from "@pragma/contracts/usage";
import type { BusRequestHandler } from "@pragma/runtime/messaging/bus-requests";
import type { AccountsServiceContext } from "./context.ts";
import { addFailedRequests, addRequestCounts } from "./queries/usage.ts";

/**
 * Stores each batch of a gateway once. After the reply `failed`, or none, the gateway sends the batch again; after
 * `rejected`, it must not.
 */
export const usageBatchHandler: BusRequestHandler<Pick<AccountsServiceContext, "db" | "log">> = {
  topic: usageBatchTopic,
  async handle({ db, log }, text): Promise<UsageBatchReply> {
    let batch: UsageBatch;
    try {
      batch = usageBatchSchema.parse(JSON.parse(text));
    } catch (error) {
      log.error({ err: error }, "invalid usage batch rejected");
      return "rejected";
    }
    try {
      await db.transaction(async (tx) => {
        const key = { eventId: batch.id, subscription: usageBatchTopic };
        const inserted = await tx`insert into inbox ${tx(key)} on conflict do nothing`;
        if (inserted.count === 0) return;
        await addRequestCounts(tx, batch.counts);
        await addFailedRequests(tx, batch.failures);
      });
      return "stored";
    } catch (error) {
      log.warn({ err: error, batchId: batch.id }, "usage batch could not be stored");
      return "failed";
    }
  },
};
