import type { PosDeviceIdentity } from "@pragma/contracts/device";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import type { TillRevisionReason } from "./queries/till-versions.ts";
import type { TillRow } from "./queries/tills.ts";

interface TillPushedDetails {
  reason: TillRevisionReason;
  /** W3C trace context of the request, event or task that caused the publication. */
  traceparent: string | undefined;
}

/** Publishes `till.pushed` for a till's current revision, in the transaction that created or requeued the revision. */
export async function writeTillPushedToOutbox(
  tx: SqlTransaction,
  till: TillRow,
  { reason, traceparent }: TillPushedDetails,
): Promise<void> {
  const { erasedRevision } = till;
  await writeEventToOutbox(tx, "till.pushed", {
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
      ...(erasedRevision === till.revision && { isErasure: true }),
      ...(erasedRevision !== null && { erasedRevision }),
    },
    traceparent,
  });
}

interface DeviceSeenDetails {
  /** The device that closed the till. */
  device: PosDeviceIdentity;
  traceparent: string | undefined;
}

/** Publishes `device.seen` for the device of a new till, in the transaction that stores the till. */
export async function writeDeviceSeenToOutbox(
  tx: SqlTransaction,
  { locationId, createdAt }: TillRow,
  { device, traceparent }: DeviceSeenDetails,
): Promise<void> {
  const data = { locationId, ...device, seenAt: createdAt.toISOString() };
  await writeEventToOutbox(tx, "device.seen", { subject: device.deviceId, data, traceparent });
}
