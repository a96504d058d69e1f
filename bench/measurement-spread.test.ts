import { expect, it } from "vitest";
import { computeMeasurementSpread, percentile } from "./measurement-spread.ts";

it("takes the middle of values in any order", () => {
  expect(computeMeasurementSpread([3, 1, 10])).toEqual({ median: 3, least: 1, most: 10 });
  expect(computeMeasurementSpread([4, 1, 3, 2]).median).toBe(2.5);
});

it("takes percentiles between two values in proportion", () => {
  expect(percentile([0, 100], 0.99)).toBe(99);
  expect(percentile([7], 0.99)).toBe(7);
});
