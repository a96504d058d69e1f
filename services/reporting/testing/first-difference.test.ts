import { expect, test } from "vitest";
import { describeFirstDifference } from "./first-difference.ts";

test.each([
  ["a different value", { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, "$.a[0].b: expected 1, got 2"],
  ["a missing field", { a: null }, {}, "$.a: expected null, got undefined"],
  ["a longer list", { a: [1] }, { a: [1, 2] }, "$.a.length: expected 1, got 2"],
  ["a shorter list", { a: [1, 2] }, { a: [1] }, "$.a[1]: expected 2, got undefined"],
  ["null instead of an empty string", [""], [null], '$[0]: expected "", got null'],
  ["a different instant", "2026-05-24T08:00:00.000Z", "2026-05-24T08:00:00+01:00", "$: expected"],
])("reports %s", (_, expected, actual, difference) => {
  expect(describeFirstDifference(expected, actual)).toContain(difference);
});

test.each([
  ["additional fields", { a: 1 }, { a: 1, b: 2 }],
  ["another notation of the same instant", ["2026-05-24T08:00:00.000Z"], ["2026-05-24T10:00:00+02:00"]],
])("accepts %s", (_, expected, actual) => {
  expect(describeFirstDifference(expected, actual)).toBeNull();
});
