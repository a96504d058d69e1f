import { describe, expect, it } from "vitest";
import { Admission } from "./admission.ts";

/** Adds tasks to a queue. Each task is named after its sender and number, and runs until the test ends it. */
function createControlledQueue(limits: { perProcess: number; perSender: number }) {
  const queue = new Admission(limits);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const counts = new Map<string, number>();
  return {
    queue,
    started,
    add(...senders: string[]) {
      for (const sender of senders) {
        const number = (counts.get(sender) ?? 0) + 1;
        counts.set(sender, number);
        const name = `${sender}${number}`;
        void queue.run(() => {
          started.push(name);
          return new Promise<void>((resolve) => ends.set(name, resolve));
        }, sender);
      }
    },
    /** Ends the active tasks one after the other, in the sequence in which they started, until none is left. */
    async endAll() {
      await new Promise(setImmediate);
      for (const name of started) {
        ends.get(name)?.();
        await new Promise(setImmediate);
      }
    },
  };
}

describe("senders", () => {
  it("take turns, so that a sender with one task does not wait for all tasks of the others", async () => {
    const { started, add, endAll } = createControlledQueue({ perProcess: 1, perSender: 1 });
    add("a", "a", "a", "a", "b", "b", "b", "c");
    await endAll();
    expect(started).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", "b3", "a4"]);
  });

  it("take turns when each can have several active tasks", async () => {
    const { started, add, endAll } = createControlledQueue({ perProcess: 4, perSender: 3 });
    add("a", "a", "a", "a", "a", "a", "b", "c", "b");
    await endAll();
    // One of four tasks can be of another key, although sender `a` has added six tasks first.
    expect(started.slice(0, 4)).toEqual(["a1", "a2", "a3", "b1"]);
    expect(started).toHaveLength(9);
    expect(started.indexOf("c1")).toBeLessThan(started.indexOf("a5"));
  });

  it("with a failed task release its capacity", async () => {
    const queue = new Admission({ perProcess: 1, perSender: 1 });
    await expect(queue.run(() => Promise.reject(new Error("failed")), "a")).rejects.toThrow("failed");
    expect(await queue.run(async () => "next", "a")).toBe("next");
  });
});

it("counts tasks that wait for capacity, and tasks that wait for their own sender", async () => {
  const { queue, add, endAll } = createControlledQueue({ perProcess: 2, perSender: 1 });
  add("a", "a", "a", "b", "b", "c", "d");
  expect(queue.countWaiting()).toEqual({ ready: 2, behindOwnSender: 3 });
  await endAll();
  expect(queue.countWaiting()).toEqual({ ready: 0, behindOwnSender: 0 });
});

describe("a permit", () => {
  it("that is released before it is granted leaves the queue, and later ones are granted in turn", async () => {
    const queue = new Admission({ perProcess: 1, perSender: 1 });
    const [first, canceled, next, other] = ["a", "a", "a", "b"].map((sender) => queue.request(sender));
    expect([first?.isGranted, next?.isGranted, queue.getWaitingCount("a"), queue.getWaitingCount()]).toEqual([
      ...[true, false],
      ...[2, 3],
    ]);
    canceled?.release();
    canceled?.release();
    expect([queue.getWaitingCount("a"), queue.getWaitingCount()]).toEqual([1, 2]);
    first?.release();
    first?.release();
    await other?.granted;
    expect(next?.isGranted).toBe(false);
    other?.release();
    await next?.granted;
    next?.release();
    expect([canceled?.isGranted, queue.getWaitingCount()]).toEqual([false, 0]);
  });
});

it("starts the next task of a sender after the pause of the last one, and tasks of other senders at once", async () => {
  const queue = new Admission({ perProcess: 1, perSender: 1 });
  const [first, next, other] = ["a", "a", "b"].map((sender) => queue.request(sender));
  await first?.granted;
  first?.release(100);
  const releasedAtMs = performance.now();
  await other?.granted;
  other?.release();
  expect(next?.isGranted).toBe(false);
  await next?.granted;
  expect(performance.now() - releasedAtMs).toBeGreaterThanOrEqual(99);
});

