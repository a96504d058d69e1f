import { expect, test } from "vitest";
import { findFirstDifference } from "./first-difference.ts";

test.each([
  ["a value that differs", { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, "$.a[0].b: expected 1, found 2"],
  ["a field that is not there", { a: null }, {}, "$.a: expected null, found undefined"],
  ["a list that goes on", { a: [1] }, { a: [1, 2] }, "$.a.length: expected 1, found 2"],
  ["a list that ends early", { a: [1, 2] }, { a: [1] }, "$.a[1]: expected 2, found undefined"],
  ["null for an empty text", [""], [null], '$[0]: expected "", found null'],
  ["another instant", "2026-05-24T08:00:00.000Z", "2026-05-24T08:00:00+01:00", "$: expected"],
])("tells of %s", (_, expected, found, difference) => {
  expect(findFirstDifference(expected, found)).toContain(difference);
});

test.each([
  ["fields that nobody asked for", { a: 1 }, { a: 1, b: 2 }],
  ["another spelling of the same instant", ["2026-05-24T08:00:00.000Z"], ["2026-05-24T10:00:00+02:00"]],
])("accepts %s", (_, expected, found) => {
  expect(findFirstDifference(expected, found)).toBeNull();
});
