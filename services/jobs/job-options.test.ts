import type { JobOptions } from "@pragma/contracts/job";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { Job as BullJob } from "bullmq";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startTestJobs, type TestJobs, type TestJobsLocation, uniqueMessage } from "./testing/start-test-jobs.ts";

let jobs: TestJobs;
beforeAll(async () => {
  jobs = await startTestJobs();
});
afterAll(() => jobs?.remove());

/** Keeps the one worker of a location busy until the function that is returned is called. */
async function occupyQueue(shop: TestJobsLocation): Promise<() => void> {
  const message = uniqueMessage("held");
  const { id } = await shop.createJob({ message });
  await shop.waitForState(id, "active");
  return () => jobs.releasedMessages.add(message);
}

/** Creates jobs one after the other while the worker is busy, and gives their messages in the order they were done. */
async function runInOrder(shop: TestJobsLocation, given: Record<string, JobOptions>): Promise<string[]> {
  const release = await occupyQueue(shop);
  const messages: string[] = [];
  for (const [name, jobOptions] of Object.entries(given)) {
    const message = uniqueMessage(name);
    messages.push(message);
    const { id } = await shop.createJob({ message, jobOptions });
    expect((await shop.getStatus(id)).state).toMatch(/waiting|prioritized/);
  }
  release();
  const begun = () => jobs.startedMessages.filter((message) => messages.includes(message));
  await eventually("all to be done", () => begun().length === messages.length);
  return begun().map((message) => message.split(" ")[0] ?? "");
}

const countStarts = (message: string) => jobs.startedMessages.filter((each) => each === message).length;
const measureMs = async (event: Promise<unknown>) => {
  const started = Date.now();
  await event;
  return Date.now() - started;
};

describe.concurrent("delay", () => {
  it("keeps a job for as long", async () => {
    const shop = jobs.createTestLocation();
    const { id, timestamp } = await shop.createJob({ message: "Later", jobOptions: { delay: 2_000 } });
    await shop.waitForState(id, "delayed");
    const done = await shop.waitForState(id, "completed");
    expect(Date.parse(done.finishedAt ?? "") - timestamp).toBeGreaterThanOrEqual(2_000);
  });
});

describe.concurrent("timestamp", () => {
  it("is when a delay begins to count", async () => {
    const shop = jobs.createTestLocation();
    const jobOptions = { delay: 60_000, timestamp: Date.now() - 58_000 };
    const { id, timestamp } = await shop.createJob({ message: "Nearly due", jobOptions });
    expect(timestamp).toBe(jobOptions.timestamp);
    await shop.waitForState(id, "delayed");
    await shop.waitForState(id, "completed");
    expect((await shop.getQueuedJob(id))?.timestamp).toBe(jobOptions.timestamp);
  });
});

describe.concurrent("priority", () => {
  it("lets 1 go first, 2097152 last, and what has none before all of them", async () => {
    const given = { last: { priority: 2_097_152 }, second: { priority: 5 }, one: { priority: 1 }, none: {} };
    expect(await runInOrder(jobs.createTestLocation(), given)).toEqual(["none", "one", "second", "last"]);
  });
});

describe.concurrent("lifo", () => {
  it("lets a job go before those that wait", async () => {
    expect(await runInOrder(jobs.createTestLocation(), { a: {}, b: {}, c: { lifo: true } })).toEqual(["c", "a", "b"]);
  });

  it("lets a job with a priority go before those of the same one", async () => {
    const given = { a: { priority: 2 }, b: { priority: 1 }, c: { priority: 2, lifo: true } };
    expect(await runInOrder(jobs.createTestLocation(), given)).toEqual(["b", "c", "a"]);
  });

  it("lets a job whose delay is over go before those that wait", async () => {
    const shop = jobs.createTestLocation();
    const release = await occupyQueue(shop);
    const [plain, first] = [uniqueMessage("plain"), uniqueMessage("first")];
    await shop.createJob({ message: plain });
    const { id } = await shop.createJob({ message: first, jobOptions: { lifo: true, delay: 500 } });
    await shop.waitForState(id, "waiting");
    release();
    await eventually("both to be done", () => countStarts(plain) === 1);
    expect(jobs.startedMessages.indexOf(first)).toBeLessThan(jobs.startedMessages.indexOf(plain));
    expect(countStarts(first)).toBe(1);
  });

  it("lets the runs of a repeating job go before the jobs that wait", async () => {
    const shop = jobs.createTestLocation();
    const release = await occupyQueue(shop);
    const [plain, run] = [uniqueMessage("plain"), uniqueMessage("run")];
    await shop.createJob({ message: plain });
    await shop.createJob({ message: run, jobOptions: { lifo: true, repeat: { every: 60_000, limit: 1 } } });
    release();
    await eventually("both to be done", () => countStarts(plain) === 1);
    expect(jobs.startedMessages.indexOf(run)).toBeLessThan(jobs.startedMessages.indexOf(plain));
    expect(countStarts(run)).toBe(1);
  });
});

