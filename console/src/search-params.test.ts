import { expect, it } from "vitest";
import { parseSearch, readChoice, readDay, readId, readPage, readText, stringifySearch } from "./search-params.ts";

it("keeps texts that look like numbers, and leaves out empty values", () => {
  expect(stringifySearch({ find: "12", since: undefined, until: "" })).toBe("?find=12");
  expect(parseSearch("?find=12&since=2026-06-01")).toEqual({ find: "12", since: "2026-06-01" });
  expect(stringifySearch({})).toBe("");
});

it("ignores values that a view cannot use", () => {
  const search = parseSearch("?since=2026-13-01&until=yesterday&report=1&page=-1&state=lost&find=%20");
  expect(readDay(search, "since")).toBeUndefined();
  expect(readDay(search, "until")).toBeUndefined();
  expect(readId(search, "report")).toBeUndefined();
  expect(readPage(search)).toBeUndefined();
  expect(readChoice(search, "state", ["failed"])).toBeUndefined();
  expect(readText(search, "find")).toBeUndefined();
});
