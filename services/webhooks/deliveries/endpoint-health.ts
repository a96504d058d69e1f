import type { WebhookDisabledReason } from "@pragma/contracts/webhook";
import { runAfterCommit, type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import { publishEvent } from "@pragma/runtime/messaging/outbox";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { CompletedDeliveryAttempt } from "../queries/attempts.ts";

interface EndpointHealth {
  /** When the first attempt failed since the last that succeeded. */
  failingSince: Date;
  /** When the recipient was told. */
  warnedAt: Date | null;
  /** Whether the endpoint says that it is there no more. */
  isGone: boolean;
}

const dayMs = 24 * 3_600_000;
/** An endpoint that has nothing but failures for so long is sent nothing any more. */
const disableAfterMs = 5 * dayMs;
/** After half of that its recipient is told. */
const warnAfterMs = disableAfterMs / 2;

/** What follows from an attempt that failed, for the endpoint. */
export function evaluateEndpointHealth(
  { failingSince, warnedAt, isGone }: EndpointHealth,
  now: Date,
): WebhookDisabledReason | "warn" | "nothing" {
  if (isGone) return "gone";
  const failingForMs = now.getTime() - failingSince.getTime();
  if (failingForMs >= disableAfterMs) return "failing";
  return failingForMs >= warnAfterMs && warnedAt === null ? "warn" : "nothing";
}

/** An endpoint whose latest attempt failed. */
interface FailingEndpointUpdate {
  webhookId: string;
  /** When the first attempt failed since the last that succeeded. */
  since: Date;
  /** Whether any succeeded before that in the same batch: then nothing from earlier counts. */
  hasWorked: boolean;
  lastError: string;
  isGone: boolean;
  /** Of the latest attempt (W3C). */
  traceparent: string;
}

/**
 * What a batch of attempts, in the order in which they ended, says of their endpoints: those whose latest one succeeded,
 * and those whose latest one failed. A test that fails says nothing: it may be made of an endpoint that is yet to be
 * built.
 */
export function summarizeEndpointHealth(attempts: readonly CompletedDeliveryAttempt[]): {
  healthyWebhookIds: string[];
  failingEndpoints: FailingEndpointUpdate[];
} {
  const succeededWebhookIds = new Set<string>();
  const goneWebhookIds = new Set<string>();
  const failing = new Map<string, FailingEndpointUpdate>();
  for (const { claim, evaluation, endedAt, context } of attempts) {
    const { webhookId } = claim;
    const { error, isEndpointGone } = evaluation;
    if (error === null) {
      succeededWebhookIds.add(webhookId);
      failing.delete(webhookId);
    } else if (claim.event !== "test") {
      if (isEndpointGone) goneWebhookIds.add(webhookId);
      const { since } = failing.get(webhookId) ?? { since: endedAt };
      const latest = {
        webhookId,
        lastError: error,
        traceparent: context.traceparent,
        isGone: goneWebhookIds.has(webhookId),
      };
      failing.set(webhookId, { ...latest, since, hasWorked: succeededWebhookIds.has(webhookId) });
    }
  }
  return {
    healthyWebhookIds: [...succeededWebhookIds].filter((webhookId) => !failing.has(webhookId)),
    // In one order, so that two batches which lock the same webhooks wait for each other in turn.
    failingEndpoints: [...failing.values()].sort((one, other) => (one.webhookId < other.webhookId ? -1 : 1)),
  };
}

interface FailingWebhook
  extends EndpointHealth,
    Pick<FailingEndpointUpdate, "webhookId" | "lastError" | "traceparent"> {
  locationId: string;
  endpointUrl: string;
}

/**
 * Records the endpoints that fail. One that is gone, or has had nothing but failures for five days, is disabled, and one
 * that is half-way there is warned of: both are told to the recipient's other endpoints.
 */
export async function recordEndpointFailures(
  tx: SqlTransaction,
  failingEndpoints: FailingEndpointUpdate[],
  { now, log }: { now: Date; log: Logger },
): Promise<void> {
  const updatedWebhooks = await tx<FailingWebhook[]>`
    update webhooks w set
      failing_since = case when given.has_worked then given.since else coalesce(w.failing_since, given.since) end,
      warned_at = case when not given.has_worked then w.warned_at end,
      last_error = given.last_error
    from jsonb_to_recordset(${toRecordsetParameter(tx, failingEndpoints)}) as given (
      webhook_id uuid, since timestamptz, has_worked boolean, last_error text, is_gone boolean, traceparent text
    )
    where w.id = given.webhook_id and w.state = 'active'
    returning
      w.id as webhook_id, w.location_id, w.endpoint_url, w.failing_since, w.warned_at, w.last_error, given.is_gone,
      given.traceparent`;
  for (const { traceparent, warnedAt, isGone, ...webhook } of updatedWebhooks) {
    const { webhookId: subject, failingSince } = webhook;
    const healthDecision = evaluateEndpointHealth({ failingSince, warnedAt, isGone }, now);
    if (healthDecision === "nothing") continue;
    const data = { ...webhook, failingSince: failingSince.toISOString() };
    if (healthDecision === "warn") {
      await tx`update webhooks set warned_at = ${now} where id = ${subject}`;
      await publishEvent(tx, "endpoint.failing", { subject, data, traceparent });
    } else {
      await tx`
        update webhooks set
          state = 'disabled', disabled_reason = ${healthDecision}, revision = revision + 1, updated_at = ${now}
        where id = ${subject}`;
      await publishEvent(tx, "endpoint.disabled", { subject, data: { ...data, reason: healthDecision }, traceparent });
    }
    runAfterCommit(tx, () => log.warn(data, `endpoint ${healthDecision === "warn" ? "warned" : "disabled"}`));
  }
}
