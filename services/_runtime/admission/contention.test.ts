import { expect, it } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { keepEventLoopBusy } from "../testing/keep-event-loop-busy.ts";
import { computePauseMs, isContended, recordSender } from "./contention.ts";

it("a pause is six times as long as the work, adds up for a sender, and ends within a second; it spares those who work less than the average", async () => {
  const stopWork = await keepEventLoopBusy();
  try {
    await eventually("two senders to share a busy event loop", () => {
      recordSender("one");
      recordSender("other");
      return isContended();
    });
    const first = computePauseMs("one", performance.now() - 50);
    const second = computePauseMs("one", performance.now() - 50);
    const ofOther = computePauseMs("other", performance.now() - 50);
    const ofOtherInEventLoop = computePauseMs("other", performance.now() - 50, { usesOnlyEventLoop: true });
    const longest = computePauseMs("one", performance.now() - 150);
    // The calls themselves take a little time, of which a pause is a multiple, too.
    const pauses = [first, second, ofOther, ofOtherInEventLoop];
    expect(pauses.map((pause) => Math.floor((pause + 10) / 100))).toEqual([3, 6, 0, 3]);
    expect(Math.round(longest)).toBe(1_000);
  } finally {
    await stopWork();
  }
});
