import type { DeliveryState } from "@pragma/contracts/delivery";
import { withRequestContext } from "@pragma/runtime/request-context";
import { failSpan, type Operation, SpanKind } from "@pragma/runtime/tracing";
import { timeoutMs } from "../config.ts";
import { judgeAttempt, type Posted } from "../judge-attempt.ts";
import type { Claim, ReleasedClaim } from "../queries/claims.ts";
import { signMessage } from "../sign-message.ts";
import type { Foundation } from "../webhooks.ts";
import type { AttemptWriter } from "./attempt-writer.ts";
import type { Endpoint, FindEndpoint } from "./endpoint-directory.ts";
import type { EndpointResult } from "./endpoint-queue.ts";
import type { Poster } from "./post-message.ts";

/** What it takes to make an attempt. */
export interface AttemptServices extends Pick<Foundation, "log" | "clock" | "config"> {
  findEndpoint: FindEndpoint;
  poster: Poster;
  writer: AttemptWriter;
  /** Gives a claim back unused. */
  release(claim: ReleasedClaim): Promise<unknown>;
  /** Told how long an attempt took, how it went, and what became of its delivery: `pending` is tried again. */
  attempted(seconds: number, labels: { outcome: string; delivery: DeliveryState }): void;
  /** Told when a delivery is to be tried again. */
  onRetry(claim: Claim, at: Date): void;
}

/** When the endpoint could not be read here, the delivery is due again so much later. */
const unreadPauseMs = 30_000;

/**
 * Makes one attempt of a delivery that was claimed: signs and posts the message, and writes down what came of it. A claim
 * that may lapse before the attempt is over is given back instead: another would send the message a second time. Never
 * rejects.
 */
export async function makeAttempt(services: AttemptServices, claim: Claim): Promise<EndpointResult> {
  const { log, clock, config, findEndpoint, poster, writer, release, attempted, onRetry } = services;
  const { deliveryId, webhookId, messageId: requestId, traceparent } = claim;
  const releaseUnused = async (dueAt: Date, reason: string): Promise<EndpointResult> => {
    log.warn({ deliveryId, webhookId }, `attempt not made: ${reason}`);
    // A claim that cannot be given back lapses.
    await release({ ...claim, dueAt }).catch(() => {});
    onRetry(claim, dueAt);
    return "unknown";
  };
  const endpoint = await findEndpoint(webhookId, claim.revision);
  const at = clock();
  if (!endpoint) return releaseUnused(new Date(at.getTime() + unreadPauseMs), "its endpoint is not known");
  if (claim.lapsesAt.getTime() < at.getTime() + timeoutMs(config))
    return releaseUnused(at, "its lease is too short by now");
  const operation = operationOf(claim, endpoint);
  return withRequestContext({ requestId, traceparent, operation }, async (context) => {
    const { event, failures } = claim;
    const started = performance.now();
    const posted = await post(poster, { claim, endpoint, at });
    const milliseconds = Math.round(performance.now() - started);
    const endedAt = clock();
    const isTest = event === "test";
    const verdict = judgeAttempt(posted, { schedule: config.WEBHOOK_SCHEDULE, failures, at: endedAt, isTest });
    await writer.record({ claim, posted, verdict, startedAt: at, endedAt, milliseconds, context });

    const { state, error, nextAttemptAt } = verdict;
    const outcome = error === null ? "succeeded" : "failed";
    attempted(milliseconds / 1_000, { outcome, delivery: state });
    const { span } = context;
    if (posted.status !== null) span.setAttribute("http.response.status_code", posted.status);
    if (error !== null) failSpan(span, error);
    if (nextAttemptAt) onRetry(claim, nextAttemptAt);
    return isTest && outcome === "failed" ? "unknown" : outcome;
  });
}

function operationOf({ deliveryId, webhookId, event, generation, attempt }: Claim, { url }: Endpoint): Operation {
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

async function post(
  poster: Poster,
  { claim, endpoint, at }: { claim: Claim; endpoint: Endpoint; at: Date },
): Promise<Posted> {
  const { url, fault, apiKey } = endpoint;
  const { messageId, event, body } = claim;
  if (fault) return { status: null, reason: `The endpoint's address ${fault.message}.` };
  const current = endpoint.secrets.filter(({ expiresAt }) => expiresAt > at.getTime());
  const secrets = current.map(({ secret }) => secret);
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "user-agent": "Pragma-Webhooks/1.0",
    ...signMessage({ id: messageId, event, body }, { secrets, at }),
    ...(apiKey !== null && { authorization: apiKey }),
  };
  return poster.post({ url, headers, body });
}
