import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jobsConfig } from "../context.ts";
import { removeOldJobs } from "../queries/remove-jobs.ts";
import { startTestJobs, type TestJobs, uniqueMessage } from "../testing/start-test-jobs.ts";

let jobs: TestJobs;
beforeAll(async () => {
  jobs = await startTestJobs({ JOBS_UNFINISHED_PER_KEY: "3" });
});
afterAll(() => jobs?.remove());

describe("a job", () => {
  it("takes as long as it says, reports how far it is, and comes back with its message", async () => {
    const shop = jobs.createTestLocation();
    const created = await shop.createJob({ message: "Count the stock", duration: 800 });
    expect(created).toMatchObject({
      queueName: `jobs-${shop.locationId}`,
      jobName: "message",
      jobOptions: {},
      payload: { message: "Count the stock", duration: 800 },
    });
    const active = await shop.waitForState(created.id, "active");
    expect(active.result).toBeNull();
    const seen = new Set<number>();
    for (;;) {
      const { state, progress } = await shop.getStatus(created.id);
      seen.add(progress);
      if (state === "completed") break;
    }
    expect(seen.size).toBeGreaterThan(2);
    expect(Math.max(...seen)).toBe(100);
    const done = await shop.getStatus(created.id);
    expect(done.result?.message).toBe("Count the stock");
    expect(done.result?.waited).toBeGreaterThanOrEqual(799);
    expect(Date.parse(done.finishedAt ?? "") - created.timestamp).toBeGreaterThanOrEqual(799);
  });

  it("says why it failed", async () => {
    const shop = jobs.createTestLocation();
    const { id } = await shop.createJob({ message: uniqueMessage("fail"), jobOptions: {} });
    const failed = await shop.waitForState(id, "failed");
    expect(failed).toMatchObject({ result: null, attemptsMade: 1 });
    expect(failed.failure?.message).toMatch(/^fail/);
  });

  it("is not there for another location", async () => {
    const shop = jobs.createTestLocation();
    const { id } = await shop.createJob({ message: "Mine" });
    const other = createTestPrincipal({ scopes: ["jobs:write"] });
    const response = await jobs.request("GET", `/v1/jobs/${id}`, { principal: other });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "job_not_found" });
  });

  it("may have the id that a job of another location has", async () => {
    const [one, other] = [jobs.createTestLocation(), jobs.createTestLocation()];
    await one.createJob({ message: "One", jobOptions: { jobId: "closing" } });
    await other.createJob({ message: "Other", jobOptions: { jobId: "closing" } });
    expect((await one.waitForState("closing", "completed")).result?.message).toBe("One");
    expect((await other.waitForState("closing", "completed")).result?.message).toBe("Other");
  });

  it("is asked for once under an Idempotency-Key", async () => {
    const shop = jobs.createTestLocation();
    const request = {
      principal: shop.principal,
      body: { message: uniqueMessage("Once") },
      headers: { "idempotency-key": randomUUID() },
    };
    const first = await (await jobs.request("POST", "/v1/jobs/", request)).json();
    const again = await (await jobs.request("POST", "/v1/jobs/", request)).json();
    expect(again).toEqual(first);
    await shop.waitForState((first as { id: string }).id, "completed");
    expect(jobs.startedMessages.filter((message) => message === request.body.message)).toHaveLength(1);
  });

  it("of a large message is asked for once too, and is found where the reply says", async () => {
    const shop = jobs.createTestLocation();
    const message = uniqueMessage("Large").padEnd(100_000, ".");
    const request = { principal: shop.principal, body: { message }, headers: { "idempotency-key": randomUUID() } };
    expect((await jobs.request("POST", "/v1/jobs/", request)).status).toBe(201);
    const again = await jobs.request("POST", "/v1/jobs/", request);
    expect(again.status).toBe(204);
    const path = again.headers.get("location") ?? "";
    const known = await jobs.request("GET", path, { principal: shop.principal });
    expect(await known.json()).toMatchObject({ payload: { message } });
    await shop.waitForState(path.split("/").at(-1) ?? "", "completed");
    expect(jobs.startedMessages.filter((each) => each === message)).toHaveLength(1);
  });

  it("answers 304 to whoever knows it already", async () => {
    const shop = jobs.createTestLocation();
    const { id } = await shop.createJob({ message: "Known" });
    await shop.waitForState(id, "completed");
    const path = `/v1/jobs/${id}`;
    const etag = (await jobs.request("GET", path, { principal: shop.principal })).headers.get("etag") ?? "";
    const again = await jobs.request("GET", path, { principal: shop.principal, headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
  });

  it("is refused once the key has as many unfinished as it may have", async () => {
    const shop = jobs.createTestLocation();
    const delayed = () => shop.postJob({ message: "Later", jobOptions: { delay: 60_000 } });
    const answers = await Promise.all([delayed(), delayed(), delayed(), delayed()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 429]);
    expect(await shop.postJobProblem({ message: "Later" })).toMatchObject({ code: "too_many_jobs" });
    const other = jobs.createTestLocation();
    await other.createJob({ message: "Not concerned" });
  });
});

