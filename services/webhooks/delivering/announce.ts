import type { SentEvent } from "@pragma/contracts/webhook";
import type { JobQueue } from "@pragma/runtime/job-queue";
import type { Logger } from "@pragma/runtime/logger";
import type { AttemptName } from "../queries/claims.ts";
import type { Lanes } from "./lanes.ts";

/** What is told through the queue. Each is written in the database first: a job that is lost is announced again. */
export type WebhookJob = Job & {
  /** Of what it is told for (W3C): the job is a part of that trace. */
  traceparent?: string | undefined;
};

type Job =
  /** The first attempts of a message: one job for all of them, since jobs cost more than what they are about. */
  | { kind: "message"; messageId: string; deliveries: { deliveryId: string; webhookId: string }[] }
  | ({ kind: "attempt"; webhookId: string } & AttemptName)
  /** An attempt that waits for nothing: not for others to its endpoint, and not for the webhook to be resumed. */
  | ({ kind: "test" } & AttemptName)
  /** A webhook has deliveries that are due. */
  | { kind: "wake"; webhookId: string }
  | { kind: "recover"; recoveryId: string };

/** Has these jobs done, by any instance. Never rejects: when the queue is away, this instance does them. */
export type Announce = (jobs: readonly WebhookJob[], options?: { delay?: number }) => Promise<void>;

interface Announcing {
  queue: JobQueue<WebhookJob>;
  lanes: Lanes;
  log: Logger;
  /** Does a job here and now. */
  doHere(job: WebhookJob): void;
}

export function announcer({ queue, lanes, log, doHere }: Announcing): Announce {
  /** A lane that is behind fetches what is due from the database: it need not be told of each by itself. */
  function isTakenOver(webhookId: string): boolean {
    const isBehind = lanes.isBehind(webhookId);
    // What it is fetching at this moment may be from before.
    if (isBehind) lanes.wake(webhookId);
    return isBehind;
  }

  /** What is left of a job that somebody has to be told of. */
  function untold(job: WebhookJob, delay: number): WebhookJob[] {
    if (job.kind === "attempt") return delay === 0 && isTakenOver(job.webhookId) ? [] : [job];
    if (job.kind !== "message") return [job];
    const deliveries = job.deliveries.filter(({ webhookId }) => !isTakenOver(webhookId));
    return deliveries.length === 0 ? [] : [{ ...job, deliveries }];
  }

  return async (jobs, { delay = 0 } = {}) => {
    const told = jobs.flatMap((job) => untold(job, delay));
    if (told.length === 0) return;
    try {
      await queue.addAll(
        told.map(({ traceparent, ...job }) => ({ payload: job, options: { jobId: nameOf(job), delay, traceparent } })),
      );
    } catch (error) {
      log.debug({ err: error, jobs: told.length }, "jobs could not be queued");
      // What is due later is found in the database when its time has come.
      if (delay === 0) for (const job of told) doHere(job);
    }
  };
}

/** The job that has an attempt made. */
export function jobOf(event: SentEvent, webhookId: string, name: AttemptName): WebhookJob {
  const { deliveryId, generation, attempt } = name;
  if (event === "test") return { kind: "test", deliveryId, generation, attempt };
  return { kind: "attempt", webhookId, deliveryId, generation, attempt };
}

/** The job that has the first attempts of a message made. */
export function firstAttempts(messageId: string, deliveries: { deliveryId: string; webhookId: string }[]): WebhookJob {
  return { kind: "message", messageId, deliveries };
}

/** The same job twice has one name, so that it is done once. */
function nameOf(job: WebhookJob): string {
  if (job.kind === "attempt" || job.kind === "test") return `${job.deliveryId}-${job.generation}-${job.attempt}`;
  if (job.kind === "message") return `message-${job.messageId}`;
  return job.kind === "wake" ? `wake-${job.webhookId}` : `recover-${job.recoveryId}`;
}
