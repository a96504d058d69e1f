import type { JobOptions } from "@pragma/contracts/job";
import { sleep } from "@pragma/runtime/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { Job as BullJob } from "bullmq";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startJobs, type TestJobs, type TestShop, unlike } from "./testing/start-jobs.ts";

let jobs: TestJobs;
beforeAll(async () => {
  jobs = await startJobs();
});
afterAll(() => jobs?.remove());

/** Keeps the one worker of a location busy until the function that is returned is called. */
async function keepBusy(shop: TestShop): Promise<() => void> {
  const message = unlike("held");
  const { id } = await shop.create({ message });
  await shop.inState(id, "active");
  return () => jobs.released.add(message);
}

/** Creates jobs one after the other while the worker is busy, and gives their messages in the order they were done. */
async function orderOf(shop: TestShop, given: Record<string, JobOptions>): Promise<string[]> {
  const release = await keepBusy(shop);
  const messages: string[] = [];
  for (const [name, jobOptions] of Object.entries(given)) {
    const message = unlike(name);
    messages.push(message);
    const { id } = await shop.create({ message, jobOptions });
    expect((await shop.status(id)).state).toMatch(/waiting|prioritized/);
  }
  release();
  const begun = () => jobs.begun.filter((message) => messages.includes(message));
  await eventually("all to be done", () => begun().length === messages.length);
  return begun().map((message) => message.split(" ")[0] ?? "");
}

const timesBegun = (message: string) => jobs.begun.filter((each) => each === message).length;
const millisecondsUntil = async (event: Promise<unknown>) => {
  const started = Date.now();
  await event;
  return Date.now() - started;
};

describe.concurrent("delay", () => {
  it("keeps a job for as long", async () => {
    const shop = jobs.openShop();
    const { id, timestamp } = await shop.create({ message: "Later", jobOptions: { delay: 2_000 } });
    await shop.inState(id, "delayed");
    const done = await shop.inState(id, "completed");
    expect(Date.parse(done.finishedAt ?? "") - timestamp).toBeGreaterThanOrEqual(2_000);
  });
});

describe.concurrent("timestamp", () => {
  it("is when a delay begins to count", async () => {
    const shop = jobs.openShop();
    const jobOptions = { delay: 60_000, timestamp: Date.now() - 58_000 };
    const { id, timestamp } = await shop.create({ message: "Nearly due", jobOptions });
    expect(timestamp).toBe(jobOptions.timestamp);
    await shop.inState(id, "delayed");
    await shop.inState(id, "completed");
    expect((await shop.queued(id))?.timestamp).toBe(jobOptions.timestamp);
  });
});

describe.concurrent("priority", () => {
  it("lets 1 go first, 2097152 last, and what has none before all of them", async () => {
    const given = { last: { priority: 2_097_152 }, second: { priority: 5 }, one: { priority: 1 }, none: {} };
    expect(await orderOf(jobs.openShop(), given)).toEqual(["none", "one", "second", "last"]);
  });
});

describe.concurrent("lifo", () => {
  it("lets a job go before those that wait", async () => {
    expect(await orderOf(jobs.openShop(), { a: {}, b: {}, c: { lifo: true } })).toEqual(["c", "a", "b"]);
  });

  it("lets a job with a priority go before those of the same one", async () => {
    const given = { a: { priority: 2 }, b: { priority: 1 }, c: { priority: 2, lifo: true } };
    expect(await orderOf(jobs.openShop(), given)).toEqual(["b", "c", "a"]);
  });

  it("lets a job whose delay is over go before those that wait", async () => {
    const shop = jobs.openShop();
    const release = await keepBusy(shop);
    const [plain, first] = [unlike("plain"), unlike("first")];
    await shop.create({ message: plain });
    const { id } = await shop.create({ message: first, jobOptions: { lifo: true, delay: 500 } });
    await shop.inState(id, "waiting");
    release();
    await eventually("both to be done", () => timesBegun(plain) === 1);
    expect(jobs.begun.indexOf(first)).toBeLessThan(jobs.begun.indexOf(plain));
    expect(timesBegun(first)).toBe(1);
  });

  it("lets the runs of a repeating job go before the jobs that wait", async () => {
    const shop = jobs.openShop();
    const release = await keepBusy(shop);
    const [plain, run] = [unlike("plain"), unlike("run")];
    await shop.create({ message: plain });
    await shop.create({ message: run, jobOptions: { lifo: true, repeat: { every: 60_000, limit: 1 } } });
    release();
    await eventually("both to be done", () => timesBegun(plain) === 1);
    expect(jobs.begun.indexOf(run)).toBeLessThan(jobs.begun.indexOf(plain));
    expect(timesBegun(run)).toBe(1);
  });
});

