import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestJobs, type TestJobs, uniqueMessage } from "./testing/start-test-jobs.ts";

let jobs: TestJobs;
beforeAll(async () => {
  jobs = await startTestJobs({ JOBS_CONCURRENCY: "5", JOBS_CONCURRENCY_PER_PROCESS: "20" });
});
afterAll(() => jobs?.remove());

describe("five thousand jobs of one location", () => {
  it.each([
    ["that take long", 60_000],
    ["that are short", 20],
  ])("%s do not delay another location's, nor take more than their share", async (_, duration) => {
    const shop = jobs.createTestLocation();
    const first = await shop.createJob({ message: "Flood", duration });
    await jobs.db.sql`
      insert into jobs (location_id, id, key_id, consumer, message, duration, options, timestamp, due_at, position)
      select location_id, 'flood-' || number, key_id, consumer, message, duration, options, timestamp, due_at, position
      from jobs, generate_series(1, 5000) as number where id = ${first.id}`;
    await eventually("the flood to be under way", async () => (await jobs.queue.getActiveCount()) >= 4);
    expect(await jobs.queue.getActiveCount()).toBeLessThanOrEqual(10);
    const other = jobs.createTestLocation();
    const started = Date.now();
    const { id } = await other.createJob({ message: "Other", duration: 1_000 });
    await other.waitForState(id, "active");
    expect(Date.now() - started).toBeLessThan(2_000);
  });
});

describe("the runs of a repeating job that take longer than from one to the next", () => {
  it("are done beside one another", async () => {
    const shop = jobs.createTestLocation();
    const message = uniqueMessage("held");
    const { id } = await shop.createJob({ message, jobOptions: { repeat: { every: 500, limit: 3 } } });
    await eventually("all to begin", () => jobs.startedMessages.filter((each) => each === message).length === 3);
    expect((await shop.getStatus(id)).runs).toBe(0);
    jobs.releasedMessages.add(message);
    expect((await shop.waitForState(id, "completed")).runs).toBe(3);
  });
});
