import type { AuditAction, AuditActor, AuditDetails } from "@pragma/contracts/audit";
import { consumeDailyQuotaOrThrow } from "../admission/daily-quota.ts";
import type { SqlTransaction } from "../database/postgres.ts";
import type { RequestPrincipalAndMetadata } from "../http/request-identity.ts";
import type { ObservabilityContext } from "../observability/request-context.ts";
import { writeEventToOutbox } from "./outbox.ts";

export interface AuditSource {
  actor: AuditActor;
  requestId: string | null;
  traceparent: string | undefined;
}

/** A change to add to the audit log. Its details must contain neither secrets nor customer data. */
export interface AuditedChange {
  action: AuditAction;
  locationId: string | null;
  target: { type: string; id: string | null };
  details?: AuditDetails;
}

const createSourceWithoutRequest = (type: AuditActor["type"]): AuditSource => ({
  actor: { type, keyId: null, consumer: null, locationId: null, clientAddress: null, userAgent: null },
  requestId: null,
  traceparent: undefined,
});

/** The source of changes that a command of the operator makes. */
export const operatorCommandAuditSource = createSourceWithoutRequest("operator_command");

/** The source of changes that a service makes at its start because of its configuration. */
export const configurationAuditSource = createSourceWithoutRequest("configuration");

export function createAuditSource(
  { principal, client }: Pick<RequestPrincipalAndMetadata, "principal" | "client">,
  { requestId, traceparent }: Pick<ObservabilityContext, "requestId" | "traceparent">,
): AuditSource {
  const locationId = principal.location?.id ?? null;
  // The stored name of a consumer that a location created begins with the id of the location.
  const consumer =
    locationId !== null && principal.consumer.startsWith(`${locationId}:`)
      ? principal.consumer.slice(locationId.length + 1)
      : principal.consumer;
  const clientFields = { clientAddress: client?.address ?? null, userAgent: client?.userAgent ?? null };
  return {
    actor: { type: "key", keyId: principal.keyId, consumer, locationId, ...clientFields },
    requestId,
    traceparent,
  };
}

/** Keeps one location from filling the audit log for a year, or the stream that also has the events of all tills. */
const changeQuota = { name: "changes", maximum: 20_000, unit: "changes" };

/**
 * Counts the events of a change by a key toward the quota of its location. Deletions and revocations do not count,
 * because they must always be possible and are not more numerous than what was created. @throws `ApiError`
 * quota_exceeded.
 */
export async function consumeChangeQuotaOrThrow(
  tx: SqlTransaction,
  { actor: { type, locationId } }: Pick<AuditSource, "actor">,
  { action, amount = 1 }: Pick<AuditedChange, "action"> & { amount?: number },
): Promise<void> {
  if (type !== "key" || locationId === null || /\.(?:deleted|revoked)$/.test(action)) return;
  await consumeDailyQuotaOrThrow(tx, { locationId, quota: changeQuota, amount });
}

/** Publishes a change, so that accounts adds it to the audit log once. @throws `ApiError` quota_exceeded. */
export async function publishAuditEvent(
  tx: SqlTransaction,
  { actor, requestId, traceparent }: AuditSource,
  { details = {}, ...change }: AuditedChange,
): Promise<void> {
  await consumeChangeQuotaOrThrow(tx, { actor }, change);
  await writeEventToOutbox(tx, "audit.recorded", {
    subject: change.target.id ?? change.target.type,
    data: { ...change, details, actor, requestId },
    traceparent,
  });
}
