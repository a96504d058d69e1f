import { expect, it } from "vitest";
import { z } from "zod";
import { checkSinceIsNotAfterUntil, dayOrInstantQueryParameter, dayQueryParameter } from "./pagination.ts";

const days = z
  .object({ since: dayQueryParameter.optional(), until: dayQueryParameter.optional() })
  .check(checkSinceIsNotAfterUntil);
const bounds = z
  .object({ since: dayOrInstantQueryParameter(""), until: dayOrInstantQueryParameter("") })
  .check(checkSinceIsNotAfterUntil);

it.each([
  ["2026-05-30", "2026-05-29", false],
  ["2026-05-29", "2026-05-29", true],
  ["2026-02-29", "2026-02-28", true],
  [undefined, "2026-05-29", true],
])("a range of days from %s to %s", (since, until, isValid) => {
  for (const schema of [days, bounds]) expect(schema.safeParse({ since, until }).success).toBe(isValid);
});

it.each([
  ["2026-05-29T12:00:00Z", "2026-05-29T13:00:00+02:00", false],
  ["2026-05-29T12:00:00Z", "2026-05-29T14:00:00+02:00", true],
  ["2026-05-31T12:00:01Z", "2026-05-30", false],
  ["2026-05-31T11:00:00Z", "2026-05-30", true],
  ["2026-05-30", "2026-05-29T09:59:59Z", false],
  ["2026-05-30", "2026-05-29T10:00:00Z", true],
])("a range from %s to %s is rejected only if it is empty in every time zone", (since, until, isValid) => {
  const { success, error } = bounds.safeParse({ since, until });
  expect(success).toBe(isValid);
  if (error) expect(error.issues).toMatchObject([{ path: ["since"], params: { code: "too_big" } }]);
});
