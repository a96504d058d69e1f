import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jobsServiceConfigSchema } from "../config.ts";
import { deleteOldFinishedJobRows } from "../queries/remove-jobs.ts";
import { createUniqueTestJobMessage, startTestJobsService, type TestJobsService } from "../testing/start-test-jobs.ts";

let jobs: TestJobsService;
beforeAll(async () => {
  jobs = await startTestJobsService({ JOBS_MAX_UNFINISHED_PER_KEY: "3" });
});
afterAll(() => jobs?.remove());

describe("a job", () => {
  it("runs for its duration, reports progress, and returns its message", async () => {
    const location = jobs.createTestLocation();
    const created = await location.createJob({ message: "Count the stock", duration: 800 });
    expect(created).toMatchObject({
      queueName: `jobs-${location.locationId}`,
      jobName: "message",
      jobOptions: {},
      payload: { message: "Count the stock", duration: 800 },
    });
    const active = await location.waitForState(created.id, "active");
    expect(active.result).toBeNull();
    const progressValues = new Set<number>();
    for (;;) {
      const { state, progress } = await location.getStatus(created.id);
      progressValues.add(progress);
      if (state === "completed") break;
    }
    expect(progressValues.size).toBeGreaterThan(2);
    expect(Math.max(...progressValues)).toBe(100);
    const done = await location.getStatus(created.id);
    expect(done.result?.message).toBe("Count the stock");
    expect(done.result?.waited).toBeGreaterThanOrEqual(799);
    expect(Date.parse(done.finishedAt ?? "") - created.timestamp).toBeGreaterThanOrEqual(799);
  });

  it("has the reason of its failure", async () => {
    const location = jobs.createTestLocation();
    const { id } = await location.createJob({ message: createUniqueTestJobMessage("fail"), jobOptions: {} });
    const failed = await location.waitForState(id, "failed");
    expect(failed).toMatchObject({ result: null, attemptsMade: 1 });
    expect(failed.failure?.message).toMatch(/^fail/);
  });

  it("returns 404 for another location", async () => {
    const location = jobs.createTestLocation();
    const { id } = await location.createJob({ message: "Mine" });
    const otherPrincipal = buildTestPrincipal({ scopes: ["jobs:write"] });
    const response = await jobs.request("GET", `/v1/jobs/${id}`, { principal: otherPrincipal });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "job_not_found" });
  });

  it("can have the id of another location's job", async () => {
    const [location, otherLocation] = [jobs.createTestLocation(), jobs.createTestLocation()];
    await location.createJob({ message: "One", jobOptions: { jobId: "closing" } });
    await otherLocation.createJob({ message: "Other", jobOptions: { jobId: "closing" } });
    expect((await location.waitForState("closing", "completed")).result?.message).toBe("One");
    expect((await otherLocation.waitForState("closing", "completed")).result?.message).toBe("Other");
  });

  it("is created once per Idempotency-Key", async () => {
    const location = jobs.createTestLocation();
    const request = {
      principal: location.principal,
      body: { message: createUniqueTestJobMessage("Once") },
      headers: { "idempotency-key": randomUUID() },
    };
    const first = await (await jobs.request("POST", "/v1/jobs/", request)).json();
    const repeated = await (await jobs.request("POST", "/v1/jobs/", request)).json();
    expect(repeated).toEqual(first);
    await location.waitForState((first as { id: string }).id, "completed");
    expect(jobs.startedMessages.filter((message) => message === request.body.message)).toHaveLength(1);
  });

  it("with a large message is created once, and a repeated request returns 204 with its URL", async () => {
    const location = jobs.createTestLocation();
    const message = createUniqueTestJobMessage("Large").padEnd(100_000, ".");
    const request = { principal: location.principal, body: { message }, headers: { "idempotency-key": randomUUID() } };
    expect((await jobs.request("POST", "/v1/jobs/", request)).status).toBe(201);
    const repeated = await jobs.request("POST", "/v1/jobs/", request);
    expect(repeated.status).toBe(204);
    const path = repeated.headers.get("location") ?? "";
    const existing = await jobs.request("GET", path, { principal: location.principal });
    expect(await existing.json()).toMatchObject({ payload: { message } });
    await location.waitForState(path.split("/").at(-1) ?? "", "completed");
    expect(jobs.startedMessages.filter((each) => each === message)).toHaveLength(1);
  });

  it("returns 304 when it is unchanged", async () => {
    const location = jobs.createTestLocation();
    const { id } = await location.createJob({ message: "Unchanged" });
    await location.waitForState(id, "completed");
    const path = `/v1/jobs/${id}`;
    const etag = (await jobs.request("GET", path, { principal: location.principal })).headers.get("etag") ?? "";
    const repeated = await jobs.request("GET", path, {
      principal: location.principal,
      headers: { "if-none-match": etag },
    });
    expect(repeated.status).toBe(304);
  });

  it("returns 429 when the API key has too many unfinished jobs", async () => {
    const location = jobs.createTestLocation();
    const postDelayedJob = () => location.postJob({ message: "Later", jobOptions: { delay: 60_000 } });
    const responses = await Promise.all(Array.from({ length: 4 }, postDelayedJob));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 429]);
    expect(await location.postJobProblem({ message: "Later" })).toMatchObject({ code: "too_many_jobs" });
    const otherLocation = jobs.createTestLocation();
    await otherLocation.createJob({ message: "Unaffected" });
  });
});

