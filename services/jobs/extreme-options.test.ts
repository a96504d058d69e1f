import type { JobOptions } from "@pragma/contracts/job";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestJobs, type TestJobs, uniqueMessage } from "./testing/start-test-jobs.ts";

let jobs: TestJobs;
beforeAll(async () => {
  jobs = await startTestJobs();
});
afterAll(() => jobs?.remove());

const maxInteger = Number.MAX_SAFE_INTEGER;
const lastDate = Date.parse("9999-12-31T23:59:59.999Z");

describe("the largest number that an option takes", () => {
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
  ])("%s lets the job be done", async (_, jobOptions) => {
    const shop = jobs.createTestLocation();
    const { id } = await shop.createJob({ message: "Extreme", jobOptions });
    expect(await shop.waitForState(id, "completed")).toMatchObject({ failure: null, result: { message: "Extreme" } });
  });

  it.each<[string, JobOptions]>([
    ["delay", { delay: maxInteger }],
    ["delay from the largest timestamp", { delay: maxInteger, timestamp: maxInteger }],
    ["delay of a job that goes first", { delay: maxInteger, lifo: true }],
  ])("%s keeps the job until it is due", async (_, jobOptions) => {
    const shop = jobs.createTestLocation();
    const { id } = await shop.createJob({ message: "Late", jobOptions });
    expect((await shop.getStatus(id)).state).toBe("delayed");
  });

  it("removeOnFail.age says of a job that it failed, and why", async () => {
    const shop = jobs.createTestLocation();
    const message = uniqueMessage("fail");
    const { id } = await shop.createJob({ message, jobOptions: { removeOnFail: { age: maxInteger } } });
    expect((await shop.waitForState(id, "failed")).failure).toEqual({ message });
  });

  it.each<[string, NonNullable<JobOptions["repeat"]>]>([
    ["every", { every: maxInteger }],
    ["limit", { every: 60_000, limit: maxInteger }],
    ["startDate", { every: 60_000, startDate: lastDate }],
    ["startDate of a pattern", { pattern: "0 4 * * *", startDate: lastDate }],
    ["endDate", { every: 60_000, endDate: lastDate }],
    ["endDate of a pattern", { pattern: "0 4 * * *", endDate: lastDate }],
  ])("repeat.%s has the job repeated", async (_, repeat) => {
    const shop = jobs.createTestLocation();
    const { id } = await shop.createJob({ message: "Again and again", jobOptions: { repeat } });
    await eventually("a run to be due", async () => await shop.nextRunAt(id));
    expect((await shop.getStatus(id)).state).toBe("repeating");
  });

  it.each<[string, NonNullable<JobOptions["repeat"]>]>([
    ["startDate", { every: 60_000, startDate: lastDate + 1 }],
    ["endDate", { pattern: "0 4 * * *", endDate: maxInteger }],
  ])("repeat.%s is refused beyond the last date", async (option, repeat) => {
    const problem = await jobs.createTestLocation().postJobProblem({ message: "Too late", jobOptions: { repeat } });
    expect(problem.errors).toMatchObject([{ path: `jobOptions.repeat.${option}`, code: "too_big" }]);
  });
});
