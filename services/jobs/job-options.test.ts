import type { JobOptions } from "@pragma/contracts/job";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { lockInTransaction } from "@pragma/runtime/database/postgres";
import { eventually } from "@pragma/runtime/testing/eventually";
import { Job as BullJob } from "bullmq";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  createUniqueTestJobMessage,
  startTestJobsService,
  type TestJobsClient,
  type TestJobsService,
} from "./testing/start-test-jobs.ts";

let jobs: TestJobsService;
beforeAll(async () => {
  jobs = await startTestJobsService();
});
afterAll(() => jobs?.remove());

/** Occupies the location's queue with a running job. Returns a function that lets this job finish. */
async function occupyQueue(location: TestJobsClient): Promise<() => void> {
  const message = createUniqueTestJobMessage("held");
  const { id } = await location.createJob({ message });
  await location.waitForState(id, "active");
  return () => jobs.releasedMessages.add(message);
}

/** Creates jobs one by one while the queue is occupied. Returns their names in the sequence in which they ran. */
async function runInOrder(location: TestJobsClient, optionsByName: Record<string, JobOptions>): Promise<string[]> {
  const release = await occupyQueue(location);
  const messages: string[] = [];
  for (const [name, jobOptions] of Object.entries(optionsByName)) {
    const message = createUniqueTestJobMessage(name);
    messages.push(message);
    const { id } = await location.createJob({ message, jobOptions });
    expect((await location.getStatus(id)).state).toMatch(/waiting|prioritized/);
  }
  release();
  const findStarted = () => jobs.startedMessages.filter((message) => messages.includes(message));
  await eventually("all to start", () => findStarted().length === messages.length);
  return findStarted().map((message) => message.split(" ")[0] ?? "");
}

const countStarts = (message: string) => jobs.startedMessages.filter((each) => each === message).length;
const measureMs = async (operation: Promise<unknown>) => {
  const startedAt = Date.now();
  await operation;
  return Date.now() - startedAt;
};

describe.concurrent("delay", () => {
  it("starts a job after that time", async () => {
    const location = jobs.createTestLocation();
    const { id, timestamp } = await location.createJob({ message: "Later", jobOptions: { delay: 2_000 } });
    const done = await location.waitForState(id, "completed");
    expect(Date.parse(done.finishedAt ?? "") - timestamp).toBeGreaterThanOrEqual(2_000);
  });
});

describe.concurrent("timestamp", () => {
  it("is the start of the delay", async () => {
    const location = jobs.createTestLocation();
    const jobOptions = { delay: 60_000, timestamp: Date.now() - 58_000 };
    const { id, timestamp } = await location.createJob({ message: "Nearly due", jobOptions });
    expect(timestamp).toBe(jobOptions.timestamp);
    await location.waitForState(id, "completed");
    expect((await location.getQueuedJob(id))?.timestamp).toBe(jobOptions.timestamp);
  });
});

describe.concurrent("priority", () => {
  it("runs jobs without a priority first, then from 1 to 2097152", async () => {
    const optionsByName = { last: { priority: 2_097_152 }, second: { priority: 5 }, one: { priority: 1 }, none: {} };
    expect(await runInOrder(jobs.createTestLocation(), optionsByName)).toEqual(["none", "one", "second", "last"]);
  });
});

describe.concurrent("lifo", () => {
  it("runs a job before the waiting jobs", async () => {
    expect(await runInOrder(jobs.createTestLocation(), { a: {}, b: {}, c: { lifo: true } })).toEqual(["c", "a", "b"]);
  });

  it("runs a job with a priority before waiting jobs of equal priority", async () => {
    const optionsByName = { a: { priority: 2 }, b: { priority: 1 }, c: { priority: 2, lifo: true } };
    expect(await runInOrder(jobs.createTestLocation(), optionsByName)).toEqual(["b", "c", "a"]);
  });

  it("runs a job whose delay has ended before the waiting jobs", async () => {
    const location = jobs.createTestLocation();
    const release = await occupyQueue(location);
    const [plain, first] = [createUniqueTestJobMessage("plain"), createUniqueTestJobMessage("first")];
    await location.createJob({ message: plain });
    const { id } = await location.createJob({ message: first, jobOptions: { lifo: true, delay: 500 } });
    await location.waitForState(id, "waiting");
    release();
    await eventually("both to start", () => countStarts(plain) === 1);
    expect(jobs.startedMessages.indexOf(first)).toBeLessThan(jobs.startedMessages.indexOf(plain));
    expect(countStarts(first)).toBe(1);
  });

  it("runs a repeating job before the waiting jobs", async () => {
    const location = jobs.createTestLocation();
    const release = await occupyQueue(location);
    const [plain, run] = [createUniqueTestJobMessage("plain"), createUniqueTestJobMessage("run")];
    await location.createJob({ message: plain });
    await location.createJob({ message: run, jobOptions: { lifo: true, repeat: { every: 60_000, limit: 1 } } });
    release();
    await eventually("both to start", () => countStarts(plain) === 1);
    expect(jobs.startedMessages.indexOf(run)).toBeLessThan(jobs.startedMessages.indexOf(plain));
    expect(countStarts(run)).toBe(1);
  });
});

