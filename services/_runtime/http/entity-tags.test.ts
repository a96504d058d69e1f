import { describe, expect, it } from "vitest";
import { parseEntityTags } from "./route-response.ts";

describe("parseEntityTags", () => {
  it.each([
    [undefined, []],
    ['"abc"', ["abc"]],
    ['"abc", W/"def" ,"g-h_i"', ["abc", "def", "g-h_i"]],
    ["abc", ["abc"]],
    ["*", ["*"]],
    ['""', [""]],
  ])("parses %s", (header, tags) => {
    expect(parseEntityTags(header)).toEqual(tags);
  });
});
