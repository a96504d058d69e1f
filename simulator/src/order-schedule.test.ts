import { describe, expect, it } from "vitest";
import { generateTill } from "./generate-till.ts";
import type { OrderRevision } from "./order-revisions.ts";
import { joinScheduleAt, scheduleAtOriginalTimes, scheduleAtPlayedTimes, takeDueRevisions } from "./order-revisions.ts";

const till = generateTill({ seed: "batches", orders: 60, day: "2026-05-29" });
/** Sixty times as fast as it was. */
const paceFrom = (startsAt: number) => (instant: number) => startsAt + (instant - Date.parse(till.startedAt)) / 60;
const day = scheduleAtOriginalTimes(till, paceFrom(0));
const { revisions } = day;
const end = revisions.at(-1)?.at ?? 0;

function hashes(some: readonly OrderRevision[]) {
  return some.map(({ order }) => order.revisionHash);
}

describe("nextBatch", () => {
  it("takes what is due, and leaves the rest in its order", () => {
    const now = revisions[9]?.at ?? 0;
    const { batch, rest } = takeDueRevisions(revisions, now);
    expect(batch.every(({ at }) => at <= now)).toBe(true);
    expect(batch.length + rest.length).toBe(revisions.length);
    expect(rest).toEqual(revisions.filter((revision) => !batch.includes(revision)));
  });

  it("takes each order once, fifty at most, and in the end everything in each order's own order", () => {
    const sent: OrderRevision[] = [];
    for (let queue: readonly OrderRevision[] = revisions; queue.length > 0; ) {
      const { batch, rest } = takeDueRevisions(queue, end);
      expect(batch.length).toBeGreaterThan(0);
      expect(batch.length).toBeLessThanOrEqual(50);
      expect(new Set(batch.map(({ order }) => order.id)).size).toBe(batch.length);
      sent.push(...batch);
      queue = rest;
    }
    for (const { id } of till.orderList) {
      const ofOrder = (some: readonly OrderRevision[]) => hashes(some.filter(({ order }) => order.id === id));
      expect(ofOrder(sent)).toEqual(ofOrder(revisions));
    }
  });

  it("takes nothing before it is due", () => {
    expect(takeDueRevisions(revisions, (revisions[0]?.at ?? 0) - 1).batch).toEqual([]);
  });
});

describe("joinDay", () => {
  it("keeps the last of what each order was before, and all that follows", () => {
    const now = end / 2;
    const queue = joinScheduleAt(day, now).revisions;
    const before = queue.filter(({ at }) => at <= now);
    expect(new Set(before.map(({ order }) => order.id)).size).toBe(before.length);
    expect(hashes(queue.filter(({ at }) => at > now))).toEqual(hashes(revisions.filter(({ at }) => at > now)));
    for (const { order } of before) {
      const earlier = revisions.filter(({ at, order: { id } }) => at <= now && id === order.id);
      expect(earlier.at(-1)?.order).toBe(order);
    }
  });

  it("is everything for whoever is there from the beginning", () => {
    expect(joinScheduleAt(day, -1)).toEqual(day);
  });
});

describe("a day that is played", () => {
  it("takes as long as its pace says", () => {
    const later = scheduleAtOriginalTimes(till, paceFrom(1_000));
    expect(later.closesAt).toBe(1_000 + (Date.parse(till.finalizedAt) - Date.parse(till.startedAt)) / 60);
    expect(later.till).toBe(till);
  });

  it("carries the times at which it is played when they are not recorded", () => {
    const startsAt = Date.parse("2026-11-20T09:00:00.000Z");
    const present = scheduleAtPlayedTimes(till, paceFrom(startsAt));
    expect(present.till.startedAt).toBe("2026-11-20T09:00:00.000Z");
    expect(Date.parse(present.till.finalizedAt)).toBe(Math.round(present.closesAt));
    for (const { at, order } of present.revisions) expect(Date.parse(order.data.modifiedAt ?? "")).toBe(at);
    expect(present.till.orderList.map(({ total }) => total)).toEqual(till.orderList.map(({ total }) => total));
    expect(present.revisions.at(-1)?.at).toBeLessThanOrEqual(present.closesAt);
  });
});