describe.concurrent("attempts", () => {
  it("has a job that fails tried again", async () => {
    const shop = jobs.openShop();
    const message = unlike("fail once");
    const { id } = await shop.create({ message, jobOptions: { attempts: 3 } });
    expect(await shop.inState(id, "completed")).toMatchObject({ attemptsMade: 1, failure: null });
    expect(timesBegun(message)).toBe(2);
  });

  it("ends after so many", async () => {
    const shop = jobs.openShop();
    const message = unlike("fail");
    const { id } = await shop.create({ message, jobOptions: { attempts: 3 } });
    expect((await shop.inState(id, "failed")).attemptsMade).toBe(3);
    expect(timesBegun(message)).toBe(3);
    await eventually("the queue to know", async () => (await (await shop.queued(id))?.getState()) === "failed");
  });
});

describe.concurrent("backoff", () => {
  it.each([
    ["a number: the same wait each time", 250, 500],
    ["fixed", { type: "fixed", delay: 250 }, 500],
    ["exponential: twice as long each time", { type: "exponential", delay: 250 }, 750],
  ] as const)("%s", async (_, backoff, atLeast) => {
    const shop = jobs.openShop();
    const { id } = await shop.create({ message: unlike("fail"), jobOptions: { attempts: 3, backoff } });
    await shop.inState(id, "delayed");
    expect(await millisecondsUntil(shop.inState(id, "failed"))).toBeGreaterThan(atLeast / 2);
    const job = await shop.queued(id);
    const status = await shop.status(id);
    expect(Date.parse(status.finishedAt ?? "") - (job?.timestamp ?? 0)).toBeGreaterThanOrEqual(atLeast);
  });
});

describe.concurrent("jobId", () => {
  it("names the job; while there is one of the name, it is the reply and nothing is added", async () => {
    const shop = jobs.openShop();
    const jobOptions = { jobId: "closing-2026-05-29" };
    const release = await keepBusy(shop);
    const first = await shop.create({ message: "Close", jobOptions });
    expect(first.id).toBe(jobOptions.jobId);
    const again = await shop.ask({ message: "Close again", jobOptions });
    expect(again.status).toBe(200);
    expect(await again.json()).toEqual(first);
    release();
    await shop.inState(first.id, "completed");
    expect((await shop.ask({ message: "Close again", jobOptions })).status).toBe(200);
    expect((await shop.queued(first.id))?.data).toEqual({ locationId: shop.locationId, id: first.id });
    expect(timesBegun("Close again")).toBe(0);
  });
});

describe.concurrent("jobId that is a whole number, or a name that queues use", () => {
  it.each(["12", "wait", "meta"])("%s is done as any other", async (jobId) => {
    const shop = jobs.openShop();
    await shop.create({ message: unlike("Named"), jobOptions: { jobId } });
    expect((await shop.inState(jobId, "completed")).id).toBe(jobId);
  });
});

describe.concurrent("jobId of a job that was forgotten", () => {
  it.each([
    ["completed", "Again", { removeOnComplete: true }],
    ["failed", "fail", { removeOnFail: true }],
  ] as const)("can be another's: %s", async (_, name, options) => {
    const shop = jobs.openShop();
    const message = unlike(name);
    const jobOptions = { jobId: "nightly", ...options };
    for (const times of [1, 2]) {
      await shop.create({ message, jobOptions });
      await eventually("it to be done", () => timesBegun(message) === times);
      await eventually("it to be forgotten", () => shop.isForgotten("nightly"));
    }
  });
});

describe.concurrent("deduplication", () => {
  it("without ttl lasts until the first job has finished", async () => {
    const shop = jobs.openShop();
    const jobOptions = { deduplication: { id: "stock" } };
    const first = await shop.create({ message: "Stock", duration: 500, jobOptions });
    const duplicate = await shop.ask({ message: "Stock", jobOptions });
    expect(duplicate.status).toBe(200);
    expect(await duplicate.json()).toEqual(first);
    await shop.inState(first.id, "completed");
    const next = await shop.create({ message: "Stock", jobOptions });
    expect(next.id).not.toBe(first.id);
    await shop.inState(next.id, "completed");
  });

  it("with ttl lasts that long, also when the first job has finished", async () => {
    const shop = jobs.openShop();
    const jobOptions = { deduplication: { id: "menu", ttl: 1_500 } };
    const first = await shop.create({ message: "Menu", jobOptions });
    await shop.inState(first.id, "completed");
    expect(await (await shop.ask({ message: "Menu", jobOptions })).json()).toEqual(first);
    await sleep(1_600);
    const next = await shop.create({ message: "Menu", jobOptions });
    await shop.inState(next.id, "completed");
  });
});

