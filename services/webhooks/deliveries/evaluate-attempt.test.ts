import { expect, it, test } from "vitest";
import { evaluateAttempt } from "./evaluate-attempt.ts";

const endedAt = new Date("2026-05-29T10:00:00.000Z");
const firstAttempt = { schedule: [5_000, 300_000], failedAttempts: 0, endedAt, isTest: false };
const createPostResult = (status: number, retryAfterMs: number | null = null) => ({
  status,
  response: "",
  retryAfterMs,
});

test.each([200, 201, 204, 299])("%i is success", (status) => {
  expect(evaluateAttempt(createPostResult(status), firstAttempt)).toEqual({
    state: "succeeded",
    error: null,
    nextAttemptAt: null,
    isEndpointGone: false,
  });
});

test.each([301, 302, 307, 308, 400, 401, 404, 429, 500, 503, 599])("%i is retried", (status) => {
  const evaluation = evaluateAttempt(createPostResult(status), firstAttempt);
  expect(evaluation).toMatchObject({ state: "pending", isEndpointGone: false });
  expect(evaluation.error).toContain(`The endpoint responded with status ${status}`);
});

it("explains that redirects are not followed", () => {
  expect(evaluateAttempt(createPostResult(302), firstAttempt).error).toBe(
    "The endpoint responded with status 302. Redirects are not followed.",
  );
});

it("does not retry after 410", () => {
  expect(evaluateAttempt(createPostResult(410, 60_000), firstAttempt)).toMatchObject({
    state: "failed",
    nextAttemptAt: null,
    isEndpointGone: true,
  });
});

it("fails after one more failure than the schedule has delays", () => {
  expect(evaluateAttempt(createPostResult(500), { ...firstAttempt, failedAttempts: 1 }).state).toBe("pending");
  expect(evaluateAttempt(createPostResult(500), { ...firstAttempt, failedAttempts: 2 })).toMatchObject({
    state: "failed",
    nextAttemptAt: null,
  });
});

it("reports why there is no response", () => {
  const evaluation = evaluateAttempt({ status: null, reason: "The endpoint refused the connection." }, firstAttempt);
  expect(evaluation).toMatchObject({ state: "pending", error: "The endpoint refused the connection." });
});

it("does not retry a test", () => {
  expect(evaluateAttempt(createPostResult(500), { ...firstAttempt, isTest: true })).toMatchObject({
    state: "failed",
    nextAttemptAt: null,
  });
});