describe.concurrent("attempts", () => {
  it("retries a failed job", async () => {
    const location = jobs.createTestLocation();
    const message = createUniqueTestJobMessage("fail once");
    const { id } = await location.createJob({ message, jobOptions: { attempts: 3 } });
    expect(await location.waitForState(id, "completed")).toMatchObject({ attemptsMade: 1, failure: null });
    expect(countStarts(message)).toBe(2);
  });

  it("fails a job after the last attempt", async () => {
    const location = jobs.createTestLocation();
    const message = createUniqueTestJobMessage("fail");
    const { id } = await location.createJob({ message, jobOptions: { attempts: 3 } });
    expect((await location.waitForState(id, "failed")).attemptsMade).toBe(3);
    expect(countStarts(message)).toBe(3);
    await eventually(
      "BullMQ to record it",
      async () => (await (await location.getQueuedJob(id))?.getState()) === "failed",
    );
  });
});

describe.concurrent("backoff", () => {
  it.each([
    ["a number: a constant delay", 250, 500],
    ["fixed: a constant delay", { type: "fixed", delay: 250 }, 500],
    ["exponential: a doubling delay", { type: "exponential", delay: 250 }, 750],
  ] as const)("%s", async (_, backoff, minMs) => {
    const location = jobs.createTestLocation();
    const { id } = await location.createJob({
      message: createUniqueTestJobMessage("fail"),
      jobOptions: { attempts: 3, backoff },
    });
    await location.waitForState(id, "failed");
    const job = await location.getQueuedJob(id);
    const status = await location.getStatus(id);
    expect(Date.parse(status.finishedAt ?? "") - (job?.timestamp ?? 0)).toBeGreaterThanOrEqual(minMs);
  });
});

describe.concurrent("jobId", () => {
  it("is the id of the job; a second job with the same id returns the first", async () => {
    const location = jobs.createTestLocation();
    const jobOptions = { jobId: "closing-2026-05-29" };
    const release = await occupyQueue(location);
    const first = await location.createJob({ message: "Close", jobOptions });
    expect(first.id).toBe(jobOptions.jobId);
    const repeated = await location.postJob({ message: "Close again", jobOptions });
    expect(repeated.status).toBe(200);
    expect(await repeated.json()).toEqual(first);
    release();
    await location.waitForState(first.id, "completed");
    expect((await location.postJob({ message: "Close again", jobOptions })).status).toBe(200);
    expect((await location.getQueuedJob(first.id))?.data).toEqual({ locationId: location.locationId, id: first.id });
    expect(countStarts("Close again")).toBe(0);
  });
});

describe.concurrent("jobId that is an integer or a name that BullMQ uses", () => {
  it.each(["12", "wait", "meta"])("%s: the job completes", async (jobId) => {
    const location = jobs.createTestLocation();
    await location.createJob({ message: createUniqueTestJobMessage("Named"), jobOptions: { jobId } });
    expect((await location.waitForState(jobId, "completed")).id).toBe(jobId);
  });
});

describe.concurrent("jobId of a removed job", () => {
  it.each([
    ["completed", "Completed", { removeOnComplete: true }],
    ["failed", "fail", { removeOnFail: true }],
  ] as const)("can be used again: %s", async (_, name, options) => {
    const location = jobs.createTestLocation();
    const message = createUniqueTestJobMessage(name);
    const jobOptions = { jobId: "nightly", ...options };
    for (const expectedStarts of [1, 2]) {
      await location.createJob({ message, jobOptions });
      await eventually("the job to start", () => countStarts(message) === expectedStarts);
      await eventually("the job to be removed", () => location.isJobRemoved("nightly"));
    }
  });
});