describe.concurrent("parent", () => {
  it("is not done before its children", async () => {
    const shop = jobs.openShop();
    const parent = await shop.create({ message: "Parent", jobOptions: { delay: 600 } });
    await shop.inState(parent.id, "delayed");
    const jobOptions = { parent: { id: parent.id, queue: parent.queueName }, delay: 1_500 };
    const child = await shop.create({ message: "Child", jobOptions });
    await shop.inState(parent.id, "waiting-children");
    expect((await shop.status(child.id)).state).toBe("delayed");
    const done = await shop.inState(parent.id, "completed");
    expect(Date.parse((await shop.status(child.id)).finishedAt ?? "")).toBeLessThan(Date.parse(done.finishedAt ?? ""));
  });

  it("that is under way waits for a child that it is given meanwhile, and is not done twice", async () => {
    const shop = jobs.openShop();
    const message = unlike("Parent under way");
    const parent = await shop.create({ message, duration: 500 });
    await shop.inState(parent.id, "active");
    const child = await shop.create({ message: "Child", jobOptions: { parent: { id: parent.id }, delay: 1_200 } });
    await shop.inState(parent.id, "waiting-children");
    await shop.inState(child.id, "completed");
    await shop.inState(parent.id, "completed");
    expect(timesBegun(message)).toBe(1);
  });
});

describe.concurrent("a child that fails", () => {
  async function failChild(fate: JobOptions): Promise<{ shop: TestShop; parentId: string; message: string }> {
    const shop = jobs.openShop();
    const message = unlike("Parent of one that fails");
    const parent = await shop.create({ message, jobOptions: { delay: 500 } });
    await shop.inState(parent.id, "delayed");
    const child = await shop.create({
      message: unlike("fail"),
      jobOptions: { parent: { id: parent.id }, delay: 900, ...fate },
    });
    await shop.inState(child.id, "failed");
    return { shop, parentId: parent.id, message };
  }

  it("leaves its parent waiting when nothing is said", async () => {
    const { shop, parentId } = await failChild({});
    await sleep(300);
    expect((await shop.status(parentId)).state).toBe("waiting-children");
  });

  it("fails its parent: failParentOnFailure", async () => {
    const { shop, parentId, message } = await failChild({ failParentOnFailure: true });
    expect((await shop.inState(parentId, "failed")).failure?.message).toMatch(/child .* failed/);
    expect(timesBegun(message)).toBe(0);
  });

  it.each(["ignoreDependencyOnFailure", "removeDependencyOnFailure"])("lets its parent go on: %s", async (fate) => {
    const { shop, parentId, message } = await failChild({ [fate]: true });
    await shop.inState(parentId, "completed");
    expect(timesBegun(message)).toBe(1);
  });
});

describe.concurrent("removeOnComplete and removeOnFail", () => {
  it("true forgets the job", async () => {
    const shop = jobs.openShop();
    const done = await shop.create({ message: "Done", jobOptions: { removeOnComplete: true } });
    const failed = await shop.create({ message: unlike("fail"), jobOptions: { removeOnFail: true } });
    for (const { id } of [done, failed]) await eventually("it to be forgotten", () => shop.isForgotten(id));
  });

  it("concern only jobs that end in that way", async () => {
    const shop = jobs.openShop();
    const { id } = await shop.create({ message: "Done", jobOptions: { removeOnFail: true } });
    await shop.inState(id, "completed");
    expect(await shop.isForgotten(id)).toBe(false);
  });

  it.each([
    ["a number", 1],
    ["a count", { count: 1 }],
  ] as const)("%s keeps the last ones", async (_, removeOnComplete) => {
    const shop = jobs.openShop();
    const other = jobs.openShop();
    const elsewhere = await other.create({ message: "Of another location" });
    await other.inState(elsewhere.id, "completed");
    const ids: string[] = [];
    for (const message of ["one", "two", "three"]) {
      const { id } = await shop.create({ message, jobOptions: { removeOnComplete } });
      await eventually("it to finish", async () => (await shop.status(id)).state === "completed");
      ids.push(id);
    }
    for (const id of ids.slice(0, 2)) await eventually("it to be forgotten", () => shop.isForgotten(id));
    expect(await shop.isForgotten(ids[2] ?? "")).toBe(false);
    expect(await other.isForgotten(elsewhere.id)).toBe(false);
  });

  it("an age forgets those that are older when the next one finishes", async () => {
    const shop = jobs.openShop();
    const jobOptions = { removeOnFail: { age: 1 } };
    const old = await shop.create({ message: unlike("fail"), jobOptions });
    await shop.inState(old.id, "failed");
    await sleep(1_200);
    expect(await shop.isForgotten(old.id)).toBe(false);
    const young = await shop.create({ message: unlike("fail"), jobOptions });
    await shop.inState(young.id, "failed");
    await eventually("the old one to be forgotten", () => shop.isForgotten(old.id));
    expect(await shop.isForgotten(young.id)).toBe(false);
  });
});