describe.concurrent("attempts", () => {
  it("has a job that fails tried again", async () => {
    const shop = jobs.createTestLocation();
    const message = uniqueMessage("fail once");
    const { id } = await shop.createJob({ message, jobOptions: { attempts: 3 } });
    expect(await shop.waitForState(id, "completed")).toMatchObject({ attemptsMade: 1, failure: null });
    expect(countStarts(message)).toBe(2);
  });

  it("ends after so many", async () => {
    const shop = jobs.createTestLocation();
    const message = uniqueMessage("fail");
    const { id } = await shop.createJob({ message, jobOptions: { attempts: 3 } });
    expect((await shop.waitForState(id, "failed")).attemptsMade).toBe(3);
    expect(countStarts(message)).toBe(3);
    await eventually("the queue to know", async () => (await (await shop.getQueuedJob(id))?.getState()) === "failed");
  });
});

describe.concurrent("backoff", () => {
  it.each([
    ["a number: the same wait each time", 250, 500],
    ["fixed", { type: "fixed", delay: 250 }, 500],
    ["exponential: twice as long each time", { type: "exponential", delay: 250 }, 750],
  ] as const)("%s", async (_, backoff, atLeast) => {
    const shop = jobs.createTestLocation();
    const { id } = await shop.createJob({ message: uniqueMessage("fail"), jobOptions: { attempts: 3, backoff } });
    await shop.waitForState(id, "delayed");
    expect(await measureMs(shop.waitForState(id, "failed"))).toBeGreaterThan(atLeast / 2);
    const job = await shop.getQueuedJob(id);
    const status = await shop.getStatus(id);
    expect(Date.parse(status.finishedAt ?? "") - (job?.timestamp ?? 0)).toBeGreaterThanOrEqual(atLeast);
  });
});

describe.concurrent("jobId", () => {
  it("names the job; while there is one of the name, it is the reply and nothing is added", async () => {
    const shop = jobs.createTestLocation();
    const jobOptions = { jobId: "closing-2026-05-29" };
    const release = await occupyQueue(shop);
    const first = await shop.createJob({ message: "Close", jobOptions });
    expect(first.id).toBe(jobOptions.jobId);
    const again = await shop.postJob({ message: "Close again", jobOptions });
    expect(again.status).toBe(200);
    expect(await again.json()).toEqual(first);
    release();
    await shop.waitForState(first.id, "completed");
    expect((await shop.postJob({ message: "Close again", jobOptions })).status).toBe(200);
    expect((await shop.getQueuedJob(first.id))?.data).toEqual({ locationId: shop.locationId, id: first.id });
    expect(countStarts("Close again")).toBe(0);
  });
});

describe.concurrent("jobId that is a whole number, or a name that queues use", () => {
  it.each(["12", "wait", "meta"])("%s is done as any other", async (jobId) => {
    const shop = jobs.createTestLocation();
    await shop.createJob({ message: uniqueMessage("Named"), jobOptions: { jobId } });
    expect((await shop.waitForState(jobId, "completed")).id).toBe(jobId);
  });
});

describe.concurrent("jobId of a job that was forgotten", () => {
  it.each([
    ["completed", "Again", { removeOnComplete: true }],
    ["failed", "fail", { removeOnFail: true }],
  ] as const)("can be another's: %s", async (_, name, options) => {
    const shop = jobs.createTestLocation();
    const message = uniqueMessage(name);
    const jobOptions = { jobId: "nightly", ...options };
    for (const times of [1, 2]) {
      await shop.createJob({ message, jobOptions });
      await eventually("it to be done", () => countStarts(message) === times);
      await eventually("it to be forgotten", () => shop.isJobRemoved("nightly"));
    }
  });
});

