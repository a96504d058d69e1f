import type { JobQueue } from "@pragma/runtime/job-queue";
import type { Logger } from "@pragma/runtime/logger";
import type { Metrics } from "@pragma/runtime/metrics";
import type { Database } from "@pragma/runtime/postgres";
import type { Vault } from "@pragma/runtime/vault";
import type { Clock } from "../clock.ts";
import type { EndpointRules } from "../endpoint/check-endpoint.ts";
import { type AttemptName, type Claim, claimDue, claimNamed, type Pull, releaseClaim } from "../queries/claims.ts";
import { continueRecovery } from "../recover-deliveries.ts";
import type { RetrySchedule } from "../retry-schedule.ts";
import { type Announce, announcer, type WebhookJob } from "./announce.ts";
import { createAside } from "./aside.ts";
import { batched } from "./batched.ts";
import { openEndpointDirectory } from "./endpoint-facts.ts";
import { HostRates, hostOf } from "./host-rates.ts";
import type { LaneLimits } from "./lane.ts";
import { Lanes } from "./lanes.ts";
import { makeAttempt, type Retry } from "./make-attempt.ts";
import { type MessageBodies, openMessageBodies } from "./message-bodies.ts";
import { openOutcomeLog } from "./outcome-log.ts";
import { openPoster } from "./post-message.ts";

interface DeliveringOptions {
  db: Database;
  log: Logger;
  metrics: Metrics;
  clock: Clock;
  vault: Vault;
  queue: JobQueue<WebhookJob>;
  endpoints: EndpointRules;
  schedule: RetrySchedule;
  /** Milliseconds that an endpoint may take to answer. */
  timeout: number;
  /** How long a claim lasts, in milliseconds. */
  claimedFor: number;
  /** Messages under way at once: to one endpoint, and to all; and to one endpoint a second. */
  endpointConcurrency: number;
  concurrency: number;
  rate: number;
  /** Messages to one host, of all endpoints: a second, and at once after a quiet time. */
  hostRate: { rate: number; burst: number };
}

/** What takes deliveries from the database to their endpoints. */
export interface Delivering {
  announce: Announce;
  /** Keeps what is sent at hand, for what is about to be sent from here. */
  bodies: Pick<MessageBodies, "note">;
  /** Lets what is under way finish. */
  close(): Promise<void>;
}

/** Retries further away than this are left to the sweeper: jobs that wait for hours would only fill the queue. */
const queuedAhead = 60_000;
/** Jobs handled at a time; each only hands its delivery over to a lane. */
const jobsAtATime = 50;
/** Beside them, and left to the sweeper when there are more. */
const testsAtATime = 25;
const recoveriesAtATime = 4;
const failuresInARow = 10;
const idleCheck = 60_000;

