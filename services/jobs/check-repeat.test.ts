import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Repeat } from "@pragma/contracts/job-repeat";
import { sleep } from "@pragma/runtime/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkRepeat } from "./check-repeat.ts";
import { startJobs, type TestJobs } from "./testing/start-jobs.ts";

let jobs: TestJobs;
beforeAll(async () => {
  jobs = await startJobs();
});
afterAll(() => jobs?.remove());

/** The longest that the event loop stood still in any but the noisiest of three tries, in milliseconds. */
async function eventLoopDelay(work: () => Promise<void>): Promise<number> {
  const tries: number[] = [];
  for (let index = 0; index < 3; index += 1) {
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    // It counts from its own first tick.
    await sleep(50);
    await work();
    await sleep(50);
    delay.disable();
    tries.push(delay.max / 1e6);
  }
  return Math.min(...tries);
}

const lastYear = "9999-01-01T00:00:00Z";

describe("a pattern that comes true rarely does not hold up other requests", () => {
  it.each<Repeat & { pattern: string }>([
    { pattern: "0 0 29 2 *" },
    { pattern: "0 0 29 2 *", tz: "Europe/Paris" },
    { pattern: "59 59 23 29 2 *", tz: "Australia/Lord_Howe" },
    { pattern: "0 0 31 1,3,5,7,8,10,12 *", tz: "Africa/Casablanca" },
    { pattern: "30 2 28 3 *", tz: "Europe/Paris", limit: 1_000_000 },
    { pattern: "0 0 * 2 7L", tz: "America/Santiago" },
    { pattern: "0 0 31 12 *", endDate: lastYear, tz: "Pacific/Chatham" },
  ])("$pattern, $tz, is done, and then waits for the next time", async (repeat) => {
    const shop = jobs.openShop();
    const longest = await eventLoopDelay(async () => {
      const { id } = await shop.create({ message: "Rare", jobOptions: { repeat: { ...repeat, immediately: true } } });
      await eventually("the first run", async () => (await shop.status(id)).runs === 1);
      await eventually("the next", async () => {
        const next = await shop.nextRun(id);
        return next !== undefined && next.getTime() > Date.now() + 60_000;
      });
    });
    expect(longest).toBeLessThan(100);
  });

  it.each<Repeat>([
    { pattern: "0 0 29 2 *", startDate: lastYear, tz: "Europe/Paris" },
    { pattern: "0 0 * 2 7L", startDate: lastYear },
  ])("$pattern from the year 9999 waits for it", async (repeat) => {
    const shop = jobs.openShop();
    const longest = await eventLoopDelay(async () => {
      const { id } = await shop.create({ message: "Far", jobOptions: { repeat } });
      expect(await shop.nextRun(id)).toBeDefined();
    });
    expect(longest).toBeLessThan(100);
  });

  it.each<[string, string, RegExp]>([
    ["0 0 31 4,6,9,11 *", "Europe/Paris", /ever comes true/],
    ["0 0 31 2,4,6,9,11 *", "UTC", /ever comes true/],
    ["* * * 30-31 2 *", "Australia/Lord_Howe", /ever comes true/],
    ["0 0 * 2 1#5", "Europe/Paris", /within 10 years/],
    ["59 59 23 30 2 1#5", "Africa/Casablanca", /within 10 years/],
    ["0 0 H(29-31) 4,6,9,11 *", "Europe/Paris", /H/],
  ])("%s in %s is refused", async (pattern, tz, why) => {
    const shop = jobs.openShop();
    const longest = await eventLoopDelay(async () => {
      const problem = await shop.refusal({ message: "Never", jobOptions: { repeat: { pattern, tz } } });
      expect(problem.errors).toMatchObject([
        { path: "jobOptions.repeat.pattern", message: expect.stringMatching(why) },
      ]);
    });
    expect(longest).toBeLessThan(100);
  });
});

describe("the shortest time between two runs of a pattern", () => {
  const minute = 60_000;
  it.each([
    ["* * * * *", minute, true],
    ["30 * * * * *", minute, true],
    ["0 0 * * THU", minute, true],
    ["0,59 * * * * *", minute, false],
    ["0 0,59 * * * *", minute, true],
    ["0 0,59 * * * *", 2 * minute, false],
    ["0 0,59 0,23 * * *", 2 * minute, false],
    ["0 0 8,20 * * *", 720 * minute, true],
    ["0 0 8,20 * * *", 721 * minute, false],
    ["0 0 8 * * *", 1_440 * minute, true],
    ["0 0 8 * * *", 1_441 * minute, false],
  ])("of %s, where %i ms are required: allowed %s", (pattern, shortest, isAllowed) => {
    const faults = checkRepeat({ repeat: { pattern } }, shortest, Date.parse("2026-05-29T00:00:00Z"));
    expect(faults.map(({ code }) => code)).toEqual(isAllowed ? [] : ["too_small"]);
  });
});
