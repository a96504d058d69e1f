import { describe, expect, it } from "vitest";
import { makeOrders, makeTill } from "./testing/make-till.ts";
import { excessOf, hasTooManyContainers } from "./till-extent.ts";

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

describe("hasTooManyContainers", () => {
  it("lets through a till of 3,000 orders with ten products each", () => {
    expect(hasTooManyContainers(bytesOf(makeTill({ orderList: makeOrders(3_000, { products: 10 }) })))).toBe(false);
  });

  it("tells a body of nothing but empty objects, or lists", () => {
    expect(hasTooManyContainers(bytesOf(Array.from({ length: 500_000 }, () => ({}))))).toBe(true);
    expect(hasTooManyContainers(bytesOf(Array.from({ length: 500_000 }, () => [])))).toBe(true);
  });
});

describe("excessOf", () => {
  it("finds nothing to say of an order", () => {
    expect(excessOf(makeTill().orderList[0])).toBeUndefined();
    expect(excessOf(null)).toBeUndefined();
    expect(excessOf("text")).toBeUndefined();
  });

  it("counts the rows of all lists together", () => {
    const rows = Array.from({ length: 101 }, () => ({ list: Array.from({ length: 200 }, () => 0) }));
    expect(excessOf({ rows })).toMatchObject({ code: "too_big" });
    expect(excessOf({ rows: rows.slice(0, 99) })).toBeUndefined();
  });
});
