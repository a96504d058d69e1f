import { describe, expect, it } from "vitest";
import { SeededRandom } from "./random.ts";

describe("Random", () => {
  it("returns the same values for the same seed, and others for another seed", () => {
    const draw = (seed: string) => {
      const random = new SeededRandom(seed);
      return Array.from({ length: 20 }, () => random.integer(0, 1_000_000));
    };
    expect(draw("a")).toEqual(draw("a"));
    expect(draw("a")).not.toEqual(draw("b"));
  });

  it("forks a stream that does not depend on earlier values", () => {
    const fresh = new SeededRandom("a");
    const used = new SeededRandom("a");
    used.uuid();
    expect(used.fork("b").uuid()).toBe(fresh.fork("b").uuid());
    expect(used.fork("b").uuid()).not.toBe(fresh.fork("c").uuid());
  });

  it("generates distinct version 4 UUIDs", () => {
    const random = new SeededRandom("ids");
    const ids = Array.from({ length: 5000 }, () => random.uuid());
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("rounds a quota without a change of the mean, and keeps whole numbers", () => {
    const random = new SeededRandom("quota");
    expect(random.quota(3)).toBe(3);
    const drawn = Array.from({ length: 2000 }, () => random.quota(0.25));
    const sum = drawn.reduce((total, one) => total + one, 0);
    expect(new Set(drawn)).toEqual(new Set([0, 1]));
    expect(sum).toBeGreaterThan(400);
    expect(sum).toBeLessThan(600);
  });

  it("never picks a value with weight 0, and throws for an empty list", () => {
    const random = new SeededRandom("pick");
    const picked = Array.from({ length: 200 }, () =>
      random.pickWeighted([
        ["never", 0],
        ["often", 3],
        ["seldom", 1],
      ]),
    );
    expect(new Set(picked)).toEqual(new Set(["often", "seldom"]));
    expect(() => random.pick([])).toThrow(RangeError);
  });

  it("keeps all items when shuffling", () => {
    const items = Array.from({ length: 50 }, (_, index) => index);
    const shuffled = new SeededRandom("shuffle").shuffle(items);
    expect(shuffled).not.toEqual(items);
    expect(shuffled.toSorted((a, b) => a - b)).toEqual(items);
  });
});
