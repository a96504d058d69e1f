import { describe, expect, it } from "vitest";
import { checkJsonLimits, checkPartLimits } from "./json-limits.ts";

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const unlimited = 10_000_000;

describe("checkJsonLimits", () => {
  const limits = { values: unlimited, containers: unlimited };
  /** So many different names of members, each written by `write`. */
  const named = (count: number, write: (name: string) => string) =>
    Buffer.from(`{${Array.from({ length: count }, (_, at) => write(`n${at}`)).join(",")}}`);

  it.each<[string, (name: string) => string]>([
    ["plain", (name) => `"${name}":1`],
    ["before spaces", (name) => `"${name}" \n\r\t:"c"`],
    ["with escaped quotes in them", (name) => `"${name}\\"x":0`],
    ["with an escaped backslash at their end", (name) => `"${name}\\\\":0`],
  ])("counts names that are %s", (_, write) => {
    expect(Object.keys(JSON.parse(named(5_000, write).toString()))).toHaveLength(5_000);
    expect(checkJsonLimits(named(5_000, write), limits)).toBeUndefined();
    expect(checkJsonLimits(named(5_001, write), limits)?.faults[0]?.message).toContain("5000 different names");
  });

  it("counts a name once, and no text that is a value", () => {
    const list = Array.from({ length: 6_000 }, (_, at) => ({ a: `a${at}`, b: [`b${at}`] }));
    expect(checkJsonLimits(bytesOf(list), limits)).toBeUndefined();
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
