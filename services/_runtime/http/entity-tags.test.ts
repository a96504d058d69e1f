import { describe, expect, it } from "vitest";
import { parseEntityTags } from "./route-response.ts";

describe("entityTagsIn", () => {
  it.each([
    [undefined, []],
    ['"abc"', ["abc"]],
    ['"abc", W/"def" ,"g-h_i"', ["abc", "def", "g-h_i"]],
    ["abc", ["abc"]],
    ["*", ["*"]],
    ['""', [""]],
  ])("reads %s", (header, tags) => {
    expect(parseEntityTags(header)).toEqual(tags);
  });
});
