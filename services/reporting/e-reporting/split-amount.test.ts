import { expect, it } from "vitest";
import { splitReceived } from "./split-amount.ts";

it.each([
  [100, [1, 1, 1], [34, 33, 33]],
  [100, [1, 2, 3], [17, 33, 50]],
  [-100, [1, 1, 1], [-34, -33, -33]],
  [-101, [-1, -1], [-51, -50]],
  [1, [5, 5], [1, 0]],
  [0, [3, 4], [0, 0]],
  [1_000, [1_500, -500], [1_500, -500]],
  [500, [1_500, -500], [750, -250]],
  [700, [-300, -400], [300, 400]],
  [9_007_199_254_740_991, [1, 2], [3_002_399_751_580_330, 6_004_799_503_160_661]],
  // An exchange for something of the same price.
  [0, [1_000, -1_000], [1_000, -1_000]],
  // Received beyond the sum of totals that nearly cancel each other, or paid back.
  [6_000, [6_000, -5_800], [6_000, 0]],
  [6_500, [6_000, -5_800], [6_500, 0]],
  [-500, [3_200, -3_000], [2_500, -3_000]],
  [-500, [1_000, -1_001], [501, -1_001]],
  [500, [1_000, -1_001], [1_000, -500]],
  [-4_000, [1_000, -1_001], [0, -4_000]],
  [7, [5, 5, -1], [4, 4, -1]],
])("splits %i by %j", (received, totals, parts) => {
  expect(splitReceived(received, totals)).toEqual(parts);
});

it("has no part that is larger than its total, unless more was received than sold", () => {
  for (const totals of [
    [1_000, -999, 3],
    [250, 250, -499],
    [-1_000, 999],
  ])
    for (let received = -1_100; received <= 1_100; received += 7) {
      const parts = splitReceived(received, totals) ?? [];
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(received);
      const [sold, refunded] = [1, -1].map((sign) => totals.map((total) => Math.max(0, sign * total)));
      const isWithin = received >= -Math.max(0, add(refunded)) && received <= add(sold);
      if (isWithin)
        for (const [index, part] of parts.entries())
          expect(Math.abs(part)).toBeLessThanOrEqual(Math.abs(totals[index] ?? 0));
    }
});

const add = (amounts: readonly number[] = []) => amounts.reduce((sum, amount) => sum + amount, 0);

it("cannot split by totals of 0", () => {
  expect(splitReceived(100, [])).toBeUndefined();
  expect(splitReceived(100, [0, 0])).toBeUndefined();
});
