import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startJobs, type TestJobs, unlike } from "./testing/start-jobs.ts";

let jobs: TestJobs;
beforeAll(async () => {
  jobs = await startJobs({ JOBS_CONCURRENCY: "5", JOBS_CONCURRENCY_PER_PROCESS: "20" });
});
afterAll(() => jobs?.remove());

describe("five thousand jobs of one location", () => {
  it.each([
    ["that take long", 60_000],
    ["that are short", 20],
  ])("%s do not delay another location's, nor take more than their share", async (_, duration) => {
    const shop = jobs.openShop();
    const first = await shop.create({ message: "Flood", duration });
    await jobs.db.sql`
      insert into jobs (location_id, id, key_id, consumer, message, duration, options, timestamp, due_at, position)
      select location_id, 'flood-' || number, key_id, consumer, message, duration, options, timestamp, due_at, position
      from jobs, generate_series(1, 5000) as number where id = ${first.id}`;
    await eventually("the flood to be under way", async () => (await jobs.queue.getActiveCount()) >= 4);
    expect(await jobs.queue.getActiveCount()).toBeLessThanOrEqual(10);
    const other = jobs.openShop();
    const started = Date.now();
    const { id } = await other.create({ message: "Other", duration: 1_000 });
    await other.inState(id, "active");
    expect(Date.now() - started).toBeLessThan(2_000);
  });
});

describe("the runs of a repeating job that take longer than from one to the next", () => {
  it("are done beside one another", async () => {
    const shop = jobs.openShop();
    const message = unlike("held");
    const { id } = await shop.create({ message, jobOptions: { repeat: { every: 500, limit: 3 } } });
    await eventually("all to begin", () => jobs.begun.filter((each) => each === message).length === 3);
    expect((await shop.status(id)).runs).toBe(0);
    jobs.released.add(message);
    expect((await shop.inState(id, "completed")).runs).toBe(3);
  });
});
