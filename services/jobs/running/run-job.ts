import type { Database } from "@pragma/runtime/postgres";
import { withRequestContext } from "@pragma/runtime/request-context";
import { SpanKind } from "@pragma/runtime/tracing";
import { DelayedError, UnrecoverableError, WaitingChildrenError, WaitingError } from "bullmq";
import { findJob, type JobKey, type JobRow } from "../queries/jobs.ts";
import { hasChildrenToQueue } from "../queries/queueing.ts";
import { holdJob, keepHold, letGo } from "../queries/runs.ts";
import type { JobHandler } from "../queues/location-queues.ts";
import { finishJob } from "./finish-job.ts";
import { runRepeating } from "./run-repeating.ts";
import { persistently, type Running, type Turn, tell, unlessLost } from "./turn.ts";

/** Whoever holds a job says so again within this many seconds, or has gone. */
const holdSeconds = 15;
/** Within so many milliseconds children are in their queue that have been asked for. */
const childrenSoon = 1_000;

/**
 * Does the jobs that come up in queues. What a job comes to is written in PostgreSQL before its queue learns of it, and
 * whoever does a job holds it there: a job that its queue brings up again, because somebody died or Redis lost what it
 * knew, is not done again once it was done, and not twice at the same time.
 */
export function jobHandler(running: Running): JobHandler {
  const { db, log } = running;
  return {
    async run(locationId, job, token, signal) {
      if (job.repeatJobKey !== undefined) return runRepeating(running, { locationId, job, token, signal });
      const key = { location_id: locationId, id: job.id ?? "" };
      const held = await persistently(() => holdJob(db.sql, key, holdSeconds), signal);
      return held
        ? logged(running, held, () => runHeld(running, held, { job, token, signal }))
        : answerUnheld(running, key, { job, token, signal });
    },
    failed(locationId, job, error) {
      // A parent that a child has failed is given up by the queue itself.
      if (job.finishedOn === undefined || job.repeatJobKey !== undefined) return;
      const key = { location_id: locationId, id: job.id ?? "" };
      finishJob(db, key, { outcome: "failed", failure: error.message }).catch((cause) =>
        log.warn({ err: cause, jobId: job.id }, "what became of a job is noted later"),
      );
    },
  };
}

/** Does a job as a part of the trace of its request, with one log line for each time that it came to something. */
function logged({ log }: Running, held: JobRow, run: () => Promise<void>): Promise<void> {
  const { location_id: locationId, id: jobId, consumer, traceparent } = held;
  const attributes = { "pragma.service": "jobs", "messaging.system": "bullmq", "messaging.message.id": jobId };
  const operation = { name: "job process", kind: SpanKind.CONSUMER, attributes };
  return withRequestContext({ traceparent, operation }, async ({ trace: { traceId }, logFields }) => {
    const started = performance.now();
    const fields = () => ({ locationId, jobId, consumer, traceId, milliseconds: performance.now() - started });
    try {
      await run();
      log.info({ ...fields(), ...logFields }, "job");
    } catch (error) {
      if (isGivenBack(error)) log.info({ ...fields(), givenBack: true }, "job");
      else log.error({ ...fields(), err: error }, "job failed");
      throw error;
    }
  });
}

function isGivenBack(error: unknown): boolean {
  return error instanceof WaitingChildrenError || error instanceof DelayedError || error instanceof WaitingError;
}

/** A job that came up and is not to be done: it was done already, is forgotten, or somebody is doing it. */
async function answerUnheld({ db }: Running, key: JobKey, { job, token, signal }: Turn): Promise<void> {
  const known = await persistently(() => findJob(db.sql, key), signal);
  if (known && !known.finished_at) {
    await unlessLost(job.moveToDelayed(Date.now() + (holdSeconds * 1000) / 3, token));
    throw new DelayedError();
  }
  if (known?.outcome === "failed") throw new UnrecoverableError(known.failure ?? "");
}

async function runHeld({ db, perform, log }: Running, held: JobRow, turn: Turn): Promise<void> {
  const { job, token, signal } = turn;
  let progress = 0;
  const holding = setInterval(
    () => {
      keepHold(db.sql, held, { seconds: holdSeconds, progress }).catch((error) =>
        log.debug({ err: error }, "hold kept later"),
      );
    },
    (holdSeconds * 1000) / 3,
  );
  try {
    await waitForChildren(db, held, { turn, isPerformed: held.is_performed });
    const report = (percent: number) => {
      progress = percent;
      tell(job, percent);
    };
    const { message, duration } = held;
    const result = held.is_performed
      ? { message, waited: duration }
      : await perform({ message, duration }, { report, signal });
    await waitForChildren(db, held, { turn, isPerformed: true });
    await persistently(() => finishJob(db, held, { outcome: "completed", result }), signal);
  } catch (error) {
    if (error instanceof WaitingChildrenError || error instanceof DelayedError) throw error;
    if (signal.aborted) {
      await letGo(db.sql, held);
      await unlessLost(job.moveToWait(token));
      throw new WaitingError();
    }
    await noteFailedAttempt(db, held, { turn, error });
    throw error;
  } finally {
    clearInterval(holding);
  }
}

/** Ends the turn when the job has children that have not finished: its queue brings it up again when they have. */
async function waitForChildren(
  db: Database,
  held: JobRow,
  { turn, isPerformed }: { turn: Turn; isPerformed: boolean },
): Promise<void> {
  const { job, token, signal } = turn;
  const giveBack = () => persistently(() => letGo(db.sql, held, { isPerformed }), signal);
  if (await unlessLost(job.moveToWaitingChildren(token))) {
    await giveBack();
    throw new WaitingChildrenError();
  }
  if (await persistently(() => hasChildrenToQueue(db.sql, held), signal)) {
    await giveBack();
    await unlessLost(job.moveToDelayed(Date.now() + childrenSoon, token));
    throw new DelayedError();
  }
}

async function noteFailedAttempt(
  db: Database,
  held: JobRow,
  { turn, error }: { turn: Turn; error: unknown },
): Promise<void> {
  const failure = error instanceof Error ? error.message : String(error);
  const isLast = error instanceof UnrecoverableError || turn.job.attemptsMade + 1 >= (turn.job.opts.attempts ?? 1);
  await persistently(
    () =>
      isLast ? finishJob(db, held, { outcome: "failed", failure }) : letGo(db.sql, held, { attemptFailed: failure }),
    turn.signal,
  );
}
