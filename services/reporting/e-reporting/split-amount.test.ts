import { expect, it } from "vitest";
import { splitAmount } from "./split-amount.ts";

it.each([
  [100, [1, 1, 1], [34, 33, 33]],
  [100, [1, 2, 3], [17, 33, 50]],
  [-100, [1, 1, 1], [-34, -33, -33]],
  [-101, [-1, -1], [-51, -50]],
  [1, [5, 5], [1, 0]],
  [0, [3, 4], [0, 0]],
  [1_000, [1_500, -500], [1_500, -500]],
  [700, [-300, -400], [300, 400]],
  [9_007_199_254_740_991, [1, 2], [3_002_399_751_580_330, 6_004_799_503_160_661]],
])("splits %i by %j", (amount, weights, parts) => {
  expect(splitAmount(amount, weights)).toEqual(parts);
});

it("cannot split by weights that add up to 0", () => {
  expect(splitAmount(100, [])).toBeUndefined();
  expect(splitAmount(100, [5, -5])).toBeUndefined();
});