describe.concurrent("keepLogs", () => {
  it("keeps the last lines of a job's log", async () => {
    const shop = jobs.openShop();
    const all = await shop.create({ message: "All", duration: 1_500 });
    const few = await shop.create({ message: "Few", duration: 600, jobOptions: { keepLogs: 2 } });
    await shop.inState(few.id, "completed");
    expect((await jobs.queue.getJobLogs((await shop.queued(all.id))?.id ?? "")).count).toBeGreaterThan(2);
    const { logs } = await jobs.queue.getJobLogs((await shop.queued(few.id))?.id ?? "");
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
    const shop = jobs.openShop();
    const jobOptions = { attempts: 3, ...(stackTraceLimit !== undefined && { stackTraceLimit }) };
    const { id } = await shop.create({ message: unlike("fail"), jobOptions });
    await eventually("the queue to know", async () => (await shop.queued(id))?.attemptsMade === 3);
    expect((await shop.queued(id))?.stacktrace).toHaveLength(kept);
  });
});

describe.concurrent("sizeLimit", () => {
  it("refuses exactly what the queue itself would refuse", async () => {
    const shop = jobs.openShop();
    const message = "é".repeat(10);
    const size = Buffer.byteLength(JSON.stringify({ message, duration: 0 }));
    await shop.create({ message, jobOptions: { sizeLimit: size } });
    const problem = await shop.refusal({ message, jobOptions: { sizeLimit: size - 1 } });
    expect(problem.errors?.[0]?.path).toBe("jobOptions.sizeLimit");
    await expect(BullJob.create(jobs.queue, "any", { message, duration: 0 }, { sizeLimit: size - 1 })).rejects.toThrow(
      /exceeds the limit/,
    );
  });
});

describe.concurrent("repeat", () => {
  it("every so often, up to its limit", async () => {
    const shop = jobs.openShop();
    const message = unlike("Every");
    const { id } = await shop.create({ message, jobOptions: { repeat: { every: 300, limit: 3 } } });
    expect((await shop.status(id)).state).toBe("repeating");
    const done = await shop.inState(id, "completed");
    expect(done).toMatchObject({ runs: 3, progress: 100, result: { message } });
    expect(timesBegun(message)).toBe(3);
    expect(Date.parse(done.finishedAt ?? "") - done.timestamp).toBeGreaterThanOrEqual(550);
    await sleep(700);
    expect(timesBegun(message)).toBe(3);
  });

  it("by a cron pattern, no run before its start and none after its end", async () => {
    const shop = jobs.openShop();
    const message = unlike("Each second");
    const startDate = Date.now() + 1_500;
    const endDate = new Date(startDate + 2_500).toISOString();
    const repeat = { pattern: "* * * * * *", tz: "Europe/Paris", startDate, endDate };
    await shop.create({ message, jobOptions: { repeat } });
    await eventually("the first run", () => timesBegun(message) > 0);
    expect(Date.now()).toBeGreaterThanOrEqual(startDate);
    await sleep(Date.parse(endDate) - Date.now() + 3_000);
    expect(timesBegun(message)).toBeOneOf([2, 3]);
  });

  it("every so often, until its end", async () => {
    const shop = jobs.openShop();
    const message = unlike("Until");
    const repeat = { every: 2_000, endDate: Date.now() + 3_500 };
    const { id } = await shop.create({ message, jobOptions: { repeat } });
    expect(await shop.inState(id, "completed")).toMatchObject({ runs: 2 });
    expect(timesBegun(message)).toBe(2);
  });

  it("by a pattern, the first run at once", async () => {
    const shop = jobs.openShop();
    const message = unlike("At once");
    const repeat = { pattern: "0 0 1 1 *", immediately: true };
    const { id } = await shop.create({ message, jobOptions: { repeat } });
    await eventually("the first run", async () => (await shop.status(id)).runs === 1);
    expect((await shop.status(id)).state).toBe("repeating");
    expect((await shop.nextRun(id))?.toISOString()).toMatch(/-01-01T00:00:00.000Z$/);
  });

  it("tries a run as often as the job says", async () => {
    const shop = jobs.openShop();
    const message = unlike("fail once");
    const { id } = await shop.create({ message, jobOptions: { repeat: { every: 60_000, limit: 1 }, attempts: 2 } });
    expect(await shop.inState(id, "completed")).toMatchObject({ runs: 1, failure: null });
    expect(timesBegun(message)).toBe(2);
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
    const shop = jobs.openShop();
    const { id } = await shop.create({ message: unlike("fail once"), jobOptions: { attempts: 2 } });
    expect(await millisecondsUntil(shop.inState(id, "completed"))).toBeLessThan(2_500);
    late.mockRestore();
  });
});
