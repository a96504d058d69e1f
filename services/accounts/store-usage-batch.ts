import { type UsageBatch, type UsageBatchReply, usageBatchSchema, usageBatchTopic } from "@pragma/contracts/usage";
import type { BusRequestHandler } from "@pragma/runtime/messaging/bus-requests";
import { isTransient } from "@pragma/runtime/retries/transient-error";
import type { AccountsServiceContext } from "./context.ts";
import { addFailedRequests, addRequestCounts } from "./queries/usage.ts";

/**
 * Stores each batch of a gateway once. After the reply `failed`, or none, the gateway sends the batch again; after
 * `rejected`, it must not.
 */
export const usageBatchHandler: BusRequestHandler<Pick<AccountsServiceContext, "db" | "log">> = {
  topic: usageBatchTopic,
  async handle({ db, log }, text): Promise<UsageBatchReply> {
    const batch = parseBatch(text);
    if (!batch) {
      log.error("invalid usage batch rejected");
      return "rejected";
    }
    try {
      await storeBatch({ db }, batch).catch((error) => {
        if (isTransient(error) || batch.failures.length === 0) throw error;
        // Sent again, the batch would fail again, and keep all later ones back.
        log.error({ err: error, batchId: batch.id }, "failed requests of a usage batch could not be stored");
        return storeBatch({ db }, { ...batch, failures: [] });
      });
      return "stored";
    } catch (error) {
      log.warn({ err: error, batchId: batch.id }, "usage batch could not be stored");
      return "failed";
    }
  },
};

/** Returns the batch, without its failures if one of them is invalid; undefined if its counts are invalid. */
function parseBatch(text: string): UsageBatch | undefined {
  try {
    const input = JSON.parse(text);
    return usageBatchSchema.safeParse(input).data ?? usageBatchSchema.parse({ ...input, failures: [] });
  } catch {
    return undefined;
  }
}

async function storeBatch({ db }: Pick<AccountsServiceContext, "db">, batch: UsageBatch): Promise<void> {
  await db.transaction(async (tx) => {
    const key = { eventId: batch.id, subscription: usageBatchTopic };
    const inserted = await tx`insert into inbox ${tx(key)} on conflict do nothing`;
    if (inserted.count === 0) return;
    await addRequestCounts(tx, batch.counts);
    await addFailedRequests(tx, batch.failures);
  });
}
