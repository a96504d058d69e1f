import { type UsageBatchReply, usageBatchSchema, usageBatchTopic } from "@pragma/contracts/usage";
import type { BusRequestHandler } from "@pragma/runtime/messaging/bus-requests";
import type { AccountsServiceContext } from "./context.ts";
import { addFailedRequests, addRequestCounts } from "./queries/usage.ts";

/**
 * Stores a batch of a gateway, once for each id. A gateway that gets the reply `failed`, or none, sends the batch again.
 * `rejected` means that the batch is invalid, so that the gateway must not send it again.
 */
async function storeUsageBatch(
  { db, log }: Pick<AccountsServiceContext, "db" | "log">,
  text: string,
): Promise<UsageBatchReply> {
  const parsed = usageBatchSchema.safeParse(parseJsonOrUndefined(text));
  if (!parsed.success) {
    log.error({ err: parsed.error }, "invalid usage batch rejected");
    return "rejected";
  }
  const { id, counts, failures } = parsed.data;
  try {
    await db.transaction(async (tx) => {
      const key = { eventId: id, subscription: usageBatchTopic };
      const inserted = await tx`insert into inbox ${tx(key)} on conflict do nothing`;
      if (inserted.count === 0) return;
      await addRequestCounts(tx, counts);
      await addFailedRequests(tx, failures);
    });
    return "stored";
  } catch (error) {
    log.warn({ err: error, batchId: id }, "usage batch could not be stored");
    return "failed";
  }
}

function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Receives the batches of all gateways. */
export const usageBatchHandler: BusRequestHandler<AccountsServiceContext> = {
  topic: usageBatchTopic,
  handle: storeUsageBatch,
};
