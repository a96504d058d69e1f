import type { DeliveryState } from "@pragma/contracts/delivery";
import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";
import { type RequestContext, withRequestContext } from "@pragma/runtime/request-context";
import { failSpan, type Operation, SpanKind } from "@pragma/runtime/tracing";
import type { Clock } from "../clock.ts";
import { judgeAttempt, type Posted } from "../judge-attempt.ts";
import { type Claim, releaseClaim } from "../queries/claims.ts";
import type { RetrySchedule } from "../retry-schedule.ts";
import { signMessage } from "../sign-message.ts";
import type { EndpointDirectory, EndpointFacts } from "./endpoint-facts.ts";
import type { OutcomeLog } from "./outcome-log.ts";
import type { Poster } from "./post-message.ts";

/** What it takes to make an attempt. */
export interface Attempting {
  db: Database;
  log: Logger;
  clock: Clock;
  directory: EndpointDirectory;
  poster: Poster;
  outcomes: OutcomeLog;
  schedule: RetrySchedule;
  /** Told how an attempt went, and what became of its delivery: `pending` is tried again. */
  onAttempt(attempt: { outcome: "succeeded" | "failed"; delivery: DeliveryState; seconds: number }): void;
  /** Told when a delivery is to be tried again. */
  onRetry(claim: Claim, at: Date): void;
}

/** When the endpoint could not be read here, the delivery is taken up again so much later. */
const takenUpAgain = 30_000;

/**
 * Makes one attempt of a delivery that was claimed: signs and posts the message, and writes down what came of it.
 * Never rejects.
 *
 * @returns how the endpoint did; `spared` when it was not asked, or when that says nothing about it.
 */
export async function makeAttempt(attempting: Attempting, claim: Claim): Promise<"succeeded" | "failed" | "spared"> {
  const { clock, log, db } = attempting;
  let endpoint: EndpointFacts | undefined;
  try {
    endpoint = await attempting.directory.find(claim.webhookId, claim.revision);
    if (!endpoint) throw new Error(`There is no webhook ${claim.webhookId} any more.`);
  } catch (error) {
    log.error({ err: error, deliveryId: claim.deliveryId, webhookId: claim.webhookId }, "attempt not made");
    await releaseClaim(db.sql, claim, new Date(clock().getTime() + takenUpAgain)).catch(() => {});
    return "spared";
  }
  const { messageId: requestId, traceparent } = claim;
  const request = { claim, endpoint, body: Buffer.from(claim.body, "utf8"), at: clock() };
  return withRequestContext({ requestId, traceparent, operation: sendingOf(claim, endpoint) }, (context) =>
    send(attempting, request, context),
  );
}

function sendingOf({ deliveryId, webhookId, event, generation, attempt }: Claim, { url }: EndpointFacts): Operation {
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

async function send(
  attempting: Attempting,
  request: UnsignedRequest,
  { trace, span, traceparent }: RequestContext,
): Promise<"succeeded" | "failed" | "spared"> {
  const { clock, log } = attempting;
  const { claim } = request;
  const startedAt = request.at;
  const started = performance.now();
  const posted = await post(attempting, request);
  const milliseconds = Math.round(performance.now() - started);
  const endedAt = clock();
  const isTest = claim.event === "test";
  const { schedule } = attempting;
  const verdict = judgeAttempt(posted, { schedule, failures: claim.failures, at: endedAt, isTest });
  const response = posted.status === null ? null : posted.response;
  const { status } = posted;
  const outcome = { ...claim, ...verdict, startedAt, endedAt, milliseconds, status, response, traceparent };
  await attempting.outcomes.record(outcome);

  const { deliveryId, webhookId, messageId, event, generation, attempt } = claim;
  const { state, error, nextAttemptAt } = verdict;
  const success = error === null ? "succeeded" : "failed";
  attempting.onAttempt({ outcome: success, delivery: state, seconds: milliseconds / 1_000 });
  if (status !== null) span?.setAttribute("http.response.status_code", status);
  if (span && error !== null) failSpan(span, error);
  const { traceId } = trace;
  log.info(
    { deliveryId, webhookId, messageId, event, generation, attempt, traceId, status, milliseconds, state, error },
    "attempt",
  );
  if (nextAttemptAt) attempting.onRetry(claim, nextAttemptAt);
  if (error === null) return "succeeded";
  return isTest ? "spared" : "failed";
}

interface UnsignedRequest {
  claim: Claim;
  endpoint: EndpointFacts;
  body: Uint8Array;
  at: Date;
}

async function post({ poster }: Attempting, { claim, endpoint, body, at }: UnsignedRequest): Promise<Posted> {
  const { url, fault, apiKey, secrets } = endpoint;
  if (fault) return { status: null, reason: `The endpoint's address ${fault.message}.` };
  const current = secrets.filter(({ expiresAt }) => expiresAt > at.getTime()).map(({ secret }) => secret);
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "user-agent": "Pragma-Webhooks/1.0",
    ...signMessage({ id: claim.messageId, event: claim.event, body }, { secrets: current, at }),
    ...(apiKey !== null && { authorization: apiKey }),
  };
  return poster.post({ url, headers, body });
}
