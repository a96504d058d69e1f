import { expect, test } from "vitest";
import { createLocalToUtcConverter } from "./local-to-utc.ts";

test.each([
  ["Europe/Paris", "2026-07-14T12:00:00", "2026-07-14T10:00:00.000Z"],
  ["Europe/Paris", "2026-01-14T12:00:00.5", "2026-01-14T11:00:00.500Z"],
  ["Europe/Paris", "2026-01-14T12:00", "2026-01-14T11:00:00.000Z"],
  ["Europe/Paris", "2026-01-14T12:00:00.123456", "2026-01-14T11:00:00.123456Z"],
  ["Indian/Reunion", "2026-01-14T02:00:00", "2026-01-13T22:00:00.000Z"],
  ["America/Martinique", "2026-01-14T22:00:00", "2026-01-15T02:00:00.000Z"],
])("in %s, the local time %s is %s", (timeZone, localTime, instant) => {
  expect(createLocalToUtcConverter(timeZone)(localTime)).toBe(instant);
});

test.each([
  ["skipped: moved forward by the gap", "2026-03-29T02:30:00", "2026-03-29T01:30:00.000Z"],
  ["the last before the gap", "2026-03-29T01:59:59", "2026-03-29T00:59:59.000Z"],
  ["the first after the gap", "2026-03-29T03:00:00", "2026-03-29T01:00:00.000Z"],
  ["repeated: the first occurrence", "2026-10-25T02:30:00", "2026-10-25T00:30:00.000Z"],
  ["the first after the repeated hour", "2026-10-25T03:00:00", "2026-10-25T02:00:00.000Z"],
])("converts a local time that is %s", (_, localTime, instant) => {
  expect(createLocalToUtcConverter("Europe/Paris")(localTime)).toBe(instant);
});

test("keeps a date-time with an offset, and null", () => {
  const toInstant = createLocalToUtcConverter("Europe/Paris");
  expect(toInstant("2026-07-14T12:00:00.000Z")).toBe("2026-07-14T12:00:00.000Z");
  expect(toInstant(null)).toBeNull();
});