describe.concurrent("deduplication", () => {
  it("without ttl lasts until the first job has finished", async () => {
    const shop = jobs.createTestLocation();
    const jobOptions = { deduplication: { id: "stock" } };
    const first = await shop.createJob({ message: "Stock", duration: 500, jobOptions });
    const duplicate = await shop.postJob({ message: "Stock", jobOptions });
    expect(duplicate.status).toBe(200);
    expect(await duplicate.json()).toEqual(first);
    await shop.waitForState(first.id, "completed");
    const next = await shop.createJob({ message: "Stock", jobOptions });
    expect(next.id).not.toBe(first.id);
    await shop.waitForState(next.id, "completed");
  });

  it("with ttl lasts that long, also when the first job has finished", async () => {
    const shop = jobs.createTestLocation();
    const jobOptions = { deduplication: { id: "menu", ttl: 1_500 } };
    const first = await shop.createJob({ message: "Menu", jobOptions });
    await shop.waitForState(first.id, "completed");
    expect(await (await shop.postJob({ message: "Menu", jobOptions })).json()).toEqual(first);
    await sleep(1_600);
    const next = await shop.createJob({ message: "Menu", jobOptions });
    await shop.waitForState(next.id, "completed");
  });
});

describe.concurrent("parent", () => {
  it("is not done before its children", async () => {
    const shop = jobs.createTestLocation();
    const parent = await shop.createJob({ message: "Parent", jobOptions: { delay: 600 } });
    await shop.waitForState(parent.id, "delayed");
    const jobOptions = { parent: { id: parent.id, queue: parent.queueName }, delay: 1_500 };
    const child = await shop.createJob({ message: "Child", jobOptions });
    await shop.waitForState(parent.id, "waiting-children");
    expect((await shop.getStatus(child.id)).state).toBe("delayed");
    const done = await shop.waitForState(parent.id, "completed");
    expect(Date.parse((await shop.getStatus(child.id)).finishedAt ?? "")).toBeLessThan(
      Date.parse(done.finishedAt ?? ""),
    );
  });

  it("that is under way waits for a child that it is given meanwhile, and is not done twice", async () => {
    const shop = jobs.createTestLocation();
    const message = uniqueMessage("Parent under way");
    const parent = await shop.createJob({ message, duration: 500 });
    await shop.waitForState(parent.id, "active");
    const child = await shop.createJob({ message: "Child", jobOptions: { parent: { id: parent.id }, delay: 1_200 } });
    await shop.waitForState(parent.id, "waiting-children");
    await shop.waitForState(child.id, "completed");
    await shop.waitForState(parent.id, "completed");
    expect(countStarts(message)).toBe(1);
  });
});

describe.concurrent("a child that fails", () => {
  async function createFailingChild(
    fate: JobOptions,
  ): Promise<{ shop: TestJobsLocation; parentId: string; message: string }> {
    const shop = jobs.createTestLocation();
    const message = uniqueMessage("Parent of one that fails");
    const parent = await shop.createJob({ message, jobOptions: { delay: 500 } });
    await shop.waitForState(parent.id, "delayed");
    const child = await shop.createJob({
      message: uniqueMessage("fail"),
      jobOptions: { parent: { id: parent.id }, delay: 900, ...fate },
    });
    await shop.waitForState(child.id, "failed");
    return { shop, parentId: parent.id, message };
  }

  it("leaves its parent waiting when nothing is said", async () => {
    const { shop, parentId } = await createFailingChild({});
    await sleep(300);
    expect((await shop.getStatus(parentId)).state).toBe("waiting-children");
  });

  it("fails its parent: failParentOnFailure", async () => {
    const { shop, parentId, message } = await createFailingChild({ failParentOnFailure: true });
    expect((await shop.waitForState(parentId, "failed")).failure?.message).toMatch(/child .* failed/);
    expect(countStarts(message)).toBe(0);
  });

  it.each(["ignoreDependencyOnFailure", "removeDependencyOnFailure"])("lets its parent go on: %s", async (fate) => {
    const { shop, parentId, message } = await createFailingChild({ [fate]: true });
    await shop.waitForState(parentId, "completed");
    expect(countStarts(message)).toBe(1);
  });
});

