import { randomUUID } from "node:crypto";
import { afterCommit } from "@pragma/runtime/postgres";
import type { RequestContext } from "@pragma/runtime/request-context";
import { insertRecovery, lockRecovery, type RecoveryRow, recoverPortion } from "./queries/recoveries.ts";
import type { Webhooks } from "./webhooks.ts";

const portion = 500;

/** Begins to make again every delivery of a webhook that failed since a time, or failed and waits for another attempt. */
export async function beginRecovery(
  { db, clock, announce }: Pick<Webhooks, "db" | "clock" | "announce">,
  { webhookId, since, context }: { webhookId: string; since: string; context: RequestContext },
): Promise<RecoveryRow> {
  return db.transaction(async (tx) => {
    const recovery = await insertRecovery(tx, { id: randomUUID(), webhookId, since, now: clock() });
    const { traceparent } = context;
    afterCommit(tx, () => void announce([{ kind: "recover", recoveryId: recovery.id, traceparent }]));
    return recovery;
  });
}

/**
 * Does what is left of a recovery, portion by portion, until it is finished or the signal is given. Each portion is a
 * transaction with the place it reaches, so that it goes on from there whatever happens.
 */
export async function continueRecovery(
  { db, clock, announce }: Pick<Webhooks, "db" | "clock" | "announce">,
  { recoveryId, traceparent }: { recoveryId: string; traceparent?: string | undefined },
  signal?: AbortSignal,
): Promise<void> {
  for (let recovered = portion; recovered === portion && !signal?.aborted; ) {
    recovered = await db.transaction(async (tx) => {
      const recovery = await lockRecovery(tx, recoveryId);
      if (!recovery) return 0;
      const { webhookId } = recovery;
      afterCommit(tx, () => void announce([{ kind: "wake", webhookId, traceparent }]));
      return recoverPortion(tx, recovery, { limit: portion, now: clock() });
    });
  }
}
