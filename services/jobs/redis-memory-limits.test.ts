import type { JobOptions } from "@pragma/contracts/job";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { type DedicatedServer, startDedicatedServer } from "@pragma/runtime/testing/dedicated-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestJobs, type TestJobs, uniqueMessage } from "./testing/start-test-jobs.ts";

let server: DedicatedServer;
let redis: Redis;
let jobs: TestJobs;
beforeAll(async () => {
  server = await startDedicatedServer("redis");
  redis = new Redis(server.url);
  redis.on("error", () => {});
  jobs = await startTestJobs({ REDIS_URL: server.url, JOBS_CONCURRENCY: "5" });
});
afterAll(async () => {
  redis?.disconnect();
  await jobs?.remove();
  await server?.stop();
});

async function readUsedMemory(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info("memory"))?.[1]);
}

const maxInteger = Number.MAX_SAFE_INTEGER;

describe("40 jobs with messages of 100,000 characters", () => {
  it.each<[string, JobOptions]>([
    ["that are to be kept for ever", { removeOnComplete: false, keepLogs: maxInteger }],
    ["that wait", { delay: 3_600_000 }],
    ["that repeat", { repeat: { every: 3_600_000 }, removeOnComplete: { age: maxInteger } }],
  ])("%s take less than 1 MB of Redis", async (_, jobOptions) => {
    const shop = jobs.createTestLocation();
    const before = await readUsedMemory();
    let last = "";
    for (let index = 0; index < 40; index += 1) {
      const body = { message: `${index}`.padEnd(100_000, "x"), jobOptions };
      last = (await shop.createJob(body)).id;
    }
    if (jobOptions.delay === undefined && !jobOptions.repeat) await shop.waitForState(last, "completed");
    expect((await shop.getStatus(last)).payload.message).toHaveLength(100_000);
    expect((await readUsedMemory()) - before).toBeLessThan(2 ** 20);
  });
});

describe("the events of a queue", () => {
  it("are bounded", async () => {
    const shop = jobs.createTestLocation();
    const created = Array.from({ length: 100 }, () => shop.createJob({ message: "Short" }));
    for (const { id } of await Promise.all(created)) await shop.waitForState(id, "completed");
    // Redis drops whole nodes of a stream, of 100 entries each.
    expect(await redis.xlen(`${jobs.queue.qualifiedName}:events`)).toBeLessThan(250);
  });
});

describe("while Redis is at its maxmemory", () => {
  /** Redis has used more than it may from now on, and refuses what would need memory. */
  async function setMaxMemory(): Promise<void> {
    await redis.config("SET", "maxmemory-policy", "noeviction");
    await redis.config("SET", "maxmemory", "1mb");
    await expect(redis.set("any", "thing")).rejects.toThrow(/OOM/);
  }

  /** How often Redis said so. */
  async function countRefusedWrites(): Promise<number> {
    return Number(/errorstat_OOM:count=(\d+)/.exec(await redis.info("errorstats"))?.[1]);
  }

  it("jobs are taken and can be read, and each is done once when there is memory again", async () => {
    const shop = jobs.createTestLocation();
    const create = (message: string, jobOptions: JobOptions = {}, duration = 0) =>
      shop.createJob({ message: uniqueMessage(message), duration, jobOptions });
    const running = await create("Running", {}, 1_500);
    await shop.waitForState(running.id, "active");
    const delayed = await create("Delayed", { delay: 1_000 });
    await shop.waitForState(delayed.id, "delayed");
    const repeating = await create("Repeating", { repeat: { every: 500, limit: 6 } });
    await eventually("a first run", async () => (await shop.getStatus(repeating.id)).runs > 0);

    await setMaxMemory();
    const waiting = await create("Waiting");
    const parent = await create("Parent", { jobId: "parent" });
    const child = await create("Child", { parent: { id: parent.id } });
    await shop.waitForState(running.id, "completed");
    await sleep(4_000);
    expect(await countRefusedWrites()).toBeLessThan(200);
    expect((await shop.getStatus(waiting.id)).state).toBe("waiting");
    await redis.config("SET", "maxmemory", 0);

    const all = [running, delayed, waiting, parent, child];
    // A run that was under way comes up again when its worker is taken for dead.
    for (const { id } of [...all, repeating]) await shop.waitForState(id, "completed", 100);
    const timesBegun = (message: string) => jobs.startedMessages.filter((each) => each === message).length;
    expect(all.map(({ payload }) => timesBegun(payload.message))).toEqual(all.map(() => 1));
    expect(timesBegun(repeating.payload.message)).toBe(6);
  }, 120_000);
});
