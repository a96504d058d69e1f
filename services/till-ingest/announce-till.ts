import { publish } from "@pragma/runtime/outbox";
import type { Transaction } from "@pragma/runtime/postgres";
import type { RevisionReason } from "./queries/till-versions.ts";
import type { TillRow } from "./queries/tills.ts";

interface Announcement {
  reason: RevisionReason;
  /** Of what made the revision (W3C). */
  traceparent: string | undefined;
  isErasure?: boolean;
}

/** Publishes `till.pushed` for a till's current revision, in the transaction that made it or found it without result. */
export async function announceTill(
  tx: Transaction,
  till: TillRow,
  { reason, traceparent, isErasure = false }: Announcement,
): Promise<void> {
  await publish(tx, "till.pushed", {
    subject: till.id,
    data: {
      locationId: till.locationId,
      tillId: till.id,
      revision: till.revision,
      reason,
      pushedAt: till.createdAt.toISOString(),
      version: till.format,
      object: { key: till.objectKey, hash: till.hash },
      timeZone: till.timeZone,
      ...(isErasure && { isErasure }),
    },
    traceparent,
  });
}
