import { describe, expect, it } from "vitest";
import { generateTill } from "./generate-till.ts";
import type { SimulatedOrderRevision } from "./order-revisions.ts";
import { createSimulatedSchedule, omitSupersededRevisions, splitDueRevisions } from "./order-revisions.ts";

const till = generateTill({ seed: "batches", orders: 60, day: "2026-05-29" });
/** Returns a function that maps instants of the till to instants of a simulation at sixty times the speed. */
const mapInstantsFrom = (startsAtMs: number) => (instant: number) =>
  startsAtMs + (instant - Date.parse(till.startedAt)) / 60;
const day = createSimulatedSchedule(till, mapInstantsFrom(0));
const { revisions } = day;
const lastMs = revisions.at(-1)?.atMs ?? 0;

function revisionHashes(list: readonly SimulatedOrderRevision[]) {
  return list.map(({ order }) => order.revisionHash);
}

describe("splitDueRevisions", () => {
  it("takes due revisions, and keeps the sequence of the remaining revisions", () => {
    const nowMs = revisions[9]?.atMs ?? 0;
    const { batch, rest } = splitDueRevisions(revisions, nowMs);
    expect(batch.every(({ atMs }) => atMs <= nowMs)).toBe(true);
    expect(batch.length + rest.length).toBe(revisions.length);
    expect(rest).toEqual(revisions.filter((revision) => !batch.includes(revision)));
  });

  it("takes at most fifty revisions of different orders, and finally all revisions in sequence", () => {
    const sent: SimulatedOrderRevision[] = [];
    for (let queue: readonly SimulatedOrderRevision[] = revisions; queue.length > 0; ) {
      const { batch, rest } = splitDueRevisions(queue, lastMs);
      expect(batch.length).toBeGreaterThan(0);
      expect(batch.length).toBeLessThanOrEqual(50);
      expect(new Set(batch.map(({ order }) => order.id)).size).toBe(batch.length);
      sent.push(...batch);
      queue = rest;
    }
    for (const { id } of till.orderList) {
      const hashesOfOrder = (list: readonly SimulatedOrderRevision[]) =>
        revisionHashes(list.filter(({ order }) => order.id === id));
      expect(hashesOfOrder(sent)).toEqual(hashesOfOrder(revisions));
    }
  });

  it("takes nothing before it is due", () => {
    expect(splitDueRevisions(revisions, (revisions[0]?.atMs ?? 0) - 1).batch).toEqual([]);
  });
});

describe("omitSupersededRevisions", () => {
  it("keeps the last earlier revision of each order, and all later revisions", () => {
    const nowMs = lastMs / 2;
    const queue = omitSupersededRevisions(day, nowMs).revisions;
    const before = queue.filter(({ atMs }) => atMs <= nowMs);
    expect(new Set(before.map(({ order }) => order.id)).size).toBe(before.length);
    expect(revisionHashes(queue.filter(({ atMs }) => atMs > nowMs))).toEqual(
      revisionHashes(revisions.filter(({ atMs }) => atMs > nowMs)),
    );
    for (const { order } of before) {
      const earlier = revisions.filter(({ atMs, order: { id } }) => atMs <= nowMs && id === order.id);
      expect(earlier.at(-1)?.order).toBe(order);
    }
  });

  it("returns the whole schedule at its beginning", () => {
    expect(omitSupersededRevisions(day, -1)).toEqual(day);
  });
});

describe("the schedule of a day", () => {
  it("contains the simulated times", () => {
    const startsAtMs = Date.parse("2026-11-20T09:00:00.000Z");
    const simulated = createSimulatedSchedule(till, mapInstantsFrom(startsAtMs));
    expect(simulated.till.startedAt).toBe("2026-11-20T09:00:00.000Z");
    for (const { atMs, order } of simulated.revisions) expect(Date.parse(order.data.modifiedAt ?? "")).toBe(atMs);
    expect(simulated.till.orderList.map(({ total }) => total)).toEqual(till.orderList.map(({ total }) => total));
    expect(simulated.revisions.at(-1)?.atMs).toBeLessThanOrEqual(Date.parse(simulated.till.finalizedAt));
  });
});
