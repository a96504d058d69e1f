import { eventually } from "@pragma/runtime/testing/eventually";
import type { PushGuideLocation } from "./push-guide-location.ts";

/** The creation time of all jobs in the examples, in milliseconds since 1970. */
const creationTimeMs = Date.parse("2026-06-01T13:10:04.000Z");

/** The end of the schedule in the example of a cron job: the beginning of 2031 in Paris. */
const documentedEndDate = "2030-12-31T23:00:00";

/** The end of the schedule that is sent instead, because an end must be in the future. Both are without fractions and Z. */
const sentEndDate = new Date(Date.now() + 300 * 24 * 3_600_000).toISOString().slice(0, documentedEndDate.length);

interface JobRequest {
  method?: "GET" | "POST";
  path: string;
  body?: unknown;
}

/** Records jobs: created, running, completed, delayed, repeating, deduplicated, with a child, removed and rejected. */
export async function recordJobExamples({ recorder }: PushGuideLocation): Promise<void> {
  const { sendRequest, recordExample } = recorder;

  /** Records a request, with fixed values for the times, the progress and the queue name in its response. */
  async function recordJob(name: string, { method = "GET", path, body }: JobRequest) {
    const { response, body: replyBody } = await sendRequest({ method, path, body });
    const location = response.headers.get("location");
    const exchange = {
      request: {
        method,
        path,
        headers: { authorization: "Bearer <your key>" },
        ...(body !== undefined && { body }),
      },
      reply: {
        status: response.status,
        headers: location === null ? {} : { location },
        body: "state" in replyBody || "timestamp" in replyBody ? withFixedTimes(replyBody) : replyBody,
      },
    };
    recordExample(name, JSON.parse(JSON.stringify(exchange).replaceAll(sentEndDate, documentedEndDate)));
    return replyBody;
  }
  const create = (name: string, body: unknown) => recordJob(name, { method: "POST", path: "/v1/jobs", body });
  const waitForState = (id: string, state: string) =>
    eventually(`the job ${id} to be ${state}`, async () => {
      const { body } = await sendRequest({ path: `/v1/jobs/${id}` });
      return body.state === state && (state !== "active" || body.progress > 0);
    });

  const job = await create("create-job", {
    message: "Check the report of the lunch shift",
    duration: 3_000,
    jobOptions: { attempts: 3, backoff: { type: "exponential", delay: 1_000 } },
  });
  await waitForState(job.id, "active");
  await recordJob("active-job", { path: `/v1/jobs/${job.id}` });
  await waitForState(job.id, "completed");
  await recordJob("completed-job", { path: `/v1/jobs/${job.id}` });

  const delayed = await create("create-delayed-job", {
    message: "Check the report of the dinner shift",
    jobOptions: { delay: 3_600_000 },
  });
  await recordJob("delayed-job", { path: `/v1/jobs/${delayed.id}` });
  const nightly = await create("create-cron-job", {
    message: "Check the reports of yesterday",
    jobOptions: { repeat: { pattern: "30 6 * * *", tz: "Europe/Paris", endDate: `${sentEndDate}Z` } },
  });
  await recordJob("cron-job", { path: `/v1/jobs/${nightly.id}` });
  await create("create-interval-job", {
    message: "Check the stock",
    jobOptions: { repeat: { every: 900_000, limit: 4 } },
  });

  const closing = { message: "Close the day", jobOptions: { jobId: "closing-2026-06-01", delay: 600_000 } };
  await create("create-job-with-id", closing);
  await create("create-job-with-same-id", closing);
  const refresh = { message: "Refresh", jobOptions: { deduplication: { id: "refresh", ttl: 60_000 } } };
  await create("create-deduplicated-job", refresh);
  await create("create-duplicate-job", refresh);

  const parent = await create("create-parent-job", {
    message: "Month closed",
    jobOptions: { jobId: "month-2026-05", delay: 600_000 },
  });
  await create("create-child-job", {
    message: "Day closed",
    jobOptions: { delay: 600_000, parent: { id: parent.id }, failParentOnFailure: true },
  });

  const { body: removed } = await sendRequest({
    method: "POST",
    path: "/v1/jobs",
    body: { message: "Once", jobOptions: { jobId: "once", removeOnComplete: true } },
  });
  await eventually("the job to be removed", async () => {
    const { response } = await sendRequest({ path: `/v1/jobs/${removed.id}` });
    return response.status === 404;
  });
  await recordJob("removed-job", { path: `/v1/jobs/${removed.id}` });
  await create("create-invalid-job", {
    message: "Too often",
    jobOptions: { attempts: 50, delay: 1_000, repeat: { every: 5_000, pattern: "* * * * *" } },
  });
}

/** Returns the job with the same creation time and durations in each run. A running job is shown halfway through. */
function withFixedTimes<Job extends Record<string, unknown>>(job: Job) {
  const { payload, result } = job as { payload?: { duration: number }; result?: object | null };
  return {
    ...job,
    timestamp: creationTimeMs,
    ...(job.state === "active" && { progress: 50 }),
    ...(result && { finishedAt: new Date(creationTimeMs + (payload?.duration ?? 0) + 1).toISOString() }),
    ...(result && { result: { ...result, waited: (payload?.duration ?? 0) + 1 } }),
  };
}
