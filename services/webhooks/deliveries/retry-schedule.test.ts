import { afterEach, describe, expect, it, test, vi } from "vitest";
import { webhooksServiceConfigSchema } from "../config.ts";
import { computeNextWebhookAttemptAt, parseRetryAfter } from "./evaluate-attempt.ts";

const schedule = webhooksServiceConfigSchema.shape.WEBHOOK_RETRY_SCHEDULE.parse(undefined);
const failedAt = new Date("2026-05-29T10:00:00.000Z");
const secondsUntil = (date: Date | null) => (date ? (date.getTime() - failedAt.getTime()) / 1_000 : null);
const minuteSeconds = 60;
const hourSeconds = 3_600;

describe("a failing delivery", () => {
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
  ])("is retried after failure %i in %i s plus up to 10 percent", (failedAttempts, delaySeconds) => {
    const computeDelay = () =>
      secondsUntil(computeNextWebhookAttemptAt(schedule, { failedAttempts, failedAt, retryAfterMs: null }));
    vi.spyOn(Math, "random").mockReturnValueOnce(0).mockReturnValueOnce(1);
    expect(computeDelay()).toBe(delaySeconds);
    expect(computeDelay()).toBeCloseTo(delaySeconds * 1.1, 2);
  });

  it("is not retried after ten attempts", () => {
    expect(computeNextWebhookAttemptAt(schedule, { failedAttempts: 10, failedAt, retryAfterMs: null })).toBeNull();
  });

  it("waits for the delay that the endpoint requests if that is longer, up to a day", () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const computeDelay = (retryAfterMs: number) =>
      secondsUntil(computeNextWebhookAttemptAt(schedule, { failedAttempts: 1, failedAt, retryAfterMs }));
    expect(computeDelay(1_000)).toBe(5);
    expect(computeDelay(90_000)).toBe(90);
    expect(computeDelay(400 * 24 * hourSeconds * 1_000)).toBe(24 * hourSeconds);
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
])("parses Retry-After %s as %s ms", (header, delayMs) => {
  expect(parseRetryAfter(header, failedAt)).toBe(delayMs);
});

describe("WEBHOOK_RETRY_SCHEDULE", () => {
  it("is a comma-separated list of durations", () => {
    expect(webhooksServiceConfigSchema.shape.WEBHOOK_RETRY_SCHEDULE.parse("1s, 2m,3h")).toEqual([
      1_000, 120_000, 10_800_000,
    ]);
  });

  test.each(["", "5", "5s,", "5d", "-5s", "1.5s"])("rejects %j", (text) => {
    expect(webhooksServiceConfigSchema.shape.WEBHOOK_RETRY_SCHEDULE.safeParse(text).success).toBe(false);
  });
});