describe.concurrent("deduplication", () => {
  it("without ttl ends when the first job finishes", async () => {
    const location = jobs.createTestLocation();
    const jobOptions = { deduplication: { id: "stock" } };
    const first = await location.createJob({ message: "Stock", duration: 500, jobOptions });
    const duplicate = await location.postJob({ message: "Stock", jobOptions });
    expect(duplicate.status).toBe(200);
    expect(await duplicate.json()).toEqual(first);
    await location.waitForState(first.id, "completed");
    const next = await location.createJob({ message: "Stock", jobOptions });
    expect(next.id).not.toBe(first.id);
    await location.waitForState(next.id, "completed");
  });

  it("with ttl lasts for the ttl, even after the first job has finished", async () => {
    const location = jobs.createTestLocation();
    const jobOptions = { deduplication: { id: "menu", ttl: 1_500 } };
    const first = await location.createJob({ message: "Menu", jobOptions });
    await location.waitForState(first.id, "completed");
    expect(await (await location.postJob({ message: "Menu", jobOptions })).json()).toEqual(first);
    await sleep(1_600);
    const next = await location.createJob({ message: "Menu", jobOptions });
    await location.waitForState(next.id, "completed");
  });
});

describe.concurrent("parent", () => {
  it("finishes after its children", async () => {
    const location = jobs.createTestLocation();
    const parent = await location.createJob({ message: "Parent", jobOptions: { delay: 2_000 } });
    await location.waitForState(parent.id, "delayed");
    const jobOptions = { parent: { id: parent.id, queue: parent.queueName }, delay: 4_000 };
    const child = await location.createJob({ message: "Child", jobOptions });
    await location.waitForState(parent.id, "waiting-children");
    expect((await location.getStatus(child.id)).state).toBe("delayed");
    const done = await location.waitForState(parent.id, "completed");
    expect(Date.parse((await location.getStatus(child.id)).finishedAt ?? "")).toBeLessThan(
      Date.parse(done.finishedAt ?? ""),
    );
  });

  it("waits for a child that is added while it runs, and runs once", async () => {
    const location = jobs.createTestLocation();
    const message = createUniqueTestJobMessage("Running parent");
    const parent = await location.createJob({ message, duration: 500 });
    await location.waitForState(parent.id, "active");
    const child = await location.createJob({
      message: "Child",
      jobOptions: { parent: { id: parent.id }, delay: 1_200 },
    });
    await location.waitForState(parent.id, "waiting-children");
    await location.waitForState(child.id, "completed");
    await location.waitForState(parent.id, "completed");
    expect(countStarts(message)).toBe(1);
  });
});

describe.concurrent("a failed child", () => {
  async function createFailingChild(
    parentOptions: JobOptions,
  ): Promise<{ location: TestJobsClient; parentId: string; message: string }> {
    const location = jobs.createTestLocation();
    const message = createUniqueTestJobMessage("Parent of a failing child");
    const parent = await location.createJob({ message, jobOptions: { delay: 2_000 } });
    await location.waitForState(parent.id, "delayed");
    const child = await location.createJob({
      message: createUniqueTestJobMessage("fail"),
      jobOptions: { parent: { id: parent.id }, delay: 3_000, ...parentOptions },
    });
    await location.waitForState(child.id, "failed");
    return { location, parentId: parent.id, message };
  }

  it("leaves its parent waiting by default", async () => {
    const { location, parentId } = await createFailingChild({});
    await sleep(300);
    expect((await location.getStatus(parentId)).state).toBe("waiting-children");
  });

  it("fails its parent with failParentOnFailure", async () => {
    const { location, parentId, message } = await createFailingChild({ failParentOnFailure: true });
    expect((await location.waitForState(parentId, "failed")).failure?.message).toMatch(/child .* failed/);
    expect(countStarts(message)).toBe(0);
  });

  it.each(["ignoreDependencyOnFailure", "removeDependencyOnFailure"])(
    "lets its parent complete with %s",
    async (option) => {
      const { location, parentId, message } = await createFailingChild({ [option]: true });
      await location.waitForState(parentId, "completed");
      expect(countStarts(message)).toBe(1);
    },
  );
});

