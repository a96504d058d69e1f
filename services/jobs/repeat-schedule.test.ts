import type { JobRepeatOptions } from "@pragma/contracts/job";
import { describe, expect, it } from "vitest";
import { computeNextJobRunMs, validateJobRepeatOptions } from "./repeat-schedule.ts";

const minuteMs = 60_000;
/** The next leap year after this time is 2104, so the search for a February 29 takes as long as possible. */
const now = Date.parse("2096-03-01T00:00:00Z");
const startOfLastYear = "9999-01-01T00:00:00Z";

/** Returns the CPU time in milliseconds of the fastest of five calls. */
function measureCpuMs(work: () => void): number {
  const samplesMs = [1, 2, 3, 4, 5].map(() => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...samplesMs);
}

describe("a pattern that rarely matches is checked quickly", () => {
  it.each<JobRepeatOptions & { pattern: string }>([
    { pattern: "0 0 29 2 *" },
    { pattern: "0 0 29 2 *", tz: "Europe/Paris" },
    { pattern: "59 59 23 29 2 *", tz: "Australia/Lord_Howe" },
    { pattern: "0 0 31 1,3,5,7,8,10,12 *", tz: "Africa/Casablanca" },
    { pattern: "30 2 28 3 *", tz: "Europe/Paris", limit: 1_000_000 },
    { pattern: "0 0 * 2 7L", tz: "America/Santiago" },
    { pattern: "0 0 31 12 *", endDate: startOfLastYear, tz: "Pacific/Chatham" },
    { pattern: "0 0 29 2 *", startDate: startOfLastYear, tz: "Europe/Paris" },
    { pattern: "0 0 * 2 7L", startDate: startOfLastYear },
  ])("$pattern, $tz, from $startDate", (repeat) => {
    const cpuMs = measureCpuMs(() => {
      expect(validateJobRepeatOptions({ repeat }, minuteMs, now)).toEqual([]);
      const startMs = repeat.startDate === undefined ? now : Date.parse(startOfLastYear);
      const first = computeNextJobRunMs(repeat, null, now) ?? 0;
      expect(first).toBeGreaterThan(startMs);
      expect(computeNextJobRunMs(repeat, first, first)).toBeGreaterThan(
        repeat.startDate === undefined ? first + minuteMs : startMs,
      );
    });
    expect(cpuMs).toBeLessThan(100);
  });

  it.each<[string, string, RegExp]>([
    ["0 0 31 4,6,9,11 *", "Europe/Paris", /matches an existing date/],
    ["0 0 31 2,4,6,9,11 *", "UTC", /matches an existing date/],
    ["* * * 30-31 2 *", "Australia/Lord_Howe", /matches an existing date/],
    ["0 0 * 2 1#5", "Europe/Paris", /within 10 years/],
    ["59 59 23 30 2 1#5", "Africa/Casablanca", /within 10 years/],
    ["0 0 H(29-31) 4,6,9,11 *", "Europe/Paris", /H/],
  ])("%s in %s is rejected", (pattern, tz, reason) => {
    // Some of the patterns are slow to check, because they match only a fifth Monday in February, and the years 2097 to
    // 2106 have none.
    const cpuMs = measureCpuMs(() => {
      expect(validateJobRepeatOptions({ repeat: { pattern, tz } }, minuteMs, now)).toMatchObject([
        { path: "jobOptions.repeat.pattern", message: expect.stringMatching(reason) },
      ]);
    });
    expect(cpuMs).toBeLessThan(100);
  });
});

describe("the shortest interval of a pattern", () => {
  it.each([
    ["* * * * *", minuteMs, true],
    ["30 * * * * *", minuteMs, true],
    ["0 0 * * THU", minuteMs, true],
    ["0,59 * * * * *", minuteMs, false],
    ["0 0,59 * * * *", minuteMs, true],
    ["0 0,59 * * * *", 2 * minuteMs, false],
    ["0 0,59 0,23 * * *", 2 * minuteMs, false],
    ["0 0 8,20 * * *", 720 * minuteMs, true],
    ["0 0 8,20 * * *", 721 * minuteMs, false],
    ["0 0 8 * * *", 1_440 * minuteMs, true],
    ["0 0 8 * * *", 1_441 * minuteMs, false],
  ])("of %s with a minimum of %i ms is allowed: %s", (pattern, minRepeatMs, isAllowed) => {
    const issues = validateJobRepeatOptions({ repeat: { pattern } }, minRepeatMs, Date.parse("2026-05-29T00:00:00Z"));
    expect(issues.map(({ code }) => code)).toEqual(isAllowed ? [] : ["too_small"]);
  });
});
