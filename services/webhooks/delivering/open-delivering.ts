import { startClaimLoop } from "@pragma/runtime/claim-loop";
import type { Logger } from "@pragma/runtime/logger";
import type { Metrics } from "@pragma/runtime/metrics";
import type { Database } from "@pragma/runtime/postgres";
import type { Signals } from "@pragma/runtime/signals";
import type { Vault } from "@pragma/runtime/vault";
import type { Clock } from "../clock.ts";
import type { EndpointRules } from "../endpoint/check-endpoint.ts";
import { type Claim, claimDue, claimTests, releaseClaim } from "../queries/claims.ts";
import { continueRecovery } from "../recover-deliveries.ts";
import type { RetrySchedule } from "../retry-schedule.ts";
import { openEndpointDirectory } from "./endpoint-facts.ts";
import { HostRates } from "./host-rates.ts";
import { makeAttempt } from "./make-attempt.ts";
import { openOutcomeLog } from "./outcome-log.ts";
import { openPoster } from "./post-message.ts";
import { type Reservation, Scheduler } from "./scheduler.ts";

interface DeliveringOptions {
  db: Database;
  log: Logger;
  metrics: Metrics;
  signals: Signals;
  clock: Clock;
  vault: Vault;
  endpoints: EndpointRules;
  schedule: RetrySchedule;
  /** Milliseconds that an endpoint may take to answer. */
  timeout: number;
  /** How long a claim lasts, in milliseconds. */
  claimedFor: number;
  /** How often is looked for what is due, in milliseconds. */
  pollMs: number;
  /** Messages under way at once: to one endpoint, and to all; and to one endpoint a second. */
  endpointConcurrency: number;
  concurrency: number;
  rate: number;
  /** Messages to one host, of all endpoints: a second, and at once after a quiet time. */
  hostRate: { perSecond: number; burst: number };
}

/** Has what is written in the database done soon; what no one is woken for is found by polling. */
export interface Wake {
  /** This instance claims what is due of these webhooks, as far as it has room. */
  deliveries(webhookIds: readonly string[]): void;
  /** The same, by every instance: for what may be a lot. */
  everyInstance(webhookIds: readonly string[]): void;
  tests(): void;
  recoveries(): void;
  /** Room to send one message at once, if its endpoint has any. */
  reserve(webhookId: string): Reservation | undefined;
}

/** What takes deliveries from the database to their endpoints. */
export interface Delivering {
  wake: Wake;
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
  const { db, log, metrics, signals, clock, schedule, pollMs } = options;
  const now = () => clock().getTime();
  const lease = () => ({ now: clock(), lapsesAt: new Date(now() + options.claimedFor) });
  const directory = openEndpointDirectory({
    db,
    vault: options.vault,
    httpsOnly: options.endpoints.httpsOnly,
    onMoved: (webhookId) => scheduler.forget(webhookId),
  });
  const outcomes = openOutcomeLog({ db, clock, log });
  const poster = openPoster({ ...options.endpoints, timeout: options.timeout, connections: options.concurrency });
  const attempted = metrics.durations(
    "webhook_attempt_duration_seconds",
    "Attempts to deliver, by outcome and by what became of the delivery",
  );
  const attempting = {
    ...{ db, log, clock, directory, poster, outcomes, schedule },
    onAttempt: ({ seconds, ...labels }: { seconds: number; outcome: string; delivery: string }) =>
      attempted(seconds, labels),
    onRetry({ webhookId }: Claim, at: Date) {
      const delayMs = Math.max(0, at.getTime() - now()) + timerMarginMs;
      if (delayMs <= maxTimerMs) setTimeout(() => scheduler.wake([webhookId]), delayMs).unref();
    },
  };
  const deliver = (claim: Claim) => makeAttempt(attempting, claim);
  const hostRates = new HostRates(options.hostRate);
  const [first = 0, second = first] = schedule;
  const scheduler: Scheduler = new Scheduler({
    ...{ log, hostRates, now, pollMs, deliver },
    concurrency: options.concurrency,
    endpointRate: options.rate,
    limits: {
      concurrency: options.endpointConcurrency,
      // One that only fails is asked again as soon, and as seldom, as a first and second retry come.
      circuit: { failures: failuresInARow, first, longest: Math.max(first, second) },
    },
    findUrl: async (webhookId) => (await directory.find(webhookId))?.url,
    claimDue: (pulls) => claimDue(db.sql, pulls, lease()),
  });

  const tests = startClaimLoop({
    ...{ name: "tests", log, pollMs, concurrency: testConcurrency },
    claim: (limit) => claimTests(db.sql, limit, lease()),
    async work(claim) {
      const endpoint = await directory.find(claim.webhookId, claim.revision).catch(() => undefined);
      const hostRate = endpoint && hostRates.bucketOf(endpoint.url);
      if (!hostRate || hostRate.take(performance.now())) await deliver(claim);
      // To wait here would keep tests of other hosts waiting.
      else await releaseClaim(db.sql, claim, new Date(now() + hostRate.wait(performance.now())));
    },
  });
  const recoveries = startClaimLoop({
    ...{ name: "recoveries", log, pollMs, concurrency: 1 },
    async claim() {
      const webhookId = await continueRecovery({ db, clock });
      return webhookId === undefined ? [] : [webhookId];
    },
    work: async (webhookId) => wake.everyInstance([webhookId]),
  });

  const wake: Wake = {
    deliveries: (webhookIds) => scheduler.wake(webhookIds),
    everyInstance(webhookIds) {
      scheduler.wake(webhookIds);
      for (let from = 0; from < webhookIds.length; from += maxIdsOfSignal) {
        signals.send("due", webhookIds.slice(from, from + maxIdsOfSignal).join(" "));
      }
    },
    tests: () => tests.wake(),
    recoveries: () => recoveries.wake(),
    reserve: (webhookId) => scheduler.reserve(webhookId),
  };
  signals.listen((_, webhookIds) => scheduler.wake(webhookIds.split(" ")));
  metrics.observe(
    "webhook_messages_under_way",
    "Messages that endpoints have not answered yet",
    () => scheduler.active,
  );
  metrics.observe(
    "webhook_endpoints_spared",
    "Endpoints that are sent a probe only, because they fail",
    () => scheduler.spared,
  );

  return {
    wake,
    async close() {
      outcomes.close();
      await Promise.all([scheduler.close(), tests.close(), recoveries.close()]);
      await poster.close();
    },
  };
}
