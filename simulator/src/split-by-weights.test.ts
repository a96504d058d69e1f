import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitByWeights } from "./split-by-weights.ts";

describe("splitByWeights", () => {
  it("splits to the cent in proportion", () => {
    expect(splitByWeights(1000, [1, 1, 1])).toEqual([333, 334, 333]);
    expect(splitByWeights(690, [2, 3])).toEqual([276, 414]);
  });

  it("loses and invents nothing", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), weights, (amount, shares) => {
        expect(splitByWeights(amount, shares).reduce((sum, part) => sum + part, 0)).toBe(amount);
      }),
    );
  });
});