const limit = {
  ...{ perSender: 2, perProcess: 3, maxWaitingPerSender: 2, maxWaiting: 3, maxWaitMs: 100 },
  senderError: {
    detail: ({ perSender, maxWaitingPerSender }: { perSender: number; maxWaitingPerSender: number }) =>
      `${perSender} run, and ${maxWaitingPerSender} wait.`,
    limit: { name: "tasks", unit: "requests" },
  },
  overloadedDetail: "Too many tasks.",
};
const senderError = {
  ...{ code: "rate_limited", message: "2 run, and 2 wait.", headers: { "retry-after": "2" } },
  limit: { name: "tasks", maximum: 2, unit: "requests" },
};
const forever = () => new Promise<never>(() => {});

it("rejects further requests of a sender of which too many wait, and of all senders if too many wait", () => {
  const queue = new Admission(limit);
  const permits = ["a", "a", "a", "a"].map((sender) => queue.request(sender));
  expect(() => queue.request("a")).toThrowError(expect.objectContaining(senderError));
  permits.push(...["b", "b"].map((sender) => queue.request(sender)));
  expect(() => queue.request("c")).toThrowError(
    expect.objectContaining({ code: "overloaded", message: "Too many tasks." }),
  );
  expect(permits.map(({ isGranted }) => isGranted)).toEqual([true, true, false, false, true, false]);
  expect(queue.rejectedCount).toBe(2);
});

it("rejects requests that wait too long, and states whether they waited for their own sender or for others", async () => {
  const queue = new Admission(limit);
  for (const sender of ["a", "a", "b"]) void queue.run(forever, sender);
  const requestedAtMs = performance.now();
  const behindOwn = queue.acquire("a");
  const behindOthers = queue.acquire("c");
  behindOthers.catch(() => {});
  await expect(behindOwn).rejects.toMatchObject(senderError);
  await expect(behindOthers).rejects.toMatchObject({ code: "overloaded", message: "Too many tasks." });
  expect(performance.now() - requestedAtMs).toBeGreaterThanOrEqual(99);
  expect([queue.held, queue.getWaitingCount(), queue.rejectedCount]).toEqual([3, 0, 2]);
});

it("stops waiting when the signal is aborted, and admits the next request", async () => {
  const queue = new Admission({ perProcess: 1 });
  const first = queue.request("a");
  const client = new AbortController();
  const waiting = queue.acquire("b", { signal: client.signal });
  const next = queue.acquire("c");
  client.abort();
  await expect(waiting).rejects.toMatchObject({ code: "overloaded" });
  first.release();
  (await next).release();
  await expect(queue.acquire("a", { signal: client.signal })).rejects.toMatchObject({ code: "overloaded" });
  expect([queue.held, queue.rejectedCount]).toEqual([0, 0]);
});

describe("what costs more than 1", () => {
  it("is held up to the limit of a sender, and of all together", () => {
    const bytes = new Admission({ ...limit, perSender: 60, perProcess: 100 });
    const release = bytes.hold("a", 50);
    expect(() => bytes.hold("a", 11)).toThrowError(expect.objectContaining({ code: "rate_limited" }));
    bytes.hold("b", 40);
    expect(() => bytes.hold("c", 11)).toThrowError(expect.objectContaining({ code: "overloaded" }));
    expect(() => bytes.hold("c", 10, 1)).toThrowError(expect.objectContaining({ code: "overloaded" }));
    bytes.hold("c", 10);
    release();
    release();
    expect([bytes.held, bytes.findError("a", 50)?.code, bytes.findError("a", 61)?.code]).toEqual([
      ...[50, undefined],
      "rate_limited",
    ]);
  });

  it("is admitted beyond a limit only if nothing else is held", () => {
    const bytes = new Admission({ ...limit, perSender: 60, perProcess: 100, canExceedAlone: true });
    bytes.hold("a", 200);
    expect(bytes.findSenderError("a")?.code).toBe("rate_limited");
    expect([bytes.findSenderError("b", 200), bytes.findError("b", 1)?.code]).toEqual([undefined, "overloaded"]);
  });

  it("is admitted in turn, and does not wait for a larger request that has left the queue", async () => {
    const bytes = new Admission({ perSender: 100, perProcess: 100 });
    const first = bytes.request("a", { cost: 60 });
    const large = bytes.request("a", { cost: 80 });
    const small = bytes.request("a", { cost: 10 });
    const other = bytes.request("b", { cost: 40 });
    expect([first, large, small, other].map(({ isGranted }) => isGranted)).toEqual([true, false, false, true]);
    large.release();
    other.release();
    await small.granted;
    expect(bytes.held).toBe(70);
  });
});
