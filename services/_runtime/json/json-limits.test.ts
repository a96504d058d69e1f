import { describe, expect, it } from "vitest";
import { checkBodyPartLimits, checkJsonLimits } from "./json-limits.ts";

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const unlimited = 10_000_000;

describe("checkJsonLimits", () => {
  const limits = { values: unlimited, containers: unlimited };
  /** So many different names of members, each written by `write`. */
  const objectWithNames = (count: number, write: (name: string) => string) =>
    Buffer.from(`{${Array.from({ length: count }, (_, at) => write(`n${at}`)).join(",")}}`);

  it.each<[string, (name: string) => string]>([
    ["plain", (name) => `"${name}":1`],
    ["before spaces", (name) => `"${name}" \n\r\t:"c"`],
    ["with escaped quotes in them", (name) => `"${name}\\"x":0`],
    ["with an escaped backslash at their end", (name) => `"${name}\\\\":0`],
  ])("counts names that are %s", (_, write) => {
    expect(Object.keys(JSON.parse(objectWithNames(5_000, write).toString()))).toHaveLength(5_000);
    expect(checkJsonLimits(objectWithNames(5_000, write), limits)).toBeUndefined();
    expect(checkJsonLimits(objectWithNames(5_001, write), limits)?.issues[0]?.message).toContain(
      "5000 different names",
    );
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
    expect(checkJsonLimits(bytesOf(body), { values: 2, containers: unlimited })?.issues).toEqual([
      { in: "body", path: "", code: "too_big", message: "Must have at most 2 values in all" },
    ]);
  });

  it("counts objects and lists by themselves", () => {
    const body = bytesOf({ a: [{ b: 1 }, { b: [] }] });
    expect(checkJsonLimits(body, { values: unlimited, containers: 5 })).toBeUndefined();
    expect(checkJsonLimits(body, { values: unlimited, containers: 4 })?.issues[0]?.message).toContain("4 objects");
  });

  it("looks at its own bytes only", () => {
    const bytes = bytesOf([1, 2, 3, 4]);
    expect(checkJsonLimits(bytes.subarray(0, 3), { values: 2, containers: 1 })).toBeUndefined();
  });
});

describe("checkPartLimits", () => {
  const limits = { items: 20_000, levels: 5 };

  it("finds nothing to say of what is small, or is no container", () => {
    expect(checkBodyPartLimits({ list: [{ amount: 1 }] }, limits)).toBeUndefined();
    expect(checkBodyPartLimits(null, limits)).toBeUndefined();
    expect(checkBodyPartLimits("text", limits)).toBeUndefined();
  });

  it("counts the rows of all lists together, but of those left out", () => {
    const rows = Array.from({ length: 101 }, () => ({ list: Array.from({ length: 200 }, () => 0) }));
    expect(checkBodyPartLimits({ rows }, limits)).toMatchObject({ code: "too_big" });
    expect(checkBodyPartLimits({ rows: rows.slice(0, 99) }, limits)).toBeUndefined();
    expect(checkBodyPartLimits({ rows }, limits, { besides: rows })).toBeUndefined();
  });

  it("counts levels", () => {
    expect(checkBodyPartLimits([[[[[]]]]], limits)).toBeUndefined();
    expect(checkBodyPartLimits([[[[[[]]]]]], limits)).toMatchObject({ code: "too_deep" });
  });
});