describe("a request that a queue cannot do is refused, and told why", () => {
  const hour = 3_600_000;
  it.each([
    ["a colon in its id", { jobId: "a:b" }, "jobId", /colon/],
    ["a parent that is not there", { parent: { id: randomUUID() } }, "parent.id", /no such job/],
    [
      "a parent in another queue",
      { parent: { id: "x", queue: "jobs-other" } },
      "parent.queue",
      /queue of this location/,
    ],
    ["a parent and deduplication", { parent: { id: "x" }, deduplication: { id: "d" } }, "deduplication", /parent/],
    [
      "two fates of its parent",
      { failParentOnFailure: true, ignoreDependencyOnFailure: true },
      "failParentOnFailure",
      /one at most/,
    ],
    ["more than its size limit", { sizeLimit: 10 }, "sizeLimit", /bytes/],
    ["too many attempts", { attempts: 26 }, "attempts", /25 times/],
    ["a priority beyond the last", { priority: 2_097_153 }, "priority", /2097152/],
    ["an unknown backoff", { backoff: { type: "random" } }, "backoff", /./],
    ["neither every nor a pattern", { repeat: { limit: 1 } }, "repeat", /either/],
    ["both every and a pattern", { repeat: { every: hour, pattern: "0 0 * * *" } }, "repeat", /either/],
    ["no pattern", { repeat: { pattern: "never" } }, "repeat.pattern", /pattern/],
    ["a pattern that never comes true", { repeat: { pattern: "0 0 31 2 *" } }, "repeat.pattern", /pattern/],
    ["runs too close to each other", { repeat: { every: 99 } }, "repeat.every", /100 milliseconds/],
    ["an end that is over", { repeat: { every: hour, endDate: "2020-01-01T00:00:00Z" } }, "repeat.endDate", /over/],
    [
      "a first run at once and a start",
      { repeat: { pattern: "0 0 * * *", immediately: true, startDate: 1 } },
      "repeat.immediately",
      /contradict/,
    ],
    ["repeat and an id", { repeat: { every: hour }, jobId: "a" }, "jobId", /id of its own/],
    ["repeat and a delay", { repeat: { every: hour }, delay: 1 }, "delay", /not with repeat/],
    ["repeat and a timestamp", { repeat: { every: hour }, timestamp: 1 }, "timestamp", /not with repeat/],
    [
      "repeat and deduplication",
      { repeat: { every: hour }, deduplication: { id: "a" } },
      "deduplication",
      /not with repeat/,
    ],
    ["repeat and a parent", { repeat: { every: hour }, parent: { id: "a" } }, "parent", /not with repeat/],
  ] as const)("%s", async (_, jobOptions, option, why) => {
    const problem = await jobs.createTestLocation().postJobProblem({ message: "No", jobOptions: jobOptions as never });
    expect(problem).toMatchObject({ status: 400, code: "invalid_request" });
    const found = problem.errors?.find(({ path }) => path === `jobOptions.${option}`);
    expect(found?.message, JSON.stringify(problem.errors)).toMatch(why);
  });

  it("a duration beyond what the installation allows", async () => {
    const problem = await jobs.createTestLocation().postJobProblem({ message: "Long", duration: 3_600_001 });
    expect(problem.errors).toMatchObject([{ path: "duration", code: "too_big" }]);
  });

  it("a parent that has finished", async () => {
    const shop = jobs.createTestLocation();
    const { id } = await shop.createJob({ message: "Parent" });
    await shop.waitForState(id, "completed");
    const problem = await shop.postJobProblem({ message: "Child", jobOptions: { parent: { id } } });
    expect(problem.errors?.[0]?.message).toMatch(/has finished/);
  });
});

