import type { WebhookDeliveryState } from "@pragma/contracts/webhook-delivery";
import { runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import { markSpanFailed, SpanKind, type TracedOperation } from "@pragma/runtime/observability/tracing";
import { getWebhookAttemptTimeoutMs } from "../config.ts";
import type { WebhooksDependencies } from "../dependencies.ts";
import { createWebhookSignatureHeaders } from "../messages/sign-message.ts";
import type { ReleasedWebhookDeliveryClaim, WebhookDeliveryClaim } from "../queries/claims.ts";
import type { WebhookAttemptWriter } from "./attempt-writer.ts";
import type { EndpointCredentials, WebhookEndpointLookup } from "./endpoint-cache.ts";
import type { BreakerResult } from "./endpoint-queue.ts";
import { evaluateAttempt, isQuotaUsedUp, type WebhookPostResult } from "./evaluate-attempt.ts";
import type { createMessageQuota } from "./message-quota.ts";
import type { WebhookHttpClient } from "./webhook-http-client.ts";

export interface DeliveryAttemptDependencies extends Pick<WebhooksDependencies, "log" | "clock" | "config"> {
  findEndpoint: WebhookEndpointLookup;
  httpClient: WebhookHttpClient;
  consumeMessageQuota: ReturnType<typeof createMessageQuota>;
  attemptWriter: WebhookAttemptWriter;
  releaseClaim(claim: ReleasedWebhookDeliveryClaim): Promise<unknown>;
  recordDuration(seconds: number, labels: { outcome: string; delivery: WebhookDeliveryState }): void;
  /** Called if the delivery will be attempted again, with the time of the next attempt. */
  onRetry(claim: WebhookDeliveryClaim, at: Date): void;
}

/** Milliseconds by which a delivery is postponed when its endpoint could not be loaded, or its message not counted. */
const databaseRetryMs = 30_000;

/**
 * Attempts a claimed delivery: signs and posts the message, and records the result. Releases the claim instead if the
 * endpoint cannot be loaded, if the message cannot be counted toward a quota, or if the lease may expire before the attempt
 * ends, because another instance could then send the same message. Never rejects.
 *
 * @returns whether the attempt shows that the endpoint works.
 */
export async function attemptWebhookDelivery(
  services: DeliveryAttemptDependencies,
  claim: WebhookDeliveryClaim,
): Promise<BreakerResult> {
  const { log, clock, config, findEndpoint, httpClient, attemptWriter, releaseClaim, recordDuration, onRetry } =
    services;
  const { deliveryId, webhookId, messageId: requestId, traceparent } = claim;
  const releaseUnused = async (dueAt: Date, reason: string): Promise<BreakerResult> => {
    log.warn({ deliveryId, webhookId }, `attempt skipped: ${reason}`);
    // An error is ignored, because the claim also ends when its lease expires.
    await releaseClaim({ ...claim, dueAt }).catch(() => {});
    onRetry(claim, dueAt);
    return "unknown";
  };
  const retryLater = (reason: string) => releaseUnused(new Date(clock().getTime() + databaseRetryMs), reason);
  const endpoint = await findEndpoint(webhookId, claim.revision);
  if (!endpoint) return retryLater("endpoint could not be loaded");
  const refusal = await findRefusal(services, endpoint);
  if (refusal === "unknown") return retryLater("message could not be counted");
  const startedAt = clock();
  if (claim.leaseExpiresAt.getTime() < startedAt.getTime() + getWebhookAttemptTimeoutMs(config))
    return releaseUnused(startedAt, "remaining lease is shorter than the timeout");
  const operation = attemptOperation(claim, endpoint);
  return runWithObservabilityContext({ requestId, traceparent, operation }, async (context) => {
    const startedAtMs = performance.now();
    const { postResult, signature } = refusal
      ? { postResult: refusal, signature: null }
      : await postToEndpoint(httpClient, claim, endpoint, startedAt);
    const milliseconds = Math.round(performance.now() - startedAtMs);
    const endedAt = clock();
    const isTest = claim.event === "test";
    const attempt = { schedule: config.WEBHOOK_RETRY_SCHEDULE, failedAttempts: claim.failures, endedAt, isTest };
    const evaluation = evaluateAttempt(postResult, attempt);
    const times = { startedAt, endedAt, milliseconds };
    await attemptWriter.recordAttempt({ claim, postResult, signature, evaluation, ...times, context });

    const { state, error, nextAttemptAt } = evaluation;
    const outcome = error === null ? "succeeded" : "failed";
    // Shows nothing about the endpoint.
    const isRefused = isQuotaUsedUp(postResult);
    if (!isRefused) recordDuration(milliseconds / 1_000, { outcome, delivery: state });
    const { span } = context;
    if (postResult.status !== null) span.setAttribute("http.response.status_code", postResult.status);
    else if (postResult.triedAddresses) {
      const addresses = [...postResult.triedAddresses];
      span.setAttribute("pragma.tried_addresses", addresses);
      log.info({ deliveryId, webhookId, addresses, error }, "could not connect to the endpoint");
    }
    if (error !== null) markSpanFailed(span, error);
    if (nextAttemptAt) onRetry(claim, nextAttemptAt);
    return isRefused || (isTest && outcome === "failed") ? "unknown" : outcome;
  });
}

function attemptOperation(
  { deliveryId, webhookId, event, generation, attempt }: WebhookDeliveryClaim,
  { url }: EndpointCredentials,
): TracedOperation {
  return {
    name: `webhook ${event}`,
    kind: SpanKind.CLIENT,
    attributes: {
      "pragma.service": "webhooks",
      "pragma.webhook_id": webhookId,
      "pragma.delivery_id": deliveryId,
      "pragma.generation": generation,
      "pragma.attempt": attempt,
      "http.request.method": "POST",
      "server.address": url.hostname,
    },
  };
}

/** Returns why nothing may be sent to the endpoint, after counting the message; `unknown` if it could not be counted. */
async function findRefusal(
  { log, consumeMessageQuota }: Pick<DeliveryAttemptDependencies, "log" | "consumeMessageQuota">,
  { locationId, issue, hasMessageQuota }: EndpointCredentials,
): Promise<WebhookPostResult | "unknown" | undefined> {
  if (issue) return { status: null, reason: `The endpoint's address ${issue.message}.` };
  if (!hasMessageQuota) return undefined;
  try {
    const reason = await consumeMessageQuota(locationId);
    return reason === null ? undefined : { status: null, reason, isQuotaUsedUp: true };
  } catch (err) {
    log.warn({ err, locationId }, "failed to count a message");
    return "unknown";
  }
}

/** Signs and posts the message. Returns the result, and the header webhook-signature. */
async function postToEndpoint(
  httpClient: WebhookHttpClient,
  { messageId, event, body }: WebhookDeliveryClaim,
  { url, apiKey, secrets }: EndpointCredentials,
  signedAt: Date,
): Promise<{ postResult: WebhookPostResult; signature: string }> {
  const activeSecrets = secrets.filter(({ expiresAt }) => expiresAt > signedAt.getTime());
  const keys = activeSecrets.map(({ secret }) => secret);
  const signatureHeaders = createWebhookSignatureHeaders({ id: messageId, event, body }, { secrets: keys, signedAt });
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "user-agent": "Pragma-Webhooks/1.0",
    ...signatureHeaders,
    ...(apiKey !== null && { authorization: apiKey }),
  };
  return {
    postResult: await httpClient.post({ url, headers, body }),
    signature: signatureHeaders["webhook-signature"],
  };
}
