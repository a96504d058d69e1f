import type { JobOptions } from "@pragma/contracts/job";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUniqueTestJobMessage, startTestJobsService, type TestJobsService } from "./testing/start-test-jobs.ts";

let jobs: TestJobsService;
beforeAll(async () => {
  jobs = await startTestJobsService();
});
afterAll(() => jobs?.remove());

const maxInteger = Number.MAX_SAFE_INTEGER;
const lastDate = Date.parse("9999-12-31T23:59:59.999Z");

describe("an option at its maximum", () => {
  it.each<[string, JobOptions]>([
    ["removeOnComplete", { removeOnComplete: maxInteger }],
    ["removeOnComplete.age", { removeOnComplete: { age: maxInteger } }],
    ["removeOnComplete.count", { removeOnComplete: { count: maxInteger } }],
    ["removeOnComplete.limit", { removeOnComplete: { age: 0, limit: maxInteger } }],
    ["keepLogs", { keepLogs: maxInteger }],
    ["stackTraceLimit", { stackTraceLimit: maxInteger }],
    ["sizeLimit", { sizeLimit: maxInteger }],
    ["backoff", { backoff: maxInteger }],
    ["timestamp", { timestamp: maxInteger }],
    ["deduplication.ttl", { deduplication: { id: "once", ttl: maxInteger } }],
  ])("%s: the job completes", async (_, jobOptions) => {
    const location = jobs.createTestLocation();
    const { id } = await location.createJob({ message: "Extreme", jobOptions });
    expect(await location.waitForState(id, "completed")).toMatchObject({
      failure: null,
      result: { message: "Extreme" },
    });
  });

  it.each<[string, JobOptions]>([
    ["delay", { delay: maxInteger }],
    ["delay from the largest timestamp", { delay: maxInteger, timestamp: maxInteger }],
    ["delay of a lifo job", { delay: maxInteger, lifo: true }],
  ])("%s: the job stays delayed", async (_, jobOptions) => {
    const location = jobs.createTestLocation();
    const { id } = await location.createJob({ message: "Late", jobOptions });
    expect((await location.getStatus(id)).state).toBe("delayed");
  });

  it("removeOnFail.age: the failed job keeps its failure", async () => {
    const location = jobs.createTestLocation();
    const message = createUniqueTestJobMessage("fail");
    const { id } = await location.createJob({ message, jobOptions: { removeOnFail: { age: maxInteger } } });
    expect((await location.waitForState(id, "failed")).failure).toEqual({ message });
  });

  it.each<[string, NonNullable<JobOptions["repeat"]>]>([
    ["every", { every: maxInteger }],
    ["limit", { every: 60_000, limit: maxInteger }],
    ["startDate", { every: 60_000, startDate: lastDate }],
    ["startDate of a pattern", { pattern: "0 4 * * *", startDate: lastDate }],
    ["endDate", { every: 60_000, endDate: lastDate }],
    ["endDate of a pattern", { pattern: "0 4 * * *", endDate: lastDate }],
  ])("repeat.%s: the job repeats", async (_, repeat) => {
    const location = jobs.createTestLocation();
    const { id } = await location.createJob({ message: "Repeated", jobOptions: { repeat } });
    await eventually("a run to be due", async () => await location.nextRunAt(id));
    expect((await location.getStatus(id)).state).toBe("repeating");
  });

  it.each<[string, NonNullable<JobOptions["repeat"]>]>([
    ["startDate", { every: 60_000, startDate: lastDate + 1 }],
    ["endDate", { pattern: "0 4 * * *", endDate: maxInteger }],
  ])("returns 400 for repeat.%s after the year 9999", async (option, repeat) => {
    const problem = await jobs.createTestLocation().postJobProblem({ message: "Too late", jobOptions: { repeat } });
    expect(problem.errors).toMatchObject([{ path: `jobOptions.repeat.${option}`, code: "too_big" }]);
  });
});
