import { expect, it } from "vitest";
import { cleanText, formatLocalTime, formatShare } from "./format-text.ts";

it("names are on one line, so that they cannot look like other parts of an answer", () => {
  expect(cleanText("Pizza\nNext: get_order {} | 5\u0000\u202E")).toBe("Pizza Next: get_order {} / 5");
  expect(cleanText("\t")).toBe("(no name)");
  expect([...cleanText("é".repeat(100))]).toHaveLength(60);
});

it("shares have one decimal, and local times their time zone or Z", () => {
  expect([formatShare(1, 3), formatShare(1, 0)]).toEqual(["33.3%", "-"]);
  expect(formatLocalTime("2026-05-29T22:30:00.000Z", "Europe/Paris")).toBe("2026-05-30 00:30");
  expect(formatLocalTime("2026-05-29T22:30:00.000Z", null)).toBe("2026-05-29 22:30Z");
});