describe("limits of a location", () => {
  let limited: TestJobs;
  beforeAll(async () => {
    limited = await startTestJobs({
      ...{ JOBS_UNFINISHED_PER_LOCATION: "4", JOBS_REPEATING_PER_LOCATION: "2", JOBS_CHILDREN_PER_PARENT: "2" },
      ...{ JOBS_PER_DAY: "6", JOBS_BYTES_PER_DAY: "5000", JOBS_KEPT_PER_LOCATION: "2" },
    });
  });
  afterAll(() => limited?.remove());
  const delayed = { message: "Later", jobOptions: { delay: 60_000 } };
  const repeating = { message: "Again", jobOptions: { repeat: { every: 3_600_000 } } };

  it("are for all its keys together: jobs that have not finished", async () => {
    const shop = limited.createTestLocation();
    for (let index = 0; index < 4; index += 1) await shop.createJob(delayed);
    const otherKey = { ...shop.principal, keyId: randomUUID() };
    const refused = await limited.request("POST", "/v1/jobs/", { principal: otherKey, body: delayed });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(await refused.json()).toMatchObject({
      code: "too_many_jobs",
      limit: { name: "unfinished_jobs", maximum: 4, unit: "jobs per location" },
    });
    await limited.createTestLocation().createJob(delayed);
  });

  it("are for jobs that repeat", async () => {
    const shop = limited.createTestLocation();
    for (let index = 0; index < 2; index += 1) await shop.createJob(repeating);
    const limit = { name: "repeating_jobs", maximum: 2, unit: "repeating jobs per location" };
    expect(await shop.postJobProblem(repeating)).toMatchObject({ status: 409, code: "limit_reached", limit });
    await shop.createJob(delayed);
  });

  it("are for the children of a job, those that have finished included", async () => {
    const shop = limited.createTestLocation();
    const { id } = await shop.createJob(delayed);
    const child = { message: "Child", jobOptions: { parent: { id }, removeOnComplete: true } };
    for (let index = 0; index < 2; index += 1) {
      const created = await shop.createJob(child);
      await eventually("it to be forgotten", () => shop.isJobRemoved(created.id));
    }
    expect(await shop.postJobProblem(child)).toMatchObject({ code: "limit_reached", limit: { name: "children" } });
  });

  it("are for a day: jobs, and bytes of their messages", async () => {
    const shop = limited.createTestLocation();
    const large = { message: "x".repeat(4_000) };
    await shop.createJob(large);
    const bytes = await shop.postJobProblem(large);
    expect(bytes).toMatchObject({ status: 429, code: "quota_exceeded", limit: { name: "job_bytes", maximum: 5_000 } });
    for (let index = 0; index < 5; index += 1) {
      const { id } = await shop.createJob({ message: "Short", jobOptions: { removeOnComplete: true } });
      await eventually("it to be forgotten", () => shop.isJobRemoved(id));
    }
    expect(await shop.postJobProblem({ message: "Short" })).toMatchObject({
      code: "quota_exceeded",
      limit: { name: "jobs", maximum: 6, unit: "jobs per day" },
    });
  });

  it("are for jobs that are kept when they have finished: the last ones are", async () => {
    const shop = limited.createTestLocation();
    const ids: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      const { id } = await shop.createJob({ message: "Kept" });
      await shop.waitForState(id, "completed");
      ids.push(id);
    }
    const config = jobsConfig.parse({ REDIS_URL: "redis://unused", JOBS_KEPT_PER_LOCATION: "2" });
    await removeOldJobs(limited.db.sql, config);
    expect(await Promise.all(ids.map((id) => shop.isJobRemoved(id)))).toEqual([true, true, false, false]);
  });
});
