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
import { evaluateAttempt, type WebhookPostResult } from "./evaluate-attempt.ts";
import type { WebhookHttpClient } from "./webhook-http-client.ts";

export interface DeliveryAttemptDependencies extends Pick<WebhooksDependencies, "log" | "clock" | "config"> {
  findEndpoint: WebhookEndpointLookup;
  httpClient: WebhookHttpClient;
  attemptWriter: WebhookAttemptWriter;
  releaseClaim(claim: ReleasedWebhookDeliveryClaim): Promise<unknown>;
  recordDuration(seconds: number, labels: { outcome: string; delivery: WebhookDeliveryState }): void;
  /** Called if the delivery will be attempted again, with the time of the next attempt. */
  onRetry(claim: WebhookDeliveryClaim, at: Date): void;
}

/** Milliseconds by which a delivery is postponed when its endpoint could not be loaded. */
const endpointLoadRetryMs = 30_000;

/**
 * Attempts a claimed delivery: signs and posts the message, and records the result. Releases the claim instead if the
 * endpoint cannot be loaded, or if the lease may expire before the attempt ends, because another instance could then
 * send the same message. Never rejects.
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
  const endpoint = await findEndpoint(webhookId, claim.revision);
  const startedAt = clock();
  if (!endpoint)
    return releaseUnused(new Date(startedAt.getTime() + endpointLoadRetryMs), "endpoint could not be loaded");
  if (claim.leaseExpiresAt.getTime() < startedAt.getTime() + getWebhookAttemptTimeoutMs(config))
    return releaseUnused(startedAt, "remaining lease is shorter than the timeout");
  const operation = attemptOperation(claim, endpoint);
  return runWithObservabilityContext({ requestId, traceparent, operation }, async (context) => {
    const startedAtMs = performance.now();
    const { postResult, signature } = await postToEndpoint(httpClient, claim, endpoint, startedAt);
    const milliseconds = Math.round(performance.now() - startedAtMs);
    const endedAt = clock();
    const isTest = claim.event === "test";
    const attempt = { schedule: config.WEBHOOK_RETRY_SCHEDULE, failedAttempts: claim.failures, endedAt, isTest };
    const evaluation = evaluateAttempt(postResult, attempt);
    const times = { startedAt, endedAt, milliseconds };
    await attemptWriter.recordAttempt({ claim, postResult, signature, evaluation, ...times, context });

    const { state, error, nextAttemptAt } = evaluation;
    const outcome = error === null ? "succeeded" : "failed";
    recordDuration(milliseconds / 1_000, { outcome, delivery: state });
    const { span } = context;
    if (postResult.status !== null) span.setAttribute("http.response.status_code", postResult.status);
    else if (postResult.triedAddresses) {
      const addresses = [...postResult.triedAddresses];
      span.setAttribute("pragma.tried_addresses", addresses);
      log.info({ deliveryId, webhookId, addresses, error }, "could not connect to the endpoint");
    }
    if (error !== null) markSpanFailed(span, error);
    if (nextAttemptAt) onRetry(claim, nextAttemptAt);
    return isTest && outcome === "failed" ? "unknown" : outcome;
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

/** Signs and posts the message. Returns the result, and the header webhook-signature; null if nothing was sent. */
async function postToEndpoint(
  httpClient: WebhookHttpClient,
  { messageId, event, body }: WebhookDeliveryClaim,
  { url, issue, apiKey, secrets }: EndpointCredentials,
  signedAt: Date,
): Promise<{ postResult: WebhookPostResult; signature: string | null }> {
  if (issue)
    return { postResult: { status: null, reason: `The endpoint's address ${issue.message}.` }, signature: null };
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
