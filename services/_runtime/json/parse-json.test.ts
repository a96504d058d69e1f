import { ApiError } from "@pragma/contracts/errors";
import { describe, expect, it } from "vitest";
import { parseJsonBody } from "./parse-json.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function errorThrownFor(body: Uint8Array): ApiError {
  try {
    parseJsonBody(body);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("The body was accepted.");
}

describe("parseJsonBody", () => {
  it("reports the position, line and column of a syntax error", () => {
    const { code, message } = errorThrownFor(bytes('{\n  "id": 1,\n  "name" "x"\n}'));
    expect(code).toBe("malformed_json");
    expect(message).toContain("position 22 (line 3, column 10)");
  });

  it.each([
    ["{a: 1}", "a number, true, false, null or text in double quotes at position 1"],
    ['{"a": 1,}', "a property name in double quotes at position 8"],
    ["[1,]", "a value at position 3"],
    ['{"a" 1}', "a colon after the property name at position 5"],
    ["[1 2]", "a comma, or the end of the object or array at position 3"],
    ['{"a": 1', "the rest of the object, up to its closing } at position 7"],
    ["[1", "the rest of the array, up to its closing ] at position 2"],
    ["{} {}", "the end of the body at position 3"],
    ["[/* 1 */]", "something other than a comment at position 1"],
    ['["a', "a closing double quote, on the same line, of the string at position 1"],
    ["[1.]", "more digits in the number at position 1"],
    ['["\\u12"]', "four hexadecimal digits after each \\u in the string at position 1"],
    ['["\\q"]', 'one of " \\ / b f n r t u after each backslash in the string at position 1'],
    ['["\t"]', "an escape such as \\t for each control character in the string at position 1"],
  ])("describes what was expected in %s", (body, expected) => {
    expect(errorThrownFor(bytes(body)).message).toContain(`The body is not valid JSON: expected ${expected} (line 1,`);
  });

  it("rejects an empty body", () => {
    expect(errorThrownFor(bytes("")).message).toContain("empty");
  });

  it("rejects a body that is not UTF-8", () => {
    expect(errorThrownFor(Uint8Array.of(0x22, 0xff, 0x22)).message).toContain("UTF-8");
  });

  it("rejects a truncated body with 200,000 levels of nesting", () => {
    expect(errorThrownFor(bytes("[".repeat(200_000))).code).toBe("malformed_json");
  });
});
