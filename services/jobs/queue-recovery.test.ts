import { sleep } from "@pragma/runtime/concurrency/sleep";
import { type OwnTestServer, startOwnTestServer } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TestService } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JobRow } from "./queries/jobs.ts";
import { createUniqueTestJobMessage, startTestJobsService, type TestJobsService } from "./testing/start-test-jobs.ts";

let jobs: TestJobsService;
beforeAll(async () => {
  jobs = await startTestJobsService({ JOBS_CONCURRENCY: "5" });
});
afterAll(() => jobs?.remove());

const countStarts = (message: string) => jobs.startedMessages.filter((each) => each === message).length;

describe("after Redis has lost its data", () => {
  it("every job runs exactly once, and a parent still waits for its child", async () => {
    const location = jobs.createTestLocation();
    const create = (message: string, jobOptions = {}, duration = 0) =>
      location.createJob({ message: createUniqueTestJobMessage(message), duration, jobOptions });
    const done = await create("done");
    const removed = await create("removed", { removeOnComplete: true });
    const failed = await create("fail");
    await location.waitForState(done.id, "completed");
    await location.waitForState(failed.id, "failed");
    await eventually("the job to be removed", () => location.isJobRemoved(removed.id));
    const running = await create("running", {}, 4_000);
    await location.waitForState(running.id, "active");
    const delayed = await create("delayed", { delay: 1_500 });
    const parent = await create("parent", { delay: 500 });
    await location.waitForState(parent.id, "delayed");
    const child = await create("child", { parent: { id: parent.id }, delay: 2_500 });
    const repeating = await create("repeating", { repeat: { every: 1_000, limit: 4 } });
    await eventually("a first run", async () => (await location.getStatus(repeating.id)).runs > 0);

    await jobs.flushRedis();

    const all = [done, removed, failed, running, delayed, parent, child];
    await Promise.all(
      [running, delayed, parent, child, repeating].map(({ id }) => location.waitForState(id, "completed")),
    );
    const [parentDone, childDone] = await Promise.all([parent, child].map(({ id }) => location.getStatus(id)));
    expect(Date.parse(childDone?.finishedAt ?? "")).toBeLessThanOrEqual(Date.parse(parentDone?.finishedAt ?? ""));
    await sleep(3_000);
    expect(all.map(({ payload }) => countStarts(payload.message))).toEqual(all.map(() => 1));
    expect(countStarts(repeating.payload.message)).toBe(4);
    expect((await location.getStatus(failed.id)).state).toBe("failed");
  });

  it("deduplication and the count of attempts persist", async () => {
    const location = jobs.createTestLocation();
    const jobOptions = { deduplication: { id: "d", ttl: 60_000 } };
    const first = await location.createJob({ message: "First", jobOptions });
    await location.waitForState(first.id, "completed");
    const message = createUniqueTestJobMessage("fail");
    const retried = await location.createJob({ message, jobOptions: { attempts: 3, backoff: 2_000 } });
    await location.waitForState(retried.id, "delayed");
    await jobs.flushRedis();
    expect((await location.postJob({ message: "Duplicate", jobOptions })).status).toBe(200);
    await location.waitForState(retried.id, "failed");
    expect(countStarts(message)).toBe(3);
  });
});

describe.concurrent("a stopping process", () => {
  it("requeues its running job, which another process completes", async () => {
    const testJobs = await startTestJobsService();
    const location = testJobs.createTestLocation();
    const message = "held: requeued";
    const { id } = await location.createJob({ message });
    await location.waitForState(id, "active");
    const otherInstance = await testJobs.startAnotherInstance();
    const stoppedAt = Date.now();
    await testJobs.stop();
    expect(Date.now() - stoppedAt).toBeLessThan(3_000);
    testJobs.releasedMessages.add(message);
    await eventually("the other process to complete the job", async () => {
      const response = await otherInstance.request("GET", `/v1/jobs/${id}`, { principal: location.principal });
      return ((await response.json()) as { state: string }).state === "completed";
    });
    expect(testJobs.startedMessages).toEqual([message, message]);
    await otherInstance.stop();
    await testJobs.remove();
  });
});

