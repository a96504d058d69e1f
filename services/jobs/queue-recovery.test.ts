import { readFile } from "node:fs/promises";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { type DedicatedServer, startDedicatedServer } from "@pragma/runtime/testing/dedicated-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TestService } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JobRow } from "./queries/jobs.ts";
import { startTestJobs, type TestJobs, uniqueMessage } from "./testing/start-test-jobs.ts";

let jobs: TestJobs;
beforeAll(async () => {
  jobs = await startTestJobs({ JOBS_CONCURRENCY: "5" });
});
afterAll(() => jobs?.remove());

const countStarts = (message: string) => jobs.startedMessages.filter((each) => each === message).length;

describe("when Redis has lost everything", () => {
  it("what waits is done, what is being done and what was done is not done again, and a parent waits for its child", async () => {
    const shop = jobs.createTestLocation();
    const create = (message: string, jobOptions = {}, duration = 0) =>
      shop.createJob({ message: uniqueMessage(message), duration, jobOptions });
    const done = await create("done");
    const forgotten = await create("forgotten", { removeOnComplete: true });
    const failed = await create("fail");
    await shop.waitForState(done.id, "completed");
    await shop.waitForState(failed.id, "failed");
    await eventually("it to be forgotten", () => shop.isJobRemoved(forgotten.id));
    const running = await create("running", {}, 4_000);
    await shop.waitForState(running.id, "active");
    const delayed = await create("delayed", { delay: 1_500 });
    const parent = await create("parent", { delay: 500 });
    await shop.waitForState(parent.id, "delayed");
    const child = await create("child", { parent: { id: parent.id }, delay: 2_500 });
    const repeating = await create("repeating", { repeat: { every: 1_000, limit: 4 } });
    await eventually("a first run", async () => (await shop.getStatus(repeating.id)).runs > 0);

    await jobs.flushRedis();

    const all = [done, forgotten, failed, running, delayed, parent, child];
    await Promise.all([running, delayed, parent, child, repeating].map(({ id }) => shop.waitForState(id, "completed")));
    const [parentDone, childDone] = await Promise.all([parent, child].map(({ id }) => shop.getStatus(id)));
    expect(Date.parse(childDone?.finishedAt ?? "")).toBeLessThanOrEqual(Date.parse(parentDone?.finishedAt ?? ""));
    await sleep(3_000);
    expect(all.map(({ payload }) => countStarts(payload.message))).toEqual(all.map(() => 1));
    expect(countStarts(repeating.payload.message)).toBe(4);
    expect((await shop.getStatus(failed.id)).state).toBe("failed");
  });

  it("a duplicate is still one, and an attempt that was made still counts", async () => {
    const shop = jobs.createTestLocation();
    const jobOptions = { deduplication: { id: "d", ttl: 60_000 } };
    const first = await shop.createJob({ message: "First", jobOptions });
    await shop.waitForState(first.id, "completed");
    const message = uniqueMessage("fail");
    const tried = await shop.createJob({ message, jobOptions: { attempts: 3, backoff: 2_000 } });
    await shop.waitForState(tried.id, "delayed");
    await jobs.flushRedis();
    expect((await shop.postJob({ message: "Again", jobOptions })).status).toBe(200);
    await shop.waitForState(tried.id, "failed");
    expect(countStarts(message)).toBe(3);
  });
});

describe.concurrent("a process that stops", () => {
  it("gives back what it is doing, and another does it", async () => {
    const one = await startTestJobs();
    const shop = one.createTestLocation();
    const message = "held: given back";
    const { id } = await shop.createJob({ message });
    await shop.waitForState(id, "active");
    const other = await one.startAnotherInstance();
    const stoppedAt = Date.now();
    await one.stop();
    expect(Date.now() - stoppedAt).toBeLessThan(3_000);
    one.releasedMessages.add(message);
    await eventually("the other to do it", async () => {
      const response = await other.request("GET", `/v1/jobs/${id}`, { principal: shop.principal });
      return ((await response.json()) as { state: string }).state === "completed";
    });
    expect(one.startedMessages).toEqual([message, message]);
    await other.stop();
    await one.remove();
  });
});

describe.concurrent("while Redis is away", () => {
  let redis: DedicatedServer;
  beforeAll(async () => {
    redis = await startDedicatedServer("redis");
  });
  afterAll(() => redis?.stop());

  it.sequential("jobs are taken, and done when it is back", async () => {
    const alone = await startTestJobs({ REDIS_URL: redis.url });
    await redis.kill();
    const shop = alone.createTestLocation();
    const { id } = await shop.createJob({ message: "While away" });
    expect((await shop.getStatus(id)).state).toBe("waiting");
    await redis.start();
    await shop.waitForState(id, "completed");
    await alone.remove();
  });

  it.sequential("a process stops within seconds", async () => {
    const alone = await startTestJobs({ REDIS_URL: redis.url });
    const { id } = await alone.createTestLocation().createJob({ message: "While there" });
    expect(id).toBeDefined();
    await redis.kill();
    const stoppedAt = Date.now();
    await alone.stop();
    expect(Date.now() - stoppedAt).toBeLessThan(8_000);
  });
});

