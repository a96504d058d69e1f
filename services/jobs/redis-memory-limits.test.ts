import type { JobOptions } from "@pragma/contracts/job";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { type OwnTestServer, startOwnTestServer } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUniqueTestJobMessage, startTestJobsService, type TestJobsService } from "./testing/start-test-jobs.ts";

let server: OwnTestServer;
let redis: Redis;
let jobs: TestJobsService;
beforeAll(async () => {
  server = await startOwnTestServer("redis");
  redis = new Redis(server.url);
  redis.on("error", () => {});
  jobs = await startTestJobsService({ REDIS_URL: server.url, JOBS_CONCURRENCY: "5" });
});
afterAll(async () => {
  redis?.disconnect();
  await jobs?.remove();
  await server?.stop();
});

/** Returns the bytes of the stored data, without the buffers of connections and the scripts of BullMQ. */
async function readDatasetBytes(): Promise<number> {
  return Number(/used_memory_dataset:(\d+)/.exec(await redis.info("memory"))?.[1]);
}

const maxInteger = Number.MAX_SAFE_INTEGER;

describe("40 jobs with messages of 100,000 characters", () => {
  it.each<[string, JobOptions]>([
    ["that are kept forever", { removeOnComplete: false, keepLogs: maxInteger }],
    ["that are delayed", { delay: 3_600_000 }],
    ["that repeat", { repeat: { every: 3_600_000 }, removeOnComplete: { age: maxInteger } }],
  ])("%s use less than 1 MB of Redis memory", async (_, jobOptions) => {
    const location = jobs.createTestLocation();
    const before = await readDatasetBytes();
    let lastId = "";
    for (let index = 0; index < 40; index += 1) {
      const body = { message: `${index}`.padEnd(100_000, "x"), jobOptions };
      lastId = (await location.createJob(body)).id;
    }
    if (jobOptions.delay === undefined && !jobOptions.repeat) await location.waitForState(lastId, "completed");
    expect((await location.getStatus(lastId)).payload.message).toHaveLength(100_000);
    expect((await readDatasetBytes()) - before).toBeLessThan(2 ** 20);
  });
});

describe("the event stream of BullMQ", () => {
  it("is bounded", async () => {
    const location = jobs.createTestLocation();
    const created = Array.from({ length: 100 }, () => location.createJob({ message: "Short" }));
    for (const { id } of await Promise.all(created)) await location.waitForState(id, "completed");
    // The stream can exceed its maximum length, because Redis trims streams only in whole nodes of 100 entries.
    expect(await redis.xlen(`${jobs.queue.qualifiedName}:events`)).toBeLessThan(250);
  });
});

describe("when Redis has reached maxmemory", () => {
  /** Makes Redis reject every write that needs memory. */
  async function setMaxMemory(): Promise<void> {
    await redis.config("SET", "maxmemory-policy", "noeviction");
    await redis.config("SET", "maxmemory", "1mb");
    await expect(redis.set("any", "thing")).rejects.toThrow(/OOM/);
  }

  /** Returns how many writes Redis has rejected. */
  async function countRejectedWrites(): Promise<number> {
    return Number(/errorstat_OOM:count=(\d+)/.exec(await redis.info("errorstats"))?.[1]);
  }

  it("jobs can be created and read, and each runs once when memory is available again", async () => {
    const location = jobs.createTestLocation();
    const create = (message: string, jobOptions: JobOptions = {}, duration = 0) =>
      location.createJob({ message: createUniqueTestJobMessage(message), duration, jobOptions });
    const running = await create("Running", {}, 1_500);
    await location.waitForState(running.id, "active");
    const delayed = await create("Delayed", { delay: 1_000 });
    await location.waitForState(delayed.id, "delayed");
    const repeating = await create("Repeating", { repeat: { every: 500, limit: 6 } });
    await eventually("a first run", async () => (await location.getStatus(repeating.id)).runs > 0);

    await setMaxMemory();
    const waiting = await create("Waiting");
    const parent = await create("Parent", { jobId: "parent" });
    const child = await create("Child", { parent: { id: parent.id } });
    await location.waitForState(running.id, "completed");
    await sleep(4_000);
    expect(await countRejectedWrites()).toBeLessThan(200);
    expect((await location.getStatus(waiting.id)).state).toBe("waiting");
    await redis.config("SET", "maxmemory", 0);

    const all = [running, delayed, waiting, parent, child];
    // The timeout is long, because BullMQ delivers an active run again only when it considers the worker dead.
    for (const { id } of [...all, repeating]) await location.waitForState(id, "completed", 100);
    const countStarts = (message: string) => jobs.startedMessages.filter((each) => each === message).length;
    expect(all.map(({ payload }) => countStarts(payload.message))).toEqual(all.map(() => 1));
    expect(countStarts(repeating.payload.message)).toBe(6);
  }, 120_000);
});
