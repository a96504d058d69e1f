import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { type JobQueue, openJobQueue } from "./job-queue.ts";
import { createLogger } from "./logger.ts";
import { createMetrics } from "./metrics.ts";
import { eventually } from "./testing/eventually.ts";
import { startPrivateServers } from "./testing/private-servers.ts";

const log = createLogger({ name: "test", level: "silent" });
const opened: JobQueue<string>[] = [];

function open(url: string | undefined): JobQueue<string> {
  const config = { REDIS_URL: url ?? "", NAMESPACE: `t${randomUUID().slice(0, 8)}` };
  const queue = openJobQueue<string>(config, { name: "work", log, metrics: createMetrics() });
  opened.push(queue);
  return queue;
}

const canBeAsked = (queue: JobQueue<string>) =>
  eventually("Redis", async () => {
    await queue.check();
    return true;
  });

afterEach(async () => {
  await Promise.all(opened.splice(0).map((queue) => queue.close()));
});

describe("a job", () => {
  it("is handled once, though it was added twice", async () => {
    const queue = open(process.env.REDIS_URL);
    await canBeAsked(queue);
    const handled: string[] = [];
    await queue.add("a", { jobId: "job-a" });
    await queue.add("a", { jobId: "job-a" });
    await queue.add("b", { jobId: "job-b" });
    queue.work(
      async (payload) => {
        handled.push(payload);
      },
      { concurrency: 2 },
    );
    await eventually("both jobs", () => handled.length >= 2);
    expect(handled.sort()).toEqual(["a", "b"]);
  });

  it("is refused at once while Redis was never there", async () => {
    const queue = open("redis://127.0.0.1:1");
    await expect(queue.add("a", { jobId: "job-a" })).rejects.toThrow();
    await expect(queue.addAll([{ payload: "a", options: { jobId: "job-a" } }])).rejects.toThrow();
  });

  it("is refused at once while Redis is away, and is handled when it is back", async () => {
    const servers = await startPrivateServers();
    const queue = open(servers.redis.url);
    const handled: string[] = [];
    queue.work(
      async (payload) => {
        handled.push(payload);
      },
      { concurrency: 1 },
    );
    await canBeAsked(queue);
    await servers.kill("redis");
    const started = Date.now();
    await expect(queue.add("a", { jobId: "job-a" })).rejects.toThrow();
    expect(Date.now() - started).toBeLessThan(2_000);
    await servers.start("redis");
    await eventually("the job to be added", () =>
      queue.add("a", { jobId: "job-a" }).then(
        () => true,
        () => false,
      ),
    );
    await eventually("the job", () => handled.length > 0);
    await queue.close();
    opened.length = 0;
    await servers.stop();
  });
});

describe("a queue that is worked", () => {
  it("closes though Redis is away", async () => {
    const queue = open("redis://127.0.0.1:1");
    queue.work(async () => {}, { concurrency: 1 });
    await queue.close();
    opened.length = 0;
  });

  it("closes though Redis went away", async () => {
    const servers = await startPrivateServers();
    const queue = open(servers.redis.url);
    queue.work(async () => {}, { concurrency: 1 });
    await canBeAsked(queue);
    await servers.kill("redis");
    await queue.close();
    opened.length = 0;
    await servers.stop();
  });
});
