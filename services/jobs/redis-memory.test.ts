import type { JobOptions } from "@pragma/contracts/job";
import { sleep } from "@pragma/runtime/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { type PrivateServer, startPrivateServer } from "@pragma/runtime/testing/private-server";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startJobs, type TestJobs, unlike } from "./testing/start-jobs.ts";

let server: PrivateServer;
let redis: Redis;
let jobs: TestJobs;
beforeAll(async () => {
  server = await startPrivateServer("redis");
  redis = new Redis(server.url);
  redis.on("error", () => {});
  jobs = await startJobs({ REDIS_URL: server.url, JOBS_CONCURRENCY: "5" });
});
afterAll(async () => {
  redis?.disconnect();
  await jobs?.remove();
  await server?.stop();
});

async function usedMemory(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info("memory"))?.[1]);
}

const most = Number.MAX_SAFE_INTEGER;

describe("40 jobs with messages of 100,000 characters", () => {
  it.each<[string, JobOptions]>([
    ["that are to be kept for ever", { removeOnComplete: false, keepLogs: most }],
    ["that wait", { delay: 3_600_000 }],
    ["that repeat", { repeat: { every: 3_600_000 }, removeOnComplete: { age: most } }],
  ])("%s take less than 1 MB of Redis", async (_, jobOptions) => {
    const shop = jobs.openShop();
    const before = await usedMemory();
    let last = "";
    for (let index = 0; index < 40; index += 1) {
      const body = { message: `${index}`.padEnd(100_000, "x"), jobOptions };
      last = (await shop.create(body)).id;
    }
    if (jobOptions.delay === undefined && !jobOptions.repeat) await shop.inState(last, "completed");
    expect((await shop.status(last)).payload.message).toHaveLength(100_000);
    expect((await usedMemory()) - before).toBeLessThan(2 ** 20);
  });
});

describe("the events of a queue", () => {
  it("are bounded", async () => {
    const shop = jobs.openShop();
    const created = Array.from({ length: 100 }, () => shop.create({ message: "Short" }));
    for (const { id } of await Promise.all(created)) await shop.inState(id, "completed");
    // Redis drops whole nodes of a stream, of 100 entries each.
    expect(await redis.xlen(`${jobs.queue.qualifiedName}:events`)).toBeLessThan(250);
  });
});

describe("while Redis is at its maxmemory", () => {
  /** Redis has used more than it may from now on, and refuses what would need memory. */
  async function limitRedis(): Promise<void> {
    await redis.config("SET", "maxmemory-policy", "noeviction");
    await redis.config("SET", "maxmemory", "1mb");
    await expect(redis.set("any", "thing")).rejects.toThrow(/OOM/);
  }

  /** How often Redis said so. */
  async function refusedWrites(): Promise<number> {
    return Number(/errorstat_OOM:count=(\d+)/.exec(await redis.info("errorstats"))?.[1]);
  }

  it("jobs are taken and can be read, and each is done once when there is memory again", async () => {
    const shop = jobs.openShop();
    const create = (message: string, jobOptions: JobOptions = {}, duration = 0) =>
      shop.create({ message: unlike(message), duration, jobOptions });
    const running = await create("Running", {}, 1_500);
    await shop.inState(running.id, "active");
    const delayed = await create("Delayed", { delay: 1_000 });
    await shop.inState(delayed.id, "delayed");
    const repeating = await create("Repeating", { repeat: { every: 500, limit: 6 } });
    await eventually("a first run", async () => (await shop.status(repeating.id)).runs > 0);

    await limitRedis();
    const waiting = await create("Waiting");
    const parent = await create("Parent", { jobId: "parent" });
    const child = await create("Child", { parent: { id: parent.id } });
    await shop.inState(running.id, "completed");
    await sleep(4_000);
    expect(await refusedWrites()).toBeLessThan(200);
    expect((await shop.status(waiting.id)).state).toBe("waiting");
    await redis.config("SET", "maxmemory", 0);

    const all = [running, delayed, waiting, parent, child];
    // A run that was under way comes up again when its worker is taken for dead.
    for (const { id } of [...all, repeating]) await shop.inState(id, "completed", 100);
    const timesBegun = (message: string) => jobs.begun.filter((each) => each === message).length;
    expect(all.map(({ payload }) => timesBegun(payload.message))).toEqual(all.map(() => 1));
    expect(timesBegun(repeating.payload.message)).toBe(6);
  }, 120_000);
});
