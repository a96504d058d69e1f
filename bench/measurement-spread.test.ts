import { expect, it } from "vitest";
import { computeMedianMinMax, computePercentile } from "./measurement-spread.ts";

it("returns the median of values in any order", () => {
  expect(computeMedianMinMax([3, 1, 10])).toEqual({ median: 3, min: 1, max: 10 });
  expect(computeMedianMinMax([4, 1, 3, 2]).median).toBe(2.5);
});

it("interpolates percentiles between two values", () => {
  expect(computePercentile([0, 100], 0.99)).toBe(99);
  expect(computePercentile([7], 0.99)).toBe(7);
});