describe("returns 400 with the reason for", () => {
  const hourMs = 3_600_000;
  it.each([
    ["a colon in its id", { jobId: "a:b" }, "jobId", /letters, digits/],
    ["an unknown parent", { parent: { id: randomUUID() } }, "parent.id", /a job of this location/],
    [
      "a parent in another queue",
      { parent: { id: "x", queue: "jobs-other" } },
      "parent.queue",
      /queue of this location/,
    ],
    ["a parent and deduplication", { parent: { id: "x" }, deduplication: { id: "d" } }, "deduplication", /parent/],
    [
      "two options for the failure of a child",
      { failParentOnFailure: true, ignoreDependencyOnFailure: true },
      "failParentOnFailure",
      /At most one/,
    ],
    ["a message above its size limit", { sizeLimit: 10 }, "sizeLimit", /bytes/],
    ["too many attempts", { attempts: 26 }, "attempts", /at most 25/],
    ["a priority above the maximum", { priority: 2_097_153 }, "priority", /2097152/],
    ["an unknown backoff", { backoff: { type: "random" } }, "backoff", /./],
    ["neither every nor a pattern", { repeat: { limit: 1 } }, "repeat", /either/],
    ["both every and a pattern", { repeat: { every: hourMs, pattern: "0 0 * * *" } }, "repeat", /either/],
    ["an invalid pattern", { repeat: { pattern: "never" } }, "repeat.pattern", /pattern/],
    ["a pattern that never matches", { repeat: { pattern: "0 0 31 2 *" } }, "repeat.pattern", /pattern/],
    ["runs too close to each other", { repeat: { every: 99 } }, "repeat.every", /100 milliseconds/],
    [
      "an end date in the past",
      { repeat: { every: hourMs, endDate: "2020-01-01T00:00:00Z" } },
      "repeat.endDate",
      /future/,
    ],
    [
      "an immediate first run and a start date",
      { repeat: { pattern: "0 0 * * *", immediately: true, startDate: 1 } },
      "repeat.immediately",
      /startDate/,
    ],
    ["repeat and an id", { repeat: { every: hourMs }, jobId: "a" }, "jobId", /its own ID/],
    ["repeat and a delay", { repeat: { every: hourMs }, delay: 1 }, "delay", /Cannot be combined with repeat/],
    [
      "repeat and a timestamp",
      { repeat: { every: hourMs }, timestamp: 1 },
      "timestamp",
      /Cannot be combined with repeat/,
    ],
    [
      "repeat and deduplication",
      { repeat: { every: hourMs }, deduplication: { id: "a" } },
      "deduplication",
      /Cannot be combined with repeat/,
    ],
    [
      "repeat and a parent",
      { repeat: { every: hourMs }, parent: { id: "a" } },
      "parent",
      /Cannot be combined with repeat/,
    ],
  ] as const)("%s", async (_, jobOptions, option, reason) => {
    const problem = await jobs
      .createTestLocation()
      .postJobProblem({ message: "Invalid", jobOptions: jobOptions as never });
    expect(problem).toMatchObject({ status: 400, code: "invalid_request" });
    const issue = problem.errors?.find(({ path }) => path === `jobOptions.${option}`);
    expect(issue?.message, JSON.stringify(problem.errors)).toMatch(reason);
  });

  it("a duration above the configured maximum", async () => {
    const problem = await jobs.createTestLocation().postJobProblem({ message: "Long", duration: 3_600_001 });
    expect(problem.errors).toMatchObject([{ path: "duration", code: "too_big" }]);
  });

  it("a parent that has finished", async () => {
    const location = jobs.createTestLocation();
    const { id } = await location.createJob({ message: "Parent" });
    await location.waitForState(id, "completed");
    const problem = await location.postJobProblem({ message: "Child", jobOptions: { parent: { id } } });
    expect(problem.errors?.[0]?.message).toMatch(/has not finished/);
  });
});

