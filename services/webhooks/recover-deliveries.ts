import { randomUUID } from "node:crypto";
import { afterCommit } from "@pragma/runtime/postgres";
import { insertRecovery, lockNextRecovery, type RecoveryRow, recoverPortion } from "./queries/recoveries.ts";
import type { Webhooks } from "./webhooks.ts";

const portion = 500;

/** Begins to make again every delivery of a webhook that failed since a time, or failed and waits for another attempt. */
export async function beginRecovery(
  { db, clock, wake }: Pick<Webhooks, "db" | "clock" | "wake">,
  { webhookId, since }: { webhookId: string; since: string },
): Promise<RecoveryRow> {
  return db.transaction(async (tx) => {
    const recovery = await insertRecovery(tx, { id: randomUUID(), webhookId, since, now: clock() });
    afterCommit(tx, () => wake.recoveries());
    return recovery;
  });
}

/**
 * Does the next portion of a recovery, and returns its webhook; undefined when none is left to do. Each portion is a
 * transaction with the place it reaches, so that it goes on from there whatever happens.
 */
export async function continueRecovery({ db, clock }: Pick<Webhooks, "db" | "clock">): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    const recovery = await lockNextRecovery(tx);
    if (recovery) await recoverPortion(tx, recovery, { limit: portion, now: clock() });
    return recovery?.webhookId;
  });
}
