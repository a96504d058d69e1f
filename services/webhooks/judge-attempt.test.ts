import { expect, it, test } from "vitest";
import { judgeAttempt } from "./judge-attempt.ts";

const at = new Date("2026-05-29T10:00:00.000Z");
const first = { schedule: [5_000, 300_000], failures: 0, at, isTest: false };
const answered = (status: number, retryAfter: number | null = null) => ({ status, response: "", retryAfter });

test.each([200, 201, 204, 299])("%i is success", (status) => {
  expect(judgeAttempt(answered(status), first)).toEqual({
    state: "succeeded",
    error: null,
    nextAttemptAt: null,
    isGone: false,
  });
});

test.each([301, 302, 307, 308, 400, 401, 404, 429, 500, 503, 599])("%i is tried again", (status) => {
  const verdict = judgeAttempt(answered(status), first);
  expect(verdict).toMatchObject({ state: "pending", isGone: false });
  expect(verdict.error).toContain(`The endpoint answered ${status}`);
});

it("says that redirects are not followed", () => {
  expect(judgeAttempt(answered(302), first).error).toBe("The endpoint answered 302: redirects are not followed.");
});

it("ends with 410, whatever attempts are left", () => {
  expect(judgeAttempt(answered(410, 60_000), first)).toMatchObject({
    state: "failed",
    nextAttemptAt: null,
    isGone: true,
  });
});

it("has no attempt left after one more failure than the schedule has waits", () => {
  expect(judgeAttempt(answered(500), { ...first, failures: 1 }).state).toBe("pending");
  expect(judgeAttempt(answered(500), { ...first, failures: 2 })).toMatchObject({
    state: "failed",
    nextAttemptAt: null,
  });
});

it("tells why there is no response", () => {
  const verdict = judgeAttempt({ status: null, reason: "The endpoint refused the connection." }, first);
  expect(verdict).toMatchObject({ state: "pending", error: "The endpoint refused the connection." });
});

it("makes a test once", () => {
  expect(judgeAttempt(answered(500), { ...first, isTest: true })).toMatchObject({
    state: "failed",
    nextAttemptAt: null,
  });
});
