import type { AuditAction, AuditActor, AuditDetails } from "@pragma/contracts/audit";
import type { SqlTransaction } from "../database/postgres.ts";
import type { RequestPrincipalAndMetadata } from "../http/request-identity.ts";
import type { ObservabilityContext } from "../observability/request-context.ts";
import { writeEventToOutbox } from "./outbox.ts";

/** Who made a change, and in which request. */
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

const actorWithoutKey = { keyId: null, consumer: null, locationId: null, clientAddress: null, userAgent: null };

/** The source of changes that a command of the operator makes. */
export const operatorCommandAuditSource: AuditSource = {
  actor: { type: "operator_command", ...actorWithoutKey },
  requestId: null,
  traceparent: undefined,
};

/** The source of changes that a service makes at its start because of its configuration. */
export const configurationAuditSource: AuditSource = {
  actor: { type: "configuration", ...actorWithoutKey },
  requestId: null,
  traceparent: undefined,
};

/** Returns the source of changes that a request makes. */
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

/** Publishes `audit.recorded` in the transaction of the change, so that accounts adds it to the audit log once. */
export async function publishAuditEvent(
  tx: SqlTransaction,
  { actor, requestId, traceparent }: AuditSource,
  { details = {}, ...change }: AuditedChange,
): Promise<void> {
  await writeEventToOutbox(tx, "audit.recorded", {
    subject: change.target.id ?? change.target.type,
    data: { ...change, details, actor, requestId },
    traceparent,
  });
}
