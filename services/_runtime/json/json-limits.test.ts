import { describe, expect, it } from "vitest";
import { checkJsonLimits, findJsonPartLimitIssue } from "./json-limits.ts";

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const unlimited = 10_000_000;

describe("checkJsonLimits", () => {
  const limits = { values: unlimited, containers: unlimited };
  /** Returns the JSON of an object with `count` different member names. `write` returns the JSON of each member. */
  const objectWithNames = (count: number, write: (name: string) => string) =>
    Buffer.from(`{${Array.from({ length: count }, (_, index) => write(`n${index}`)).join(",")}}`);

  it.each<[string, (name: string) => string]>([
    ["plain", (name) => `"${name}":1`],
    ["before spaces", (name) => `"${name}" \n\r\t:"c"`],
    ["with escaped quotes in them", (name) => `"${name}\\"x":0`],
    ["with an escaped backslash at their end", (name) => `"${name}\\\\":0`],
  ])("counts names that are %s", (_, write) => {
    expect(Object.keys(JSON.parse(objectWithNames(5_000, write).toString()))).toHaveLength(5_000);
    expect(checkJsonLimits(objectWithNames(5_000, write), limits)).toBeUndefined();
    expect(checkJsonLimits(objectWithNames(5_001, write), limits)?.issues[0]?.message).toContain(
      "5000 different member names",
    );
  });

  it("counts a repeated name once and does not count string values", () => {
    const list = Array.from({ length: 6_000 }, (_, index) => ({ a: `a${index}`, b: [`b${index}`] }));
    expect(checkJsonLimits(bytesOf(list), limits)).toBeUndefined();
  });

  it.each([
    ["members", { a: 1, b: "x", c: null }],
    ["items of an array", [1, 2, 3]],
    ["objects and arrays", { a: [{}] }],
  ])("counts %s", (_, body) => {
    expect(checkJsonLimits(bytesOf(body), { values: 3, containers: unlimited })).toBeUndefined();
    expect(checkJsonLimits(bytesOf(body), { values: 2, containers: unlimited })?.issues).toEqual([
      { in: "body", path: "", code: "too_big", message: "Must have at most 2 values in total" },
    ]);
  });

  it("counts objects and arrays separately", () => {
    const body = bytesOf({ a: [{ b: 1 }, { b: [] }] });
    expect(checkJsonLimits(body, { values: unlimited, containers: 5 })).toBeUndefined();
    expect(checkJsonLimits(body, { values: unlimited, containers: 4 })?.issues[0]?.message).toContain("4 objects");
  });

  it("reads only the bytes of its view of a larger buffer", () => {
    const bytes = bytesOf([1, 2, 3, 4]);
    expect(checkJsonLimits(bytes.subarray(0, 3), { values: 2, containers: 1 })).toBeUndefined();
  });
});

describe("findJsonPartLimitIssue", () => {
  const limits = { items: 20_000, levels: 5 };

  it("accepts small values and values that are not containers", () => {
    expect(findJsonPartLimitIssue({ list: [{ amount: 1 }] }, limits)).toBeUndefined();
    expect(findJsonPartLimitIssue(null, limits)).toBeUndefined();
    expect(findJsonPartLimitIssue("text", limits)).toBeUndefined();
  });

  it("counts the rows of all arrays together, except the rows of the excluded array", () => {
    const rows = Array.from({ length: 101 }, () => ({ list: Array.from({ length: 200 }, () => 0) }));
    expect(findJsonPartLimitIssue({ rows }, limits)).toMatchObject({ code: "too_big" });
    expect(findJsonPartLimitIssue({ rows: rows.slice(0, 99) }, limits)).toBeUndefined();
    expect(findJsonPartLimitIssue({ rows }, limits, { excluded: rows })).toBeUndefined();
  });

  it("counts levels of nesting", () => {
    expect(findJsonPartLimitIssue([[[[[]]]]], limits)).toBeUndefined();
    expect(findJsonPartLimitIssue([[[[[[]]]]]], limits)).toMatchObject({ code: "too_deep" });
  });
});
