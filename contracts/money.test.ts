import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AmountOutOfRangeError,
  addMoneyAmounts,
  computeAmountWithoutTax,
  computePriceByWeight,
  divideRoundingHalfAway,
  multiplyAmountOrThrow,
  percentToBasisPoints,
} from "./money.ts";

describe("divideRoundingHalfAway", () => {
  test.each([
    [5, 2, 3],
    [-5, 2, -3],
    [4, 3, 1],
    [-4, 3, -1],
    [-1, 3, 0],
    [1, 2, 1],
    [-1, 2, -1],
    [0, 7, 0],
    [2n ** 60n + 1n, 2n ** 10n, 2 ** 50],
    [-(2n ** 60n) - 2n ** 9n, 2n ** 10n, -(2 ** 50) - 1],
    [Number.MAX_SAFE_INTEGER, 2, 4_503_599_627_370_496],
    [Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER, 1],
  ])("%s / %s is %s", (numerator, denominator, rounded) => {
    expect(divideRoundingHalfAway(numerator, denominator)).toBe(rounded);
  });

  test("agrees with big integers for every safe numerator and denominator", () => {
    fc.assert(
      fc.property(
        fc.maxSafeInteger(),
        fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        (numerator, denominator) => {
          const doubled = 2n * BigInt(Math.abs(numerator)) + BigInt(denominator);
          const size = Number(doubled / (2n * BigInt(denominator)));
          expect(divideRoundingHalfAway(numerator, denominator)).toBe(numerator < 0 && size !== 0 ? -size : size);
        },
      ),
    );
  });

  test("throws if the result is not a safe integer", () => {
    expect(() => divideRoundingHalfAway(2n ** 60n, 2n)).toThrow(AmountOutOfRangeError);
  });
});

describe("percentToBasisPoints", () => {
  test.each([
    [10, 1000],
    [5.5, 550],
    [19.6, 1960],
    [2.1, 210],
    [8.875, 888],
    [1.005, 101],
    [0.285, 29],
    [0, 0],
    [1e-7, 0],
    [0.005, 1],
    [0.00499, 0],
    [7.7, 770],
    [33.333333333333336, 3333],
  ])("%s%% is %s", (rate, expected) => {
    expect(percentToBasisPoints(rate)).toBe(expected);
  });

  test("is exact for every rate with two decimals", () => {
    for (let rate = 0; rate <= 20_000; rate += 1) expect(percentToBasisPoints(rate / 100)).toBe(rate);
  });
});

describe("computeAmountWithoutTax", () => {
  test.each([
    [1100, 10, 1000],
    [202, 5.5, 191],
    [-202, 5.5, -191],
    [21, 100, 11],
    [-21, 100, -11],
    [-1, 100, -1],
    [0, 20, 0],
    [1, 300, 0],
    [-1, 300, 0],
    [9_007_199_254_740_991, 20, 7_505_999_378_950_826],
    [-9_007_199_254_740_991, 5.5, -8_537_629_625_346_911],
  ])("of %s at %s%% is %s", (amount, rate, expected) => {
    expect(computeAmountWithoutTax(amount, rate)).toBe(expected);
  });
});

describe("computePriceByWeight", () => {
  test.each([
    [6200, 1, 1.227, 7607],
    [1000, 1, 0.35, 350],
    [1000, 1, 0.0005, 1],
    [1000, 1, 0.00049, 0],
    [333, 2, 0.25, 167],
    [-333, 2, 0.25, -167],
    [100, 1, 1.0005, 100],
    [1, 1, 0.4995, 1],
    [6200, 3, 0, 0],
    [900_000_000_000, 1000, 0.001, 900_000_000_000],
  ])("%s a kilogram, %s of %s kg: %s", (unitPrice, quantity, kilograms, expected) => {
    expect(computePriceByWeight(unitPrice, quantity, kilograms)).toBe(expected);
  });
});

test("sums and products beyond safe integers throw", () => {
  expect(addMoneyAmounts(Number.MAX_SAFE_INTEGER, 0)).toBe(Number.MAX_SAFE_INTEGER);
  expect(() => addMoneyAmounts(Number.MAX_SAFE_INTEGER, 1)).toThrow(AmountOutOfRangeError);
  expect(() => multiplyAmountOrThrow(2 ** 40, 2 ** 40)).toThrow(AmountOutOfRangeError);
  expect(multiplyAmountOrThrow(-3, 150)).toBe(-450);
});
