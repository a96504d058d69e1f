import { describe, expect, it } from "vitest";
import { excessOf, hasMoreContainersThan } from "./body-extent.ts";

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

describe("hasMoreContainersThan", () => {
  const body = bytesOf([{ list: [1, 2, 3] }, "text", 4, {}]);

  it("counts objects and lists", () => {
    expect(hasMoreContainersThan(4, body)).toBe(false);
    expect(hasMoreContainersThan(3, body)).toBe(true);
  });

  it("tells a body of nothing but empty objects, or lists", () => {
    expect(hasMoreContainersThan(400_000, bytesOf(Array.from({ length: 500_000 }, () => ({}))))).toBe(true);
    expect(hasMoreContainersThan(400_000, bytesOf(Array.from({ length: 500_000 }, () => [])))).toBe(true);
  });
});

describe("excessOf", () => {
  const most = { items: 20_000, levels: 5 };

  it("finds nothing to say of what is small, or is no container", () => {
    expect(excessOf({ list: [{ amount: 1 }] }, most)).toBeUndefined();
    expect(excessOf(null, most)).toBeUndefined();
    expect(excessOf("text", most)).toBeUndefined();
  });

  it("counts the rows of all lists together, but of those left out", () => {
    const rows = Array.from({ length: 101 }, () => ({ list: Array.from({ length: 200 }, () => 0) }));
    expect(excessOf({ rows }, most)).toMatchObject({ code: "too_big" });
    expect(excessOf({ rows: rows.slice(0, 99) }, most)).toBeUndefined();
    expect(excessOf({ rows }, most, { besides: rows })).toBeUndefined();
  });

  it("counts levels", () => {
    expect(excessOf([[[[[]]]]], most)).toBeUndefined();
    expect(excessOf([[[[[[]]]]]], most)).toMatchObject({ code: "too_deep" });
  });
});
