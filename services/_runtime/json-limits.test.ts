import { describe, expect, it } from "vitest";
import { checkJsonLimits, checkPartLimits } from "./json-limits.ts";

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const unlimited = 10_000_000;

describe("checkJsonLimits", () => {
  it("tells names apart that have escaped quotes in them", () => {
    const members = Array.from({ length: 20 }, (_, at) => `"k${at}\\"x":0`);
    const text = Buffer.from(`{${members.join(",")},"a\\\\":1}`);
    const limits = { values: 1_000, containers: 1_000 };
    expect(Object.keys(JSON.parse(text.toString()))).toHaveLength(21);
    expect(checkJsonLimits(text, { ...limits, names: 21 })).toBeUndefined();
    expect(checkJsonLimits(text, { ...limits, names: 20 })?.faults[0]?.message).toContain("different names");
  });

  it.each([
    ["members, known or not", { a: 1, b: "x", c: null }],
    ["items of a list", [1, 2, 3]],
    ["objects and lists", { a: [{}] }],
  ])("counts %s", (_, body) => {
    expect(checkJsonLimits(bytesOf(body), { values: 3, containers: unlimited })).toBeUndefined();
    expect(checkJsonLimits(bytesOf(body), { values: 2, containers: unlimited })?.faults).toEqual([
      { in: "body", path: "", code: "too_big", message: "Must have at most 2 values in all" },
    ]);
  });

  it("counts objects and lists by themselves", () => {
    const body = bytesOf({ a: [{ b: 1 }, { b: [] }] });
    expect(checkJsonLimits(body, { values: unlimited, containers: 5 })).toBeUndefined();
    expect(checkJsonLimits(body, { values: unlimited, containers: 4 })?.faults[0]?.message).toContain("4 objects");
  });

  it("counts different names, however they are written", () => {
    const limits = { values: unlimited, containers: unlimited, names: 3 };
    const text = (body: string) => new TextEncoder().encode(body);
    expect(checkJsonLimits(text('[{"a":1,"b":2},{"a" : "c","b"\n:{"c":"d"}}]'), limits)).toBeUndefined();
    expect(checkJsonLimits(text('{"a":1,"b" :2,"c"\n:3,"d"\t\r:4}'), limits)?.faults[0]?.message).toContain(
      "3 different names",
    );
  });

  it("looks at its own bytes only", () => {
    const bytes = bytesOf([1, 2, 3, 4]);
    expect(checkJsonLimits(bytes.subarray(0, 3), { values: 2, containers: 1 })).toBeUndefined();
  });
});

describe("checkPartLimits", () => {
  const most = { items: 20_000, levels: 5 };

  it("finds nothing to say of what is small, or is no container", () => {
    expect(checkPartLimits({ list: [{ amount: 1 }] }, most)).toBeUndefined();
    expect(checkPartLimits(null, most)).toBeUndefined();
    expect(checkPartLimits("text", most)).toBeUndefined();
  });

  it("counts the rows of all lists together, but of those left out", () => {
    const rows = Array.from({ length: 101 }, () => ({ list: Array.from({ length: 200 }, () => 0) }));
    expect(checkPartLimits({ rows }, most)).toMatchObject({ code: "too_big" });
    expect(checkPartLimits({ rows: rows.slice(0, 99) }, most)).toBeUndefined();
    expect(checkPartLimits({ rows }, most, { besides: rows })).toBeUndefined();
  });

  it("counts levels", () => {
    expect(checkPartLimits([[[[[]]]]], most)).toBeUndefined();
    expect(checkPartLimits([[[[[[]]]]]], most)).toMatchObject({ code: "too_deep" });
  });
});
