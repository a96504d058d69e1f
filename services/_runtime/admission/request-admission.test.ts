import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { keepEventLoopBusy } from "../testing/keep-event-loop-busy.ts";
import { Admission } from "./admission.ts";
import { isEventLoopBusy } from "./event-loop-load.ts";
import { admitTo, createRequestAdmission } from "./request-admission.ts";

/** Handles `count` reads of a location. Returns the largest number of them at a time. */
async function handleReads(
  senderId: string,
  count: number,
  work: () => Promise<void>,
  kind: "read" | "lookup" = "read",
): Promise<number> {
  const admission = createRequestAdmission();
  let [active, maximum] = [0, 0];
  const handle = async () => {
    const admitted = await admission.admit(senderId, kind);
    active += 1;
    maximum = Math.max(maximum, active);
    await work();
    active -= 1;
    admitted.release();
  };
  await Promise.all(Array.from({ length: count }, handle));
  return maximum;
}

const waitUntilIdle = async () => {
  while (isEventLoopBusy()) await sleep(20);
};

it("handles three reads of a location at a time, in all services together, and does not delay other locations", async () => {
  await sleep(200);
  await waitUntilIdle();
  const finished: string[] = [];
  const finish = (sender: string) => async () => {
    await sleep(10);
    finished.push(sender);
  };
  const [ofBusy] = await Promise.all([
    handleReads("busy", 20, finish("busy")),
    handleReads("busy", 20, finish("busy")),
    handleReads("other", 1, finish("other")),
  ]);
  expect(ofBusy).toBeLessThanOrEqual(3);
  expect(finished).toHaveLength(41);
  expect(finished.indexOf("other")).toBeLessThan(4);
});

it.each([
  { kind: "read", maximum: 3 },
  { kind: "lookup", maximum: 16 },
] as const)(
  "handles $maximum of kind $kind of a location at a time, and 1 while several share a busy event loop",
  async ({ kind, maximum }) => {
    await sleep(1_100);
    const stopWork = await keepEventLoopBusy();
    const handle = (senderId: string, count: number) => handleReads(senderId, count, () => sleep(1), kind);
    const ofOnly = await handle("only", 20);
    const [ofBusy] = await Promise.all([handle("busy", 5), handle("other", 1)]);
    await stopWork();
    expect(ofOnly).toBe(maximum);
    expect(ofBusy).toBe(1);
  },
);

it("pauses a location after work in the event loop alone while several share it, even if nothing of it waits yet", async () => {
  await sleep(1_100);
  const stopWork = await keepEventLoopBusy();
  const admission = new Admission({ perSender: 1 });
  const admit = (senderId: string) => admitTo(admission, senderId, { usesOnlyEventLoop: true });
  const startedAt = performance.now();
  (await admit("other")).release();
  const first = await admit("busy");
  const blockedUntil = performance.now() + 20;
  while (performance.now() < blockedUntil);
  first.release();
  (await admit("other")).release();
  const otherMs = performance.now() - startedAt;
  (await admit("busy")).release();
  const busyMs = performance.now() - startedAt;
  await stopWork();
  expect(busyMs - otherMs).toBeGreaterThan(60);
});

it("reads one large body of a location at a time while several share a busy event loop", async () => {
  const admission = createRequestAdmission();
  const stopWork = await keepEventLoopBusy();
  (await admission.admitUpload("other")).release();
  const first = await admission.admitUpload("busy");
  let isSecondRead = false;
  const second = admission.admitUpload("busy").then((upload) => {
    isSecondRead = true;
    return upload;
  });
  (await admission.admitUpload("other")).release();
  expect(isSecondRead).toBe(false);
  first.release();
  (await second).release();
  await stopWork();
});

it("does not count requests that wait", async () => {
  const admission = createRequestAdmission();
  const admitted = await Promise.all([1, 2, 3].map(() => admission.admit("waits", "write")));
  let endWait = () => {};
  const wait = new Promise<void>((resolve) => {
    endWait = resolve;
  });
  const waiting = admitted.map((request) => request.runOutside(() => wait));
  const others = await Promise.all([1, 2, 3].map(() => admission.admit("waits", "write")));
  endWait();
  for (const request of others) request.release();
  await Promise.all(waiting);
  for (const request of admitted) request.release();
});

it("rejects a request of a location that has 250 waiting", async () => {
  const admission = createRequestAdmission();
  const admitted = await Promise.all([1, 2, 3].map(() => admission.admit("floods", "write")));
  const waiting = Array.from({ length: 250 }, () => admission.admit("floods", "write"));
  const error = await admission.admit("floods", "write").catch((cause: unknown) => cause);
  expect(error).toMatchObject({ code: "rate_limited", limit: { name: "waiting_requests", maximum: 250 } });
  (await admission.admit("another", "write")).release();
  for (const request of admitted) request.release();
  for (const request of waiting) (await request).release();
});