describe.concurrent("while Redis is unavailable", () => {
  let redis: OwnTestServer;
  beforeAll(async () => {
    redis = await startOwnTestServer("redis");
  });
  afterAll(() => redis?.stop());

  it.sequential("jobs can be created and run once Redis is back", async () => {
    const service = await startTestJobsService({ REDIS_URL: redis.url });
    await redis.kill();
    const location = service.createTestLocation();
    const { id } = await location.createJob({ message: "During the outage" });
    expect((await location.getStatus(id)).state).toBe("waiting");
    await redis.start();
    await location.waitForState(id, "completed");
    await service.remove();
  });

  it.sequential("a process stops within 8 seconds", async () => {
    const service = await startTestJobsService({ REDIS_URL: redis.url });
    const { id } = await service.createTestLocation().createJob({ message: "Before the outage" });
    expect(id).toBeDefined();
    await redis.kill();
    const stoppedAt = Date.now();
    await service.stop();
    expect(Date.now() - stoppedAt).toBeLessThan(8_000);
  });
});

describe.concurrent("a job that BullMQ has lost", () => {
  const removeFromQueue = async (job: { remove(): Promise<unknown> } | undefined) => job?.remove();

  it("is added to BullMQ again", async () => {
    const testJobs = await startTestJobsService();
    const location = testJobs.createTestLocation();
    const busy = await location.createJob({ message: "busy", duration: 60_000 });
    await location.waitForState(busy.id, "active");
    const otherLocation = testJobs.createTestLocation();
    await testJobs.queue.pause();
    const { id } = await otherLocation.createJob({ message: "lost" });
    await eventually("the job to be queued", async () => Boolean(await otherLocation.getQueuedJob(id)));
    await removeFromQueue(await otherLocation.getQueuedJob(id));
    await testJobs.queue.resume();
    await otherLocation.waitForState(id, "completed");
    expect(testJobs.startedMessages).toEqual(["busy", "lost"]);
    await testJobs.remove();
  });

  it("and whose process died runs in another process after the lease has expired", async () => {
    const testJobs = await startTestJobsService();
    const location = testJobs.createTestLocation();
    const { id } = await location.createJob({ message: "orphaned" });
    await location.waitForState(id, "completed");
    const activeState = { finishedAt: null, outcome: null, result: null, queuedAt: new Date(Date.now() - 60_000) };
    await testJobs.db.sql`
      update location_jobs set ${testJobs.db.sql(activeState)}, lease_expires_at = now() + interval '6 seconds'
      where id = ${id}`;
    await removeFromQueue(await location.getQueuedJob(id));
    await sleep(4_500);
    expect(testJobs.startedMessages).toHaveLength(1);
    await location.waitForState(id, "completed");
    expect(testJobs.startedMessages).toEqual(["orphaned", "orphaned"]);
    await testJobs.remove();
  });
});

describe.concurrent("a process that has lost its lease", () => {
  /** Starts a job, and changes its row as if another process had then acquired its lease. */
  async function startStalledJob(message: string, jobOptions = {}) {
    const testJobs = await startTestJobsService();
    const location = testJobs.createTestLocation();
    const { id } = await location.createJob({ message, jobOptions, duration: 300 });
    await location.waitForState(id, "active");
    const leaseExpiresAt = new Date(Date.now() + 60_000);
    await testJobs.db.sql`
      update location_jobs set lease_id = gen_random_uuid(), lease_expires_at = ${leaseExpiresAt}, progress = 40
      where id = ${id}`;
    const { queuedAt } = await findRow();
    const unchanged = { finishedAt: null, attemptsMade: 0, progress: 40, leaseExpiresAt, queuedAt };
    async function findRow({ db }: TestService = testJobs) {
      const [job] = await db.sql<[JobRow]>`select * from location_jobs where id = ${id}`;
      return job;
    }
    return { testJobs, id, findRow, unchanged };
  }

  it.each([
    ["job completes", "held", {}],
    ["last attempt fails", "held, then fail", {}],
    ["first attempt fails", "held, then fail", { attempts: 2, backoff: 60_000 }],
  ])("changes nothing when its %s", async (_, message, jobOptions) => {
    const { testJobs, id, findRow, unchanged } = await startStalledJob(message, jobOptions);
    testJobs.releasedMessages.add(message);
    await eventually("the job to end", async () => {
      const [queued] = await testJobs.queue.getJobs(["completed", "failed"]);
      return queued?.data.id === id;
    });
    expect(await findRow()).toMatchObject(unchanged);
    await testJobs.remove();
  });

  it("does not requeue the job when it stops", async () => {
    const { testJobs, findRow, unchanged } = await startStalledJob("held by another process");
    await testJobs.stop();
    const otherInstance = await testJobs.startAnotherInstance();
    expect(await findRow(otherInstance)).toMatchObject(unchanged);
    await otherInstance.stop();
    await testJobs.remove();
  });
});