describe.concurrent("removeOnComplete and removeOnFail", () => {
  it("true forgets the job", async () => {
    const shop = jobs.createTestLocation();
    const done = await shop.createJob({ message: "Done", jobOptions: { removeOnComplete: true } });
    const failed = await shop.createJob({ message: uniqueMessage("fail"), jobOptions: { removeOnFail: true } });
    for (const { id } of [done, failed]) await eventually("it to be forgotten", () => shop.isJobRemoved(id));
  });

  it("concern only jobs that end in that way", async () => {
    const shop = jobs.createTestLocation();
    const { id } = await shop.createJob({ message: "Done", jobOptions: { removeOnFail: true } });
    await shop.waitForState(id, "completed");
    expect(await shop.isJobRemoved(id)).toBe(false);
  });

  it.each([
    ["a number", 1],
    ["a count", { count: 1 }],
  ] as const)("%s keeps the last ones", async (_, removeOnComplete) => {
    const shop = jobs.createTestLocation();
    const other = jobs.createTestLocation();
    const elsewhere = await other.createJob({ message: "Of another location" });
    await other.waitForState(elsewhere.id, "completed");
    const ids: string[] = [];
    for (const message of ["one", "two", "three"]) {
      const { id } = await shop.createJob({ message, jobOptions: { removeOnComplete } });
      await eventually("it to finish", async () => (await shop.getStatus(id)).state === "completed");
      ids.push(id);
    }
    for (const id of ids.slice(0, 2)) await eventually("it to be forgotten", () => shop.isJobRemoved(id));
    expect(await shop.isJobRemoved(ids[2] ?? "")).toBe(false);
    expect(await other.isJobRemoved(elsewhere.id)).toBe(false);
  });

  it("an age forgets those that are older when the next one finishes", async () => {
    const shop = jobs.createTestLocation();
    const jobOptions = { removeOnFail: { age: 1 } };
    const old = await shop.createJob({ message: uniqueMessage("fail"), jobOptions });
    await shop.waitForState(old.id, "failed");
    await sleep(1_200);
    expect(await shop.isJobRemoved(old.id)).toBe(false);
    const young = await shop.createJob({ message: uniqueMessage("fail"), jobOptions });
    await shop.waitForState(young.id, "failed");
    await eventually("the old one to be forgotten", () => shop.isJobRemoved(old.id));
    expect(await shop.isJobRemoved(young.id)).toBe(false);
  });
});

describe.concurrent("keepLogs", () => {
  it("keeps the last lines of a job's log", async () => {
    const shop = jobs.createTestLocation();
    const all = await shop.createJob({ message: "All", duration: 1_500 });
    const few = await shop.createJob({ message: "Few", duration: 600, jobOptions: { keepLogs: 2 } });
    await shop.waitForState(few.id, "completed");
    expect((await jobs.queue.getJobLogs((await shop.getQueuedJob(all.id))?.id ?? "")).count).toBeGreaterThan(2);
    const { logs } = await jobs.queue.getJobLogs((await shop.getQueuedJob(few.id))?.id ?? "");
    expect(logs).toHaveLength(2);
    // A timer may fire a fraction of a millisecond early, and then 99 is the last report.
    expect(logs.at(-1)).toMatch(/(?:99|100) %$/);
  });
});

describe.concurrent("stackTraceLimit", () => {
  it.each([
    [undefined, 3],
    [2, 2],
    [0, 0],
  ])("%s keeps the traces of %i failures out of three", async (stackTraceLimit, kept) => {
    const shop = jobs.createTestLocation();
    const jobOptions = { attempts: 3, ...(stackTraceLimit !== undefined && { stackTraceLimit }) };
    const { id } = await shop.createJob({ message: uniqueMessage("fail"), jobOptions });
    await eventually("the queue to know", async () => (await shop.getQueuedJob(id))?.attemptsMade === 3);
    expect((await shop.getQueuedJob(id))?.stacktrace).toHaveLength(kept);
  });
});

