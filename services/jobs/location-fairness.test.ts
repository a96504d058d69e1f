import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUniqueTestJobMessage, startTestJobsService, type TestJobsService } from "./testing/start-test-jobs.ts";

let jobs: TestJobsService;
beforeAll(async () => {
  jobs = await startTestJobsService({ JOBS_CONCURRENCY: "5", JOBS_CONCURRENCY_PER_PROCESS: "20" });
});
afterAll(() => jobs?.remove());

describe("5,000 jobs of one location", () => {
  it.each([
    ["that are long", 60_000],
    ["that are short", 20],
  ])("%s do not delay another location and stay within the concurrency limit", async (_, duration) => {
    const location = jobs.createTestLocation();
    const first = await location.createJob({ message: "Flood", duration });
    await jobs.db.sql`
      insert into location_jobs
        (location_id, id, key_id, consumer, message, duration, options, timestamp, due_at, sort_position)
      select
        location_id, 'flood-' || number, key_id, consumer, message, duration, options, timestamp, due_at, sort_position
      from location_jobs, generate_series(1, 5000) as number where id = ${first.id}`;
    await eventually("the flood to run", async () => (await jobs.queue.getActiveCount()) >= 4);
    expect(await jobs.queue.getActiveCount()).toBeLessThanOrEqual(10);
    const otherLocation = jobs.createTestLocation();
    const startedAt = Date.now();
    const { id } = await otherLocation.createJob({ message: "Other", duration: 1_000 });
    await otherLocation.waitForState(id, "active");
    expect(Date.now() - startedAt).toBeLessThan(2_000);
  });
});

describe("runs that take longer than the interval of their repeating job", () => {
  it("overlap", async () => {
    const location = jobs.createTestLocation();
    const message = createUniqueTestJobMessage("held");
    const { id } = await location.createJob({ message, jobOptions: { repeat: { every: 500, limit: 3 } } });
    await eventually("all runs to start", () => jobs.startedMessages.filter((each) => each === message).length === 3);
    expect((await location.getStatus(id)).runs).toBe(0);
    jobs.releasedMessages.add(message);
    expect((await location.waitForState(id, "completed")).runs).toBe(3);
  });
});
