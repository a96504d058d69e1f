import { afterEach, describe, expect, it, test, vi } from "vitest";
import { webhooksConfig } from "../config.ts";
import { computeNextAttemptAt, parseRetryAfter } from "./retry-schedule.ts";

const schedule = webhooksConfig.shape.WEBHOOK_SCHEDULE.parse(undefined);
const at = new Date("2026-05-29T10:00:00.000Z");
const secondsUntil = (date: Date | null) => (date ? (date.getTime() - at.getTime()) / 1_000 : null);
const minuteSeconds = 60;
const hourSeconds = 3_600;

describe("a delivery that fails", () => {
  afterEach(() => void vi.restoreAllMocks());

  test.each([
    [1, 5],
    [2, 5 * minuteSeconds],
    [3, 30 * minuteSeconds],
    [4, 2 * hourSeconds],
    [5, 5 * hourSeconds],
    [6, 10 * hourSeconds],
    [7, 14 * hourSeconds],
    [8, 20 * hourSeconds],
    [9, 24 * hourSeconds],
  ])("is tried again after failure %i in %i s, and up to a tenth later", (failures, wait) => {
    const next = () =>
      secondsUntil(computeNextAttemptAt(schedule, { failedAttempts: failures, failedAt: at, retryAfterMs: null }));
    vi.spyOn(Math, "random").mockReturnValueOnce(0).mockReturnValueOnce(1);
    expect(next()).toBe(wait);
    expect(next()).toBeCloseTo(wait * 1.1, 2);
  });

  it("has failed for good after ten attempts", () => {
    expect(computeNextAttemptAt(schedule, { failedAttempts: 10, failedAt: at, retryAfterMs: null })).toBeNull();
  });

  it("waits as long as the endpoint asks, if that is longer, and a day at most", () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const after = (retryAfter: number) =>
      secondsUntil(computeNextAttemptAt(schedule, { failedAttempts: 1, failedAt: at, retryAfterMs: retryAfter }));
    expect(after(1_000)).toBe(5);
    expect(after(90_000)).toBe(90);
    expect(after(400 * 24 * hourSeconds * 1_000)).toBe(24 * hourSeconds);
  });
});

test.each([
  ["120", 120_000],
  [" 7 ", 7_000],
  ["0", null],
  ["-5", null],
  ["Fri, 29 May 2026 10:00:30 GMT", 30_000],
  ["Fri, 29 May 2026 09:00:00 GMT", null],
  ["soon", null],
  ["", null],
  [undefined, null],
])("Retry-After: %s asks for %s ms", (header, wait) => {
  expect(parseRetryAfter(header, at)).toBe(wait);
});

describe("a schedule in the configuration", () => {
  it("is durations with commas between them", () => {
    expect(webhooksConfig.shape.WEBHOOK_SCHEDULE.parse("1s, 2m,3h")).toEqual([1_000, 120_000, 10_800_000]);
  });

  test.each(["", "5", "5s,", "5d", "-5s", "1.5s"])("is refused as %j", (text) => {
    expect(webhooksConfig.shape.WEBHOOK_SCHEDULE.safeParse(text).success).toBe(false);
  });
});
