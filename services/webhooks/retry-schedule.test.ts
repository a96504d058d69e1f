import { afterEach, describe, expect, it, test, vi } from "vitest";
import { webhooksConfig } from "./config.ts";
import { nextAttemptAt, parseRetryAfter } from "./retry-schedule.ts";

const schedule = webhooksConfig.shape.WEBHOOK_SCHEDULE.parse(undefined);
const at = new Date("2026-05-29T10:00:00.000Z");
const seconds = (date: Date | null) => (date ? (date.getTime() - at.getTime()) / 1_000 : null);
const minute = 60;
const hour = 3_600;

describe("a delivery that fails", () => {
  afterEach(() => void vi.restoreAllMocks());

  test.each([
    [1, 5],
    [2, 5 * minute],
    [3, 30 * minute],
    [4, 2 * hour],
    [5, 5 * hour],
    [6, 10 * hour],
    [7, 14 * hour],
    [8, 20 * hour],
    [9, 24 * hour],
  ])("is tried again after failure %i in %i s, and up to a tenth later", (failures, wait) => {
    const next = () => seconds(nextAttemptAt(schedule, { failures, at, retryAfter: null }));
    vi.spyOn(Math, "random").mockReturnValueOnce(0).mockReturnValueOnce(1);
    expect(next()).toBe(wait);
    expect(next()).toBeCloseTo(wait * 1.1, 2);
  });

  it("has failed for good after ten attempts", () => {
    expect(nextAttemptAt(schedule, { failures: 10, at, retryAfter: null })).toBeNull();
  });

  it("waits as long as the endpoint asks, if that is longer, and a day at most", () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const after = (retryAfter: number) => seconds(nextAttemptAt(schedule, { failures: 1, at, retryAfter }));
    expect(after(1_000)).toBe(5);
    expect(after(90_000)).toBe(90);
    expect(after(400 * 24 * hour * 1_000)).toBe(24 * hour);
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
