import { publish } from "@pragma/runtime/outbox";
import type { Transaction } from "@pragma/runtime/postgres";
import type { ChangedKey } from "./queries/keys.ts";

/** Tells those who remember a key that it was made, revoked, or may do something else than before. */
export async function publishKey(
  tx: Transaction,
  key: ChangedKey,
  { revoked, traceparent }: { revoked: boolean; traceparent?: string | undefined },
): Promise<void> {
  await publish(tx, "key.changed", {
    subject: key.id,
    data: { locationId: key.locationId, keyId: key.id, keyHash: key.hash, revoked },
    traceparent,
  });
}
