import { ApiError } from "@pragma/contracts/errors";
import { describe, expect, it } from "vitest";
import { parseJson } from "./parse-json.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function refusalOf(body: Uint8Array): ApiError {
  try {
    parseJson(body);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}

describe("parseJson", () => {
  it("says at which position, line and column a body breaks", () => {
    const { code, message } = refusalOf(bytes('{\n  "id": 1,\n  "name" "x"\n}'));
    expect(code).toBe("malformed_json");
    expect(message).toContain("position 22 (line 3, column 10)");
  });

  it("refuses an empty body", () => {
    expect(refusalOf(bytes("")).message).toContain("empty");
  });

  it("refuses what is not UTF-8", () => {
    expect(refusalOf(Uint8Array.of(0x22, 0xff, 0x22)).message).toContain("UTF-8");
  });

  it("refuses a body that is nested beyond measure and cut short", () => {
    expect(refusalOf(bytes("[".repeat(200_000))).code).toBe("malformed_json");
  });
});