export function openDelivering(options: DeliveringOptions): Delivering {
  const { db, log, metrics, clock, vault, queue, endpoints, schedule } = options;
  const now = () => clock().getTime();
  const claiming = () => ({ now: clock(), lapsesAt: new Date(now() + options.claimedFor) });
  const directory = openEndpointDirectory({
    db,
    vault,
    httpsOnly: endpoints.httpsOnly,
    onMoved: (webhookId) => lanes.renew(webhookId),
  });
  const bodies = openMessageBodies(db);
  const outcomes = openOutcomeLog({ db, clock, log });
  const poster = openPoster({ ...endpoints, timeout: options.timeout, connections: options.concurrency });
  const attempted = metrics.durations(
    "webhook_attempt_duration_seconds",
    "Attempts to deliver, by outcome and by what became of the delivery",
  );

  const claimOne = batched((names: AttemptName[]) => claimEach(db, names, claiming()), { size: 200, atATime: 2 });
  const claimSome = batched((pulls: Pull[]) => claimFor(db, pulls, claiming()), { size: 50, atATime: 2 });
  const [first = 0, second = first] = schedule;
  const limits: LaneLimits = {
    concurrency: options.endpointConcurrency,
    rate: options.rate,
    // One that only fails is asked again as soon, and as seldom, as a first and second retry come.
    circuit: { failures: failuresInARow, first, longest: Math.max(first, second) },
  };
  const deliver = (claim: Claim) =>
    makeAttempt(
      {
        db,
        log,
        clock,
        directory,
        bodies,
        poster,
        outcomes,
        schedule,
        onAttempt: ({ seconds, ...labels }) => attempted(seconds, labels),
        onRetry,
      },
      claim,
    );
  const onError = (error: unknown) => log.error({ err: error }, "job failed; it is announced again");
  const tests = createAside({ atATime: testsAtATime, onError });
  const recoveries = createAside({ atATime: recoveriesAtATime, onError });
  const hostRates = new HostRates(options.hostRate);
  const lanes: Lanes = new Lanes({
    limits,
    hostRates,
    concurrency: options.concurrency,
    now,
    async destinationOf(webhookId) {
      const endpoint = await directory.find(webhookId);
      return endpoint && { origin: endpoint.url.origin, host: hostOf(endpoint.url) };
    },
    work: {
      claim: claimOne,
      claimDue: (webhookId, limit) => claimSome({ webhookId, limit }),
      deliver,
    },
  });

  /** Has a job done, and waits for nothing: no job keeps another from being taken. */
  function doJob(job: WebhookJob): void {
    if (job.kind === "message") for (const first of job.deliveries) lanes.offer(first.webhookId, firstAttempt(first));
    else if (job.kind === "attempt") lanes.offer(job.webhookId, job);
    else if (job.kind === "wake") lanes.wake(job.webhookId);
    else if (job.kind === "test") tests.run(() => makeTest(job));
    else recoveries.run((signal) => continueRecovery({ db, clock, announce }, job, signal));
  }

  async function makeTest(name: AttemptName): Promise<void> {
    const claim = await claimOne(name);
    if (!claim) return;
    const endpoint = await directory.find(claim.webhookId, claim.revision).catch(() => undefined);
    const host = endpoint && hostOf(endpoint.url);
    // The sweeper finds it again: to wait here would keep tests of other hosts waiting.
    if (host !== undefined && hostRates.take(host, 1) === 0) {
      await releaseClaim(db.sql, claim, new Date(now() + hostRates.wait(host)));
    } else await deliver(claim);
  }

  const announce = announcer({ queue, lanes, log, doHere: doJob });

  function onRetry({ webhookId, deliveryId, generation, attempt }: Claim, { at, traceparent }: Retry): void {
    const delay = Math.max(0, at.getTime() - now());
    if (delay <= queuedAhead)
      void announce([{ kind: "attempt", webhookId, deliveryId, generation, attempt, traceparent }], { delay });
  }

  metrics.observe("webhook_messages_under_way", "Messages that endpoints have not answered yet", () => lanes.underWay);
  metrics.observe(
    "webhook_endpoints_spared",
    "Endpoints that are sent a probe only, because they fail",
    () => lanes.spared,
  );
  queue.work(async (job, _, { traceparent }) => doJob({ ...job, traceparent }), {
    concurrency: jobsAtATime,
    isQuiet: true,
  });
  const forgetting = setInterval(() => lanes.forgetIdle(), idleCheck).unref();

  return {
    announce,
    bodies,
    async close() {
      clearInterval(forgetting);
      await queue.close();
      outcomes.close();
      await Promise.all([lanes.close(), tests.close(), recoveries.close()]);
      await poster.close();
    },
  };
}

function firstAttempt({ deliveryId }: { deliveryId: string }): AttemptName {
  return { deliveryId, generation: 1, attempt: 1 };
}

interface Claiming {
  now: Date;
  lapsesAt: Date;
}

async function claimEach(db: Database, names: AttemptName[], claiming: Claiming): Promise<(Claim | undefined)[]> {
  const claims = new Map((await claimNamed(db.sql, names, claiming)).map((claim) => [claim.deliveryId, claim]));
  return names.map(({ deliveryId }) => {
    const claim = claims.get(deliveryId);
    // Asked for twice in one batch, it is given once.
    claims.delete(deliveryId);
    return claim;
  });
}

async function claimFor(db: Database, pulls: Pull[], claiming: Claiming): Promise<Claim[][]> {
  const claims = await claimDue(db.sql, pulls, claiming);
  const byWebhook = new Map<string, Claim[]>(pulls.map(({ webhookId }) => [webhookId, []]));
  for (const claim of claims) byWebhook.get(claim.webhookId)?.push(claim);
  return pulls.map(({ webhookId }) => byWebhook.get(webhookId) ?? []);
}