describe("limits per location", () => {
  let limited: TestJobsService;
  beforeAll(async () => {
    limited = await startTestJobsService({
      ...{
        JOBS_MAX_UNFINISHED_PER_LOCATION: "4",
        JOBS_MAX_REPEATING_PER_LOCATION: "2",
        JOBS_MAX_CHILDREN_PER_PARENT: "2",
      },
      ...{ JOBS_MAX_PER_DAY: "6", JOBS_MAX_BYTES_PER_DAY: "5000", JOBS_MAX_RETAINED_PER_LOCATION: "2" },
    });
  });
  afterAll(() => limited?.remove());
  const delayedJob = { message: "Later", jobOptions: { delay: 60_000 } };
  const repeatingJob = { message: "Repeating", jobOptions: { repeat: { every: 3_600_000 } } };

  it("apply to unfinished jobs of all its API keys", async () => {
    const location = limited.createTestLocation();
    for (let index = 0; index < 4; index += 1) await location.createJob(delayedJob);
    const otherKey = { ...location.principal, keyId: randomUUID() };
    const rejected = await limited.request("POST", "/v1/jobs/", { principal: otherKey, body: delayedJob });
    expect(rejected.status).toBe(429);
    expect(rejected.headers.get("retry-after")).toBe("60");
    expect(await rejected.json()).toMatchObject({
      code: "too_many_jobs",
      limit: { name: "unfinished_jobs", maximum: 4, unit: "jobs per location" },
    });
    await limited.createTestLocation().createJob(delayedJob);
  });

  it("apply to repeating jobs", async () => {
    const location = limited.createTestLocation();
    for (let index = 0; index < 2; index += 1) await location.createJob(repeatingJob);
    const limit = { name: "repeating_jobs", maximum: 2, unit: "repeating jobs per location" };
    expect(await location.postJobProblem(repeatingJob)).toMatchObject({ status: 409, code: "limit_reached", limit });
    await location.createJob(delayedJob);
  });

  it("apply to the children of a job, finished ones included", async () => {
    const location = limited.createTestLocation();
    const { id } = await location.createJob(delayedJob);
    const child = { message: "Child", jobOptions: { parent: { id }, removeOnComplete: true } };
    for (let index = 0; index < 2; index += 1) {
      const created = await location.createJob(child);
      await eventually("the job to be removed", () => location.isJobRemoved(created.id));
    }
    expect(await location.postJobProblem(child)).toMatchObject({ code: "limit_reached", limit: { name: "children" } });
  });

  it("apply to the jobs and message bytes of a day", async () => {
    const location = limited.createTestLocation();
    const large = { message: "x".repeat(4_000) };
    await location.createJob(large);
    const bytesProblem = await location.postJobProblem(large);
    expect(bytesProblem).toMatchObject({
      status: 429,
      code: "quota_exceeded",
      limit: { name: "job_bytes", maximum: 5_000 },
    });
    for (let index = 0; index < 5; index += 1) {
      const { id } = await location.createJob({ message: "Short", jobOptions: { removeOnComplete: true } });
      await eventually("the job to be removed", () => location.isJobRemoved(id));
    }
    expect(await location.postJobProblem({ message: "Short" })).toMatchObject({
      code: "quota_exceeded",
      limit: { name: "jobs", maximum: 6, unit: "jobs per day" },
    });
  });

  it("apply to finished jobs, and the latest finished jobs are kept", async () => {
    const location = limited.createTestLocation();
    const ids: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      const { id } = await location.createJob({ message: "Kept" });
      await location.waitForState(id, "completed");
      ids.push(id);
    }
    const config = jobsServiceConfigSchema.parse({ REDIS_URL: "redis://unused", JOBS_MAX_RETAINED_PER_LOCATION: "2" });
    await deleteOldFinishedJobRows(limited.db.sql, config);
    expect(await Promise.all(ids.map((id) => location.isJobRemoved(id)))).toEqual([true, true, false, false]);
  });
});