describe.concurrent("removeOnComplete and removeOnFail", () => {
  it("true removes the job", async () => {
    const location = jobs.createTestLocation();
    const done = await location.createJob({ message: "Done", jobOptions: { removeOnComplete: true } });
    const failed = await location.createJob({
      message: createUniqueTestJobMessage("fail"),
      jobOptions: { removeOnFail: true },
    });
    for (const { id } of [done, failed]) await eventually("the job to be removed", () => location.isJobRemoved(id));
  });

  it("apply only to their own outcome", async () => {
    const location = jobs.createTestLocation();
    const { id } = await location.createJob({ message: "Done", jobOptions: { removeOnFail: true } });
    await location.waitForState(id, "completed");
    expect(await location.isJobRemoved(id)).toBe(false);
  });

  it.each([
    ["a number", 1],
    ["a count", { count: 1 }],
  ] as const)("%s keeps the latest jobs", async (_, removeOnComplete) => {
    const location = jobs.createTestLocation();
    const otherLocation = jobs.createTestLocation();
    const otherJob = await otherLocation.createJob({ message: "Of another location" });
    await otherLocation.waitForState(otherJob.id, "completed");
    const ids: string[] = [];
    for (const message of ["one", "two", "three"]) {
      const { id } = await location.createJob({ message, jobOptions: { removeOnComplete } });
      await eventually("the job to complete", async () => (await location.getStatus(id)).state === "completed");
      ids.push(id);
    }
    for (const id of ids.slice(0, 2)) await eventually("the job to be removed", () => location.isJobRemoved(id));
    expect(await location.isJobRemoved(ids[2] ?? "")).toBe(false);
    expect(await otherLocation.isJobRemoved(otherJob.id)).toBe(false);
  });

  it("an age removes older jobs when the next job finishes", async () => {
    const location = jobs.createTestLocation();
    const jobOptions = { removeOnFail: { age: 1 } };
    const old = await location.createJob({ message: createUniqueTestJobMessage("fail"), jobOptions });
    await location.waitForState(old.id, "failed");
    await sleep(1_200);
    expect(await location.isJobRemoved(old.id)).toBe(false);
    const recent = await location.createJob({ message: createUniqueTestJobMessage("fail"), jobOptions });
    await location.waitForState(recent.id, "failed");
    await eventually("the old job to be removed", () => location.isJobRemoved(old.id));
    expect(await location.isJobRemoved(recent.id)).toBe(false);
  });
});

describe.concurrent("keepLogs", () => {
  it("keeps the last lines of the job's log", async () => {
    const location = jobs.createTestLocation();
    const unlimited = await location.createJob({ message: "Unlimited", duration: 1_500 });
    const limited = await location.createJob({ message: "Limited", duration: 600, jobOptions: { keepLogs: 2 } });
    await location.waitForState(limited.id, "completed");
    expect((await jobs.queue.getJobLogs((await location.getQueuedJob(unlimited.id))?.id ?? "")).count).toBeGreaterThan(
      2,
    );
    const { logs } = await jobs.queue.getJobLogs((await location.getQueuedJob(limited.id))?.id ?? "");
    expect(logs).toHaveLength(2);
    // The last reported percentage is 99 if a timer fires a fraction of a millisecond early.
    expect(logs.at(-1)).toMatch(/(?:99|100) %$/);
  });
});

describe.concurrent("stackTraceLimit", () => {
  it.each([
    [undefined, 3],
    [2, 2],
    [0, 0],
  ])("%s keeps the stack traces of %i of 3 failures", async (stackTraceLimit, traceCount) => {
    const location = jobs.createTestLocation();
    const jobOptions = { attempts: 3, ...(stackTraceLimit !== undefined && { stackTraceLimit }) };
    const { id } = await location.createJob({ message: createUniqueTestJobMessage("fail"), jobOptions });
    await eventually("BullMQ to record it", async () => (await location.getQueuedJob(id))?.attemptsMade === 3);
    expect((await location.getQueuedJob(id))?.stacktrace).toHaveLength(traceCount);
  });
});

describe.concurrent("sizeLimit", () => {
  it("rejects the same payloads as BullMQ", async () => {
    const location = jobs.createTestLocation();
    const message = "é".repeat(10);
    const size = Buffer.byteLength(JSON.stringify({ message, duration: 0 }));
    await location.createJob({ message, jobOptions: { sizeLimit: size } });
    const problem = await location.postJobProblem({ message, jobOptions: { sizeLimit: size - 1 } });
    expect(problem.errors?.[0]?.path).toBe("jobOptions.sizeLimit");
    await expect(BullJob.create(jobs.queue, "any", { message, duration: 0 }, { sizeLimit: size - 1 })).rejects.toThrow(
      /exceeds the limit/,
    );
  });
});