describe.concurrent("sizeLimit", () => {
  it("refuses exactly what the queue itself would refuse", async () => {
    const shop = jobs.createTestLocation();
    const message = "é".repeat(10);
    const size = Buffer.byteLength(JSON.stringify({ message, duration: 0 }));
    await shop.createJob({ message, jobOptions: { sizeLimit: size } });
    const problem = await shop.postJobProblem({ message, jobOptions: { sizeLimit: size - 1 } });
    expect(problem.errors?.[0]?.path).toBe("jobOptions.sizeLimit");
    await expect(BullJob.create(jobs.queue, "any", { message, duration: 0 }, { sizeLimit: size - 1 })).rejects.toThrow(
      /exceeds the limit/,
    );
  });
});

describe.concurrent("repeat", () => {
  it("every so often, up to its limit", async () => {
    const shop = jobs.createTestLocation();
    const message = uniqueMessage("Every");
    const { id } = await shop.createJob({ message, jobOptions: { repeat: { every: 300, limit: 3 } } });
    expect((await shop.getStatus(id)).state).toBe("repeating");
    const done = await shop.waitForState(id, "completed");
    expect(done).toMatchObject({ runs: 3, progress: 100, result: { message } });
    expect(countStarts(message)).toBe(3);
    expect(Date.parse(done.finishedAt ?? "") - done.timestamp).toBeGreaterThanOrEqual(550);
    await sleep(700);
    expect(countStarts(message)).toBe(3);
  });

  it("by a cron pattern, no run before its start and none after its end", async () => {
    const shop = jobs.createTestLocation();
    const message = uniqueMessage("Each second");
    const startDate = Date.now() + 1_500;
    const endDate = new Date(startDate + 2_500).toISOString();
    const repeat = { pattern: "* * * * * *", tz: "Europe/Paris", startDate, endDate };
    await shop.createJob({ message, jobOptions: { repeat } });
    await eventually("the first run", () => countStarts(message) > 0);
    expect(Date.now()).toBeGreaterThanOrEqual(startDate);
    await sleep(Date.parse(endDate) - Date.now() + 3_000);
    expect(countStarts(message)).toBeOneOf([2, 3]);
  });

  it("every so often, until its end", async () => {
    const shop = jobs.createTestLocation();
    const message = uniqueMessage("Until");
    const repeat = { every: 2_000, endDate: Date.now() + 3_500 };
    const { id } = await shop.createJob({ message, jobOptions: { repeat } });
    expect(await shop.waitForState(id, "completed")).toMatchObject({ runs: 2 });
    expect(countStarts(message)).toBe(2);
  });

  it("by a pattern, the first run at once", async () => {
    const shop = jobs.createTestLocation();
    const message = uniqueMessage("At once");
    const repeat = { pattern: "0 0 1 1 *", immediately: true };
    const { id } = await shop.createJob({ message, jobOptions: { repeat } });
    await eventually("the first run", async () => (await shop.getStatus(id)).runs === 1);
    expect((await shop.getStatus(id)).state).toBe("repeating");
    expect((await shop.nextRunAt(id))?.toISOString()).toMatch(/-01-01T00:00:00.000Z$/);
  });

  it("tries a run as often as the job says", async () => {
    const shop = jobs.createTestLocation();
    const message = uniqueMessage("fail once");
    const { id } = await shop.createJob({ message, jobOptions: { repeat: { every: 60_000, limit: 1 }, attempts: 2 } });
    expect(await shop.waitForState(id, "completed")).toMatchObject({ runs: 1, failure: null });
    expect(countStarts(message)).toBe(2);
  });
});

describe("attempts", () => {
  it("without a backoff, follow each other at once, also when the queue notes late that one has failed", async () => {
    const noteFailure = BullJob.prototype.moveToFailed;
    const late = vi.spyOn(BullJob.prototype, "moveToFailed").mockImplementation(async function (
      this: BullJob,
      ...given
    ) {
      await sleep(600);
      return noteFailure.apply(this, given as Parameters<typeof noteFailure>) as never;
    });
    const shop = jobs.createTestLocation();
    const { id } = await shop.createJob({ message: uniqueMessage("fail once"), jobOptions: { attempts: 2 } });
    expect(await measureMs(shop.waitForState(id, "completed"))).toBeLessThan(2_500);
    late.mockRestore();
  });
});
