import { MetricsQuery } from "@pragma/contracts/metrics-query";
import { describe, expect, it } from "vitest";
import {
  buildQueryHandlingHeaders,
  listRepeatedParameterIssues,
  listUnknownParameterIssues,
  parseHandlingPreference,
  parseQuery,
} from "./query-parameters.ts";

const known = new Set(["size", "since"]);

describe("the query of a request", () => {
  it("contains the first value and the number of each known parameter, and the names of the others once", () => {
    const query = parseQuery("http://api/v1/things?size=&s%69ze=2&size=&from=a&from=b&=c&since=%32026#since=3", known);
    const repeated = new Map([["size", 3]]);
    expect(query).toEqual({ values: { size: "", since: "2026" }, repeated, unknownNames: ["from"] });
    expect(parseQuery("http://api/v1/things", known)).toEqual({ values: {}, repeated: new Map(), unknownNames: [] });
  });

  it("states for each repeated parameter how to send one or several values", () => {
    const repeated = new Map([
      ["locationIds", 2],
      ["since", 3],
    ]);
    expect(listRepeatedParameterIssues(repeated, MetricsQuery.shape)).toEqual([
      {
        ...{ in: "query", path: "locationIds", code: "repeated_parameter" },
        message:
          "Must not be repeated. Send it once, with its values separated by commas: locationIds=first,second; got 2 times",
      },
      {
        ...{ in: "query", path: "since", code: "repeated_parameter" },
        message: "Must not be repeated. Send it once, with one value; got 3 times",
      },
    ]);
  });

  it("has no value for names that every object has", () => {
    const { values, unknownNames } = parseQuery("/?__proto__=1&constructor=2", known);
    expect([Object.keys(values), unknownNames]).toEqual([[], ["__proto__", "constructor"]]);
  });
});

describe("the preference for the handling of unknown parameters", () => {
  it.each([
    ["handling=strict", "strict"],
    ["Handling = Strict", "strict"],
    ['return=minimal; x=1, handling="strict"; y', "strict"],
    ["handling=lenient, handling=strict", "lenient"],
    ["handling=other", undefined],
    ['note="a, handling=strict"', undefined],
    ["respond-async", undefined],
    [`handling=strict, ${"x".repeat(600)}`, undefined],
    [undefined, undefined],
  ])("is read from the Prefer header %j", (header, expected) => {
    expect(parseHandlingPreference(header)).toBe(expected);
  });

  it("is confirmed in the response", () => {
    expect(buildQueryHandlingHeaders([], "strict")).toEqual({ "preference-applied": "handling=strict" });
    expect(buildQueryHandlingHeaders(["from"], "strict")).toEqual({ "preference-applied": "handling=strict" });
    expect(buildQueryHandlingHeaders(["from"], "lenient")).toEqual({
      "x-ignored-parameters": "from",
      "preference-applied": "handling=lenient",
    });
    expect(buildQueryHandlingHeaders([], undefined)).toBeUndefined();
  });
});

describe("the names of ignored parameters", () => {
  it("are encoded, so that they cannot add headers or further names", () => {
    const headers = buildQueryHandlingHeaders(["filter[day]", "a, b", "c\r\nset-cookie: d", "é"], undefined);
    expect(headers).toEqual({
      "x-ignored-parameters": "filter%5Bday%5D, a%2C%20b, c%0D%0Aset-cookie%3A%20d, %C3%A9",
    });
  });

  it("are cut when they are too long or too many", () => {
    const long = buildQueryHandlingHeaders([`${"a".repeat(63)}😀`], undefined);
    expect(long).toEqual({ "x-ignored-parameters": "a".repeat(63) });
    const many = buildQueryHandlingHeaders(
      Array.from({ length: 5_000 }, (_, index) => `name${index}`),
      undefined,
    );
    const value = many?.["x-ignored-parameters"] ?? "";
    expect(value.length).toBeLessThanOrEqual(1_010);
    expect(value).toMatch(/^name0, name1, .*, \.\.\.$/);
  });

  it("are all listed as issues, with the supported names", () => {
    const issues = listUnknownParameterIssues(["from", "to"], known);
    expect(issues.map(({ in: part, path, code }) => [part, path, code])).toEqual([
      ["query", "from", "unknown_parameter"],
      ["query", "to", "unknown_parameter"],
    ]);
    expect(issues[0]?.message).toContain("size, since");
  });
});
