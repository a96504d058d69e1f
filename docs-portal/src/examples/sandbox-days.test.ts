import { expect, it } from "vitest";
import { moveDaysToSandbox } from "./sandbox-days.ts";

// A Monday.
const createdAt = "2026-11-30T09:00:00.000Z";

it.each([
  ["a Saturday", "2026-05-30", "2026-05-30", "2026-11-28", "2026-11-28"],
  ["a week from Monday to Sunday", "2026-05-25", "2026-05-31", "2026-11-23", "2026-11-29"],
  ["a month", "2026-05-01", "2026-05-31", "2026-10-30", "2026-11-29"],
  ["a day after the creation", "2026-12-07", "2026-12-07", "2026-11-23", "2026-11-23"],
])("moves %s to the days before the sandbox", (_, since, until, movedSince, movedUntil) => {
  const path = (from: string, to: string) => `/v1/metrics?measures=sales&since=${from}&until=${to}&limit=5`;
  expect(moveDaysToSandbox(path(since, until), createdAt)).toBe(path(movedSince, movedUntil));
});

it.each(["/v2/reports?size=3", "/v2/reports?size=500&since=2026-13-01", "/v1/days/2026-05-30"])(
  "leaves %s as it is",
  (path) => expect(moveDaysToSandbox(path, createdAt)).toBe(path),
);

it.each([
  (since: string, until: string) => `curl "$PRAGMA_URL/v1/metrics?measures=tips&since=${since}&until=${until}"`,
  (since: string, until: string) =>
    `  --data-urlencode 'since=${since}' --data-urlencode 'until=${until}' \\\n  --data-urlencode 'limit=5'`,
])("moves the days of a command", (command) => {
  expect(moveDaysToSandbox(command("2026-05-25", "2026-05-31"), createdAt)).toBe(command("2026-11-23", "2026-11-29"));
});