describe.concurrent("a job that the queue does not have", () => {
  const removeFromQueue = async (job: { remove(): Promise<unknown> } | undefined) => job?.remove();

  it("is given to it again", async () => {
    const one = await startTestJobs();
    const shop = one.createTestLocation();
    const busy = await shop.createJob({ message: "busy", duration: 60_000 });
    await shop.waitForState(busy.id, "active");
    const other = one.createTestLocation();
    await one.queue.pause();
    const { id } = await other.createJob({ message: "lost alone" });
    await eventually("it to be queued", async () => Boolean(await other.getQueuedJob(id)));
    await removeFromQueue(await other.getQueuedJob(id));
    await one.queue.resume();
    await other.waitForState(id, "completed");
    expect(one.startedMessages).toEqual(["busy", "lost alone"]);
    await one.remove();
  });

  it("and whose process died, is done by another when the lease has expired, and not before", async () => {
    const one = await startTestJobs();
    const shop = one.createTestLocation();
    const { id } = await shop.createJob({ message: "orphaned" });
    await shop.waitForState(id, "completed");
    const dead = { finishedAt: null, outcome: null, result: null, queuedAt: new Date(Date.now() - 60_000) };
    await one.db.sql`
      update jobs set ${one.db.sql(dead)}, held_until = now() + interval '6 seconds' where id = ${id}`;
    await removeFromQueue(await shop.getQueuedJob(id));
    await sleep(4_500);
    expect(one.startedMessages).toHaveLength(1);
    await shop.waitForState(id, "completed");
    expect(one.startedMessages).toEqual(["orphaned", "orphaned"]);
    await one.remove();
  });
});

describe.concurrent("a process that stalls until its lease has expired", () => {
  /** A job whose lease another process has acquired since this one began it. */
  async function startStalledJob(message: string, jobOptions = {}) {
    const one = await startTestJobs();
    const shop = one.createTestLocation();
    const { id } = await shop.createJob({ message, jobOptions, duration: 300 });
    await shop.waitForState(id, "active");
    const heldUntil = new Date(Date.now() + 60_000);
    await one.db.sql`
      update jobs set lease_id = gen_random_uuid(), held_until = ${heldUntil}, progress = 40 where id = ${id}`;
    const { queuedAt } = await row();
    const unchanged = { finishedAt: null, attemptsMade: 0, progress: 40, heldUntil, queuedAt };
    async function row({ db }: TestService = one) {
      const [found] = await db.sql<[JobRow]>`select * from jobs where id = ${id}`;
      return found;
    }
    return { one, id, row, unchanged };
  }

  it.each([
    ["completes", "held", {}],
    ["fails for the last time", "held, then fail", {}],
    ["fails", "held, then fail", { attempts: 2, backoff: 60_000 }],
  ])("and %s, changes nothing of the job that another does", async (_, message, jobOptions) => {
    const { one, id, row, unchanged } = await startStalledJob(message, jobOptions);
    one.releasedMessages.add(message);
    await eventually("it to end", async () => {
      const [queued] = await one.queue.getJobs(["completed", "failed"]);
      return queued?.data.id === id;
    });
    expect(await row()).toMatchObject(unchanged);
    await one.remove();
  });

  it("and stops, does not give back the job that another does", async () => {
    const { one, row, unchanged } = await startStalledJob("held for another");
    await one.stop();
    const other = await one.startAnotherInstance();
    expect(await row(other)).toMatchObject(unchanged);
    await other.stop();
    await one.remove();
  });
});

describe.concurrent("jobs of a version that kept them in queues of their locations", () => {
  it("are done after an upgrade, and a parent after its children", async () => {
    const shop = jobs.createTestLocation();
    const later = { delay: 2_000 };
    const plain = await shop.createJob({ message: uniqueMessage("plain"), jobOptions: later });
    const parent = await shop.createJob({ message: uniqueMessage("parent"), jobOptions: later });
    const child = await shop.createJob({
      message: uniqueMessage("child"),
      jobOptions: { delay: 4_000, parent: { id: parent.id } },
    });
    const repeat = { every: 500, limit: 2, startDate: Date.now() + 2_000 };
    const repeating = await shop.createJob({ message: uniqueMessage("repeating"), jobOptions: { repeat } });
    await jobs.db.sql`delete from jobs where location_id = ${shop.locationId} and run_of is not null`;
    await jobs.db.sql`
      update jobs set due_at = null, position = 0, pending_children = 0, last_due = null, queued_at = now()
      where location_id = ${shop.locationId}`;
    for (const name of ["005_prepared", "008_first_runs"]) {
      const migration = new URL(`./migrations/${name}.sql`, import.meta.url);
      await jobs.db.sql.unsafe(await readFile(migration, "utf8"));
    }
    await shop.waitForState(parent.id, "waiting-children");
    for (const { id } of [plain, child, parent, repeating]) await shop.waitForState(id, "completed");
    const all = [plain, child, parent, repeating].map(({ payload }) => countStarts(payload.message));
    expect(all).toEqual([1, 1, 1, 2]);
  });
});
