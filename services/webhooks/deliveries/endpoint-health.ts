import type { WebhookDisabledReason } from "@pragma/contracts/webhook";
import { runAfterCommit, type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { CompletedWebhookAttempt } from "../queries/attempts.ts";
import { isQuotaUsedUp } from "./evaluate-attempt.ts";

interface EndpointHealth {
  /** When the first attempt after the last success failed. */
  failingSince: Date;
  /** When the recipient was warned that the endpoint is failing; null before the warning. */
  warnedAt: Date | null;
  isGone: boolean;
}

const dayMs = 24 * 3_600_000;
/** Milliseconds after the first failure since the last success. A failure after this time disables the endpoint. */
const disableAfterMs = 5 * dayMs;
/** Milliseconds after the first failure since the last success. A failure after this time warns the recipient once. */
const warnAfterMs = disableAfterMs / 2;

/** Returns the action after a failed attempt: the reason for disabling the endpoint, `warn`, or `nothing`. */
export function chooseEndpointAction(
  { failingSince, warnedAt, isGone }: EndpointHealth,
  now: Date,
): WebhookDisabledReason | "warn" | "nothing" {
  if (isGone) return "gone";
  const failingForMs = now.getTime() - failingSince.getTime();
  if (failingForMs >= disableAfterMs) return "failing";
  return failingForMs >= warnAfterMs && warnedAt === null ? "warn" : "nothing";
}

interface FailingEndpointUpdate {
  locationId: string;
  webhookId: string;
  /** When the endpoint's first failed attempt in the batch ended. Failures before a success do not count. */
  since: Date;
  /** Whether an earlier attempt in the same batch succeeded. Such a success ends the previous series of failures. */
  hasSucceeded: boolean;
  lastError: string;
  isGone: boolean;
  traceparent: string;
}

/**
 * Returns which endpoints are healthy (their latest attempt succeeded) and which are failing. The attempts must be
 * sorted by end time. Failed test messages are ignored, because the endpoint may still be under development, and messages
 * that were not sent because of a quota.
 */
export function groupWebhookEndpointsByHealth(attempts: readonly CompletedWebhookAttempt[]) {
  const succeededWebhookIds = new Set<string>();
  const goneWebhookIds = new Set<string>();
  const failing = new Map<string, FailingEndpointUpdate>();
  for (const { claim, postResult, evaluation, endedAt, context } of attempts) {
    const { locationId, webhookId } = claim;
    const { error, isEndpointGone } = evaluation;
    if (error === null) {
      succeededWebhookIds.add(webhookId);
      failing.delete(webhookId);
    } else if (claim.event !== "test" && !isQuotaUsedUp(postResult)) {
      if (isEndpointGone) goneWebhookIds.add(webhookId);
      failing.set(webhookId, {
        ...{ locationId, webhookId, lastError: error, traceparent: context.traceparent },
        since: failing.get(webhookId)?.since ?? endedAt,
        hasSucceeded: succeededWebhookIds.has(webhookId),
        isGone: goneWebhookIds.has(webhookId),
      });
    }
  }
  return {
    healthyWebhookIds: [...succeededWebhookIds].filter((webhookId) => !failing.has(webhookId)),
    // The endpoints are sorted, so that two batches lock the same webhooks in the same sequence and cannot deadlock.
    failingEndpoints: [...failing.values()].sort((one, other) => (one.webhookId < other.webhookId ? -1 : 1)),
  };
}

interface FailingWebhook
  extends EndpointHealth,
    Pick<FailingEndpointUpdate, "locationId" | "webhookId" | "lastError" | "traceparent"> {
  endpointUrl: string;
}

/**
 * Records failing endpoints. Disables an endpoint that responded with 410 Gone, or that has been failing for five days.
 * Publishes an event when an endpoint is disabled, and a warning event when an endpoint has been failing for two and a
 * half days. These events are sent to the recipient's other endpoints.
 */
export async function updateFailingWebhooks(
  tx: SqlTransaction,
  failingEndpoints: FailingEndpointUpdate[],
  { now, log }: { now: Date; log: Logger },
): Promise<void> {
  const updatedWebhooks = await tx<FailingWebhook[]>`
    update webhooks w set
      failing_since = case when input.has_succeeded then input.since else coalesce(w.failing_since, input.since) end,
      warned_at = case when not input.has_succeeded then w.warned_at end,
      last_error = input.last_error
    from jsonb_to_recordset(${toRecordsetParameter(tx, failingEndpoints)}) as input (
      location_id uuid, webhook_id uuid, since timestamptz, has_succeeded boolean, last_error text, is_gone boolean, traceparent text
    )
    where w.location_id = input.location_id and w.id = input.webhook_id and w.state = 'active'
    returning
      w.id as webhook_id, w.location_id, w.endpoint_url, w.failing_since, w.warned_at, w.last_error, input.is_gone,
      input.traceparent`;
  for (const { traceparent, warnedAt, isGone, ...webhook } of updatedWebhooks) {
    const { locationId, webhookId: subject, failingSince } = webhook;
    const action = chooseEndpointAction({ failingSince, warnedAt, isGone }, now);
    if (action === "nothing") continue;
    const data = { ...webhook, failingSince: failingSince.toISOString() };
    if (action === "warn") {
      await tx`update webhooks set warned_at = ${now} where location_id = ${locationId} and id = ${subject}`;
      await writeEventToOutbox(tx, "endpoint.failing", { subject, data, traceparent });
    } else {
      await tx`
        update webhooks set
          state = 'disabled', disabled_reason = ${action}, revision = revision + 1, updated_at = ${now}
        where location_id = ${locationId} and id = ${subject}`;
      await writeEventToOutbox(tx, "endpoint.disabled", { subject, data: { ...data, reason: action }, traceparent });
    }
    const logMessage = action === "warn" ? "endpoint failure warning sent" : "endpoint disabled";
    runAfterCommit(tx, () => log.warn(data, logMessage));
  }
}
