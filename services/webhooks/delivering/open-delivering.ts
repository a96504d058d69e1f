import { type ClaimLoop, startClaimLoop } from "@pragma/runtime/claim-loop";
import type { Signals } from "@pragma/runtime/event-bus";
import type { Metrics } from "@pragma/runtime/metrics";
import { leaseMs, timeoutMs } from "../config.ts";
import { type Claim, claimDue, claimTests, type ReleasedClaim, releaseClaims } from "../queries/claims.ts";
import { continueRecovery } from "../queries/recoveries.ts";
import type { Foundation } from "../webhooks.ts";
import { openAttemptWriter } from "./attempt-writer.ts";
import { batched } from "./batched.ts";
import { openEndpointDirectory } from "./endpoint-directory.ts";
import { openHostRates } from "./endpoint-queue.ts";
import { makeAttempt } from "./make-attempt.ts";
import { openPoster } from "./post-message.ts";
import { Scheduler } from "./scheduler.ts";

interface DeliveringOptions extends Foundation {
  metrics: Metrics;
  signals: Signals;
  /** How often is looked for what is due. */
  pollMs: number;
}

/**
 * What takes deliveries from the database to their endpoints. What is written in the database is done soon when this is
 * woken, and found by polling otherwise.
 */
export interface Delivering {
  /** Of this instance. */
  scheduler: Scheduler;
  /** Makes deliveries of test messages. */
  tests: Pick<ClaimLoop<Claim>, "wake">;
  /** Makes due what is to be recovered. */
  recoveries: Pick<ClaimLoop<string>, "wake">;
  /** Every instance claims what is due of these webhooks: for what may be a lot. */
  wakeEveryInstance(webhookIds: readonly string[]): void;
  /** Lets what is under way finish. */
  close(): Promise<void>;
}

/** Retries further away than this are left to the sweep. */
const maxTimerMs = 60_000;
/** A timer may be early by a millisecond, and what is due at the next would not be claimed. */
const timerMarginMs = 2;
/** Test messages under way at once, beside all others. */
const testConcurrency = 25;
const failuresInARow = 10;
const maxIdsOfSignal = 1_000;

export function openDelivering(options: DeliveringOptions): Delivering {
  const { db, log, metrics, signals, clock, endpoints, config, pollMs } = options;
  const now = () => clock().getTime();
  const lease = () => ({ now: clock(), lapsesAt: new Date(now() + leaseMs(config)) });
  const findEndpoint = openEndpointDirectory(options, { onMoved: (webhookId) => scheduler.forget(webhookId) });
  const writer = openAttemptWriter(options);
  const poster = openPoster({ ...endpoints, timeoutMs: timeoutMs(config), connections: config.WEBHOOK_CONCURRENCY });
  const attempted = metrics.durations(
    "webhook_attempt_duration_seconds",
    "Attempts to deliver, by outcome and by what became of the delivery",
  );
  const release = batched((released: ReleasedClaim[]) => releaseClaims(db.sql, released), {
    size: 200,
    concurrency: 1,
  });
  function onRetry({ webhookId }: Claim, at: Date): void {
    const delayMs = Math.max(0, at.getTime() - now()) + timerMarginMs;
    if (delayMs <= maxTimerMs) setTimeout(() => scheduler.wake([webhookId]), delayMs).unref();
  }
  const services = { log, clock, config, findEndpoint, poster, writer, release, attempted, onRetry };
  const hostRates = openHostRates({ perSecond: config.WEBHOOK_HOST_RATE, burst: config.WEBHOOK_HOST_BURST });
  const [first = 0, second = first] = config.WEBHOOK_SCHEDULE;
  const scheduler: Scheduler = new Scheduler({
    ...{ log, hostRates, now, pollMs, concurrency: config.WEBHOOK_CONCURRENCY },
    limits: {
      concurrency: config.WEBHOOK_ENDPOINT_CONCURRENCY,
      perSecond: config.WEBHOOK_ENDPOINT_RATE,
      // One that only fails is asked again as soon, and as seldom, as a first and second retry come.
      circuit: { failures: failuresInARow, firstMs: first, maxMs: Math.max(first, second) },
    },
    findUrl: async (webhookId) => (await findEndpoint(webhookId))?.url,
    claimDue: (pulls) => claimDue(db.sql, pulls, lease()),
    deliver: (claim) => makeAttempt(services, claim),
  });

  const tests = startClaimLoop({
    ...{ name: "tests", log, pollMs, concurrency: testConcurrency },
    claim: (limit) => claimTests(db.sql, limit, lease()),
    async work(claim) {
      const endpoint = await findEndpoint(claim.webhookId, claim.revision);
      const hostRate = endpoint && hostRates(endpoint.url);
      if (!hostRate || hostRate.take(performance.now())) {
        await makeAttempt(services, claim);
        // The next of its location may have waited for this one alone.
        tests.wake();
      }
      // To wait here would keep tests of other hosts waiting.
      else await release({ ...claim, dueAt: new Date(now() + hostRate.wait(performance.now())) });
    },
  });
  const recoveries = startClaimLoop({
    ...{ name: "recoveries", log, pollMs, concurrency: 1 },
    async claim() {
      const webhookId = await db.transaction((tx) => continueRecovery(tx, clock()));
      return webhookId === undefined ? [] : [webhookId];
    },
    work: async (webhookId) => wakeEveryInstance([webhookId]),
  });

  function wakeEveryInstance(webhookIds: readonly string[]): void {
    scheduler.wake(webhookIds);
    for (let from = 0; from < webhookIds.length; from += maxIdsOfSignal) {
      signals.send("due", webhookIds.slice(from, from + maxIdsOfSignal).join(" "));
    }
  }
  signals.listen((_, webhookIds) => scheduler.wake(webhookIds.split(" ")));
  const active = () => scheduler.active;
  metrics.observe("webhook_messages_under_way", "Messages that endpoints have not answered yet", active);
  const spared = () => scheduler.spared;
  metrics.observe("webhook_endpoints_spared", "Endpoints that are sent a probe only, because they fail", spared);

  return {
    ...{ scheduler, tests, recoveries, wakeEveryInstance },
    async close() {
      writer.close();
      await Promise.all([scheduler.close(), tests.close(), recoveries.close()]);
      await poster.close();
    },
  };
}
