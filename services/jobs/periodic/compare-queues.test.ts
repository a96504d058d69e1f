import { createLogger } from "@pragma/runtime/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LocationQueues, openLocationQueues } from "../queues/location-queues.ts";
import { startJobs, type TestJobs, unlike } from "../testing/start-jobs.ts";
import { compareQueues } from "./compare-queues.ts";

const log = createLogger({ name: "test", level: "silent" });
let jobs: TestJobs;
let queues: LocationQueues;
beforeAll(async () => {
  jobs = await startJobs();
  const config = { REDIS_URL: process.env.REDIS_URL ?? "", NAMESPACE: jobs.prefix };
  queues = openLocationQueues(config, { concurrency: 1, log });
  await eventually("Redis", () => queues.check().then(() => true));
});
afterAll(async () => {
  await queues?.close();
  await jobs?.remove();
});

/** As if all jobs had been in their queues for a while. */
async function compareLater(): Promise<void> {
  await jobs.db.sql`update jobs set queued_at = queued_at - interval '1 minute'`;
  await compareQueues.run({ db: jobs.db, queues, log });
}

describe("a job that its queue does not have", () => {
  it("is given to it again", async () => {
    const shop = jobs.openShop();
    const { id } = await shop.create({ message: "Lost alone", jobOptions: { delay: 1_500 } });
    const staying = await shop.create({ message: "Stays", jobOptions: { delay: 60_000 } });
    for (const each of [id, staying.id]) await shop.inState(each, "delayed");
    await (await shop.queue.getJob(id))?.remove();
    await compareLater();
    const [row] = await jobs.db.sql`select queued_at from jobs where id = ${staying.id}`;
    expect(row?.queued_at).not.toBeNull();
    await shop.inState(id, "completed");
  });

  it("is given to it again when it repeats", async () => {
    const shop = jobs.openShop();
    const message = unlike("Repeats");
    const { id } = await shop.create({ message, jobOptions: { repeat: { every: 1_000, limit: 2 } } });
    await eventually("a first run", async () => (await shop.status(id)).runs === 1);
    await shop.queue.removeJobScheduler(id);
    await compareLater();
    expect((await shop.inState(id, "completed")).runs).toBe(2);
    expect(jobs.begun.filter((each) => each === message)).toHaveLength(2);
  });
});

describe("a job that has finished in its queue only", () => {
  it("has failed when its queue gave it up", async () => {
    const shop = jobs.openShop();
    const { id } = await shop.create({ message: unlike("fail") });
    await shop.inState(id, "failed");
    await eventually("the queue to know", async () => (await (await shop.queue.getJob(id))?.getState()) === "failed");
    await jobs.db.sql`update jobs set finished_at = null, outcome = null, failure = null where id = ${id}`;
    await compareLater();
    expect((await shop.status(id)).failure?.message).toMatch(/^fail/);
  });

  it("is done when what is in the queue is left over from another of the same id", async () => {
    const shop = jobs.openShop();
    const message = unlike("Same id");
    const jobOptions = { jobId: "same" };
    await shop.create({ message, jobOptions });
    await shop.inState("same", "completed");
    await eventually(
      "the queue to know",
      async () => (await (await shop.queue.getJob("same"))?.getState()) === "completed",
    );
    await jobs.db.sql`delete from jobs where id = 'same'`;
    await shop.create({ message, jobOptions });
    await eventually("it to be offered", async () => {
      const [row] = await jobs.db.sql`select queued_at from jobs where id = 'same'`;
      return row?.queued_at !== null;
    });
    await compareLater();
    await shop.inState("same", "completed");
    expect(jobs.begun.filter((each) => each === message)).toHaveLength(2);
  });
});
