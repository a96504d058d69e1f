import { randomUUID } from "node:crypto";
import { isAcceptedTimeZone } from "@pragma/contracts/time-zone";
import type { Database } from "@pragma/runtime/database/postgres";
import { createPreviousDatabaseSchema } from "@pragma/runtime/testing/previous-schema";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, expect, test } from "vitest";

/** The names that version 1.1 accepted and that are rejected now, and others. */
const formerNames = [
  ..."ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST".split(" "),
  ...["AST4", "EST5", "CST6", "MST7", "PST8", "YST9", "HST10"].map((name) => `SystemV/${name}`),
  ...["AST4ADT", "EST5EDT", "CST6CDT", "MST7MDT", "PST8PDT", "YST9YDT"].map((name) => `SystemV/${name}`),
  ...["US/Pacific-New", "us/pacific-new", "Europe/Paris", "CET", "Asia/Kolkata"],
];
const timeZones = new Map<string, string>();
let environment: IsolatedTestEnvironment;
let db: Database;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const previous = await createPreviousDatabaseSchema(environment, { _runtime: 17, accounts: 10 });
  db = previous.db;
  const { sql } = db;
  for (const timezone of formerNames) {
    const location = { id: randomUUID(), application: "POPINA", legacyId: null, organizationId: "1", agencyId: "2" };
    const settings = sql.json({ locationName: timezone, timezone });
    await sql`insert into locations ${sql({ ...location, options: sql.json({}), settingsId: randomUUID(), settings })}`;
  }
  await previous.migrate();
  const rows = await sql<{ name: string; timeZone: string }[]>`
    select settings ->> 'locationName' as name, time_zone from locations`;
  for (const { name, timeZone } of rows) timeZones.set(name, timeZone);
});
afterAll(async () => {
  await db?.close();
  await environment?.remove();
});

test.each(formerNames)("a location with the time zone %s has an accepted one after the upgrade", (name) => {
  expect(isAcceptedTimeZone(timeZones.get(name) ?? "")).toBe(true);
});

test.each([
  ["IST", "Asia/Kolkata"],
  ["SystemV/EST5EDT", "America/New_York"],
  ["Europe/Paris", "Europe/Paris"],
  ["CET", "CET"],
])("%s becomes %s", (name, timeZone) => expect(timeZones.get(name)).toBe(timeZone));
