import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import calculateTill from "./calculate-till.ts";
import { buildTestOrder, buildTestTill } from "./testing/till-fixtures.ts";

/** Returns the computed day of an order that was opened at this instant in a location with this time zone. */
function computeOrderDay(openedAt: string, timeZone: string): string | undefined {
  const till = buildTestTill([buildTestOrder({ openedAt })]);
  const bytes = Buffer.from(JSON.stringify(till));
  const hash = createHash("sha256").update(bytes).digest("hex");
  const ids = { tillId: till.id, locationId: "00000000-0000-4000-8000-000000000000" };
  return calculateTill({ bytes, hash, version: "V2", timeZone, ...ids })?.orders[0]?.day;
}

test.each([
  ["2026-05-29T21:59:59.999Z", "Europe/Paris", "2026-05-29"],
  ["2026-05-29T22:00:00.000Z", "Europe/Paris", "2026-05-30"],
  ["0050-06-01T10:00:00.000Z", "Europe/Paris", "0050-06-01"],
  ["0999-12-31T12:00:00.000Z", "Europe/Paris", "0999-12-31"],
  ["0001-01-01T00:00:00.000Z", "Europe/Paris", "0001-01-01"],
  ["0001-01-01T00:00:00.000Z", "America/New_York", "0001-01-01"],
  ["0001-12-31T12:00:00.000Z", "America/New_York", "0001-12-31"],
  ["9999-12-31T23:30:00.000Z", "Europe/Paris", "9999-12-31"],
  ["9999-12-31T23:30:00.000Z", "America/New_York", "9999-12-31"],
])("assigns an order opened at %s in %s to the day %s", (openedAt, timeZone, day) => {
  expect(computeOrderDay(openedAt, timeZone)).toBe(day);
});
