import type { JobOptions } from "@pragma/contracts/job";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startJobs, type TestJobs, unlike } from "./testing/start-jobs.ts";

let jobs: TestJobs;
beforeAll(async () => {
  jobs = await startJobs();
});
afterAll(() => jobs?.remove());

const most = Number.MAX_SAFE_INTEGER;
const lastDate = Date.parse("9999-12-31T23:59:59.999Z");

describe("the largest number that an option takes", () => {
  it.each<[string, JobOptions]>([
    ["removeOnComplete", { removeOnComplete: most }],
    ["removeOnComplete.age", { removeOnComplete: { age: most } }],
    ["removeOnComplete.count", { removeOnComplete: { count: most } }],
    ["removeOnComplete.limit", { removeOnComplete: { age: 0, limit: most } }],
    ["keepLogs", { keepLogs: most }],
    ["stackTraceLimit", { stackTraceLimit: most }],
    ["sizeLimit", { sizeLimit: most }],
    ["backoff", { backoff: most }],
    ["timestamp", { timestamp: most }],
    ["deduplication.ttl", { deduplication: { id: "once", ttl: most } }],
  ])("%s lets the job be done", async (_, jobOptions) => {
    const shop = jobs.openShop();
    const { id } = await shop.create({ message: "Extreme", jobOptions });
    expect(await shop.inState(id, "completed")).toMatchObject({ failure: null, result: { message: "Extreme" } });
  });

  it.each<[string, JobOptions]>([
    ["delay", { delay: most }],
    ["delay from the largest timestamp", { delay: most, timestamp: most }],
    ["delay of a job that goes first", { delay: most, lifo: true }],
  ])("%s keeps the job until it is due", async (_, jobOptions) => {
    const shop = jobs.openShop();
    const { id } = await shop.create({ message: "Late", jobOptions });
    expect((await shop.status(id)).state).toBe("delayed");
  });

  it("removeOnFail.age says of a job that it failed, and why", async () => {
    const shop = jobs.openShop();
    const message = unlike("fail");
    const { id } = await shop.create({ message, jobOptions: { removeOnFail: { age: most } } });
    expect((await shop.inState(id, "failed")).failure).toEqual({ message });
  });

  it.each<[string, NonNullable<JobOptions["repeat"]>]>([
    ["every", { every: most }],
    ["limit", { every: 60_000, limit: most }],
    ["startDate", { every: 60_000, startDate: lastDate }],
    ["startDate of a pattern", { pattern: "0 4 * * *", startDate: lastDate }],
    ["endDate", { every: 60_000, endDate: lastDate }],
    ["endDate of a pattern", { pattern: "0 4 * * *", endDate: lastDate }],
  ])("repeat.%s has the job repeated", async (_, repeat) => {
    const shop = jobs.openShop();
    const { id } = await shop.create({ message: "Again and again", jobOptions: { repeat } });
    await eventually("a run to be due", async () => await shop.nextRun(id));
    expect((await shop.status(id)).state).toBe("repeating");
  });

  it.each<[string, NonNullable<JobOptions["repeat"]>]>([
    ["startDate", { every: 60_000, startDate: lastDate + 1 }],
    ["endDate", { pattern: "0 4 * * *", endDate: most }],
  ])("repeat.%s is refused beyond the last date", async (option, repeat) => {
    const problem = await jobs.openShop().refusal({ message: "Too late", jobOptions: { repeat } });
    expect(problem.errors).toMatchObject([{ path: `jobOptions.repeat.${option}`, code: "too_big" }]);
  });
});