describe.concurrent("repeat", () => {
  it("runs at an interval until its limit", async () => {
    const location = jobs.createTestLocation();
    const message = createUniqueTestJobMessage("Interval");
    const { id } = await location.createJob({ message, jobOptions: { repeat: { every: 300, limit: 3 } } });
    expect((await location.getStatus(id)).state).toBe("repeating");
    const done = await location.waitForState(id, "completed");
    expect(done).toMatchObject({ runs: 3, progress: 100, result: { message } });
    expect(countStarts(message)).toBe(3);
    expect(Date.parse(done.finishedAt ?? "") - done.timestamp).toBeGreaterThanOrEqual(550);
    await sleep(700);
    expect(countStarts(message)).toBe(3);
  });

  it("runs by a cron pattern between its start and end dates", async () => {
    const location = jobs.createTestLocation();
    const message = createUniqueTestJobMessage("Each second");
    const startDate = Date.now() + 1_500;
    const endDate = new Date(startDate + 2_500).toISOString();
    const repeat = { pattern: "* * * * * *", tz: "Europe/Paris", startDate, endDate };
    await location.createJob({ message, jobOptions: { repeat } });
    await eventually("the first run", () => countStarts(message) > 0);
    expect(Date.now()).toBeGreaterThanOrEqual(startDate);
    await sleep(Date.parse(endDate) - Date.now() + 3_000);
    expect(countStarts(message)).toBeOneOf([2, 3]);
  });

  it("runs at an interval until its end date", async () => {
    const location = jobs.createTestLocation();
    const message = createUniqueTestJobMessage("Until");
    const repeat = { every: 2_000, endDate: Date.now() + 3_500 };
    const { id } = await location.createJob({ message, jobOptions: { repeat } });
    expect(await location.waitForState(id, "completed")).toMatchObject({ runs: 2 });
    expect(countStarts(message)).toBe(2);
  });

  it("runs immediately and then by a pattern", async () => {
    const location = jobs.createTestLocation();
    const message = createUniqueTestJobMessage("Immediately");
    const repeat = { pattern: "0 0 1 1 *", immediately: true };
    const { id } = await location.createJob({ message, jobOptions: { repeat } });
    await eventually("the first run", async () => (await location.getStatus(id)).runs === 1);
    expect((await location.getStatus(id)).state).toBe("repeating");
    expect((await location.nextRunAt(id))?.toISOString()).toMatch(/-01-01T00:00:00.000Z$/);
  });

  it("retries a run as often as the job's attempts allow", async () => {
    const location = jobs.createTestLocation();
    const message = createUniqueTestJobMessage("fail once");
    const { id } = await location.createJob({
      message,
      jobOptions: { repeat: { every: 60_000, limit: 1 }, attempts: 2 },
    });
    expect(await location.waitForState(id, "completed")).toMatchObject({ runs: 1, failure: null });
    expect(countStarts(message)).toBe(2);
  });
});

describe("priority", () => {
  it("is compared with jobs that are created while the search for due jobs waits for another process", async () => {
    const location = jobs.createTestLocation();
    const [held, last, first] = ["held", "last", "first"].map(createUniqueTestJobMessage) as [string, string, string];
    const { id } = await location.createJob({ message: held });
    await location.waitForState(id, "active");
    await location.createJob({ message: last, jobOptions: { priority: 1 } });
    await jobs.db.transaction(async (tx) => {
      await lockInTransaction(tx, jobs.db, "admit jobs");
      await eventually("the search to wait", async () => {
        const [blocked] =
          await tx`select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`;
        return blocked;
      });
      await location.createJob({ message: first });
      jobs.releasedMessages.add(held);
      await location.waitForState(id, "completed");
    });
    await eventually("both to start", () => countStarts(first) + countStarts(last) === 2);
    expect(jobs.startedMessages.indexOf(first)).toBeLessThan(jobs.startedMessages.indexOf(last));
  });
});

describe("attempts", () => {
  it("without a backoff follow immediately, even if BullMQ records the failure late", async () => {
    const moveToFailed = BullJob.prototype.moveToFailed;
    const delayedMove = vi.spyOn(BullJob.prototype, "moveToFailed").mockImplementation(async function (
      this: BullJob,
      ...parameters
    ) {
      await sleep(600);
      return moveToFailed.apply(this, parameters as Parameters<typeof moveToFailed>) as never;
    });
    const location = jobs.createTestLocation();
    const { id } = await location.createJob({
      message: createUniqueTestJobMessage("fail once"),
      jobOptions: { attempts: 2 },
    });
    expect(await measureMs(location.waitForState(id, "completed"))).toBeLessThan(2_500);
    delayedMove.mockRestore();
  });
});
