import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getTestCommandProgram } from "./harness/command-program.ts";
import { runTestLocationCommand } from "./harness/location-command.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const opsProgram = getTestCommandProgram("ops");
// The id of a till determines how many of its orders are finished.
const tills = [1, 2].map((seed) =>
  generateTill({ seed, tillId: `00000000-0000-4000-8000-00000000000${seed}`, orders: 3, day: "2026-04-01" }),
);

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let location: TestLocation;
let otherLocation: TestLocation;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment();
  product = await startPragmaUnderTest(environment.variables);
  location = await createTestLocation(product, { scopes: ["tills:write", "reports:read", "webhooks:write"] });
  otherLocation = await createTestLocation(product, { scopes: [] });
  for (const body of tills) expect((await location.request("POST", "/v2/tills/", { body })).status).toBe(201);
  await location.create("/v1/recipients/", { name: "Stock" });
  await location.waitForReports(tills.length);
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

/** Runs the command as operators do, in a process of its own. */
async function runOperatorCommand(args: string[]) {
  const options = { env: { PATH: process.env.PATH, ...environment.variables } };
  return JSON.parse((await promisify(execFile)(process.execPath, [opsProgram, "location", ...args], options)).stdout);
}

const countRows = (locationId: string): Promise<Record<string, number>> =>
  runTestLocationCommand(["count", locationId], environment.variables);

describe("npm run ops -- location count", () => {
  it("counts the rows of one location in the tables of all services", async () => {
    expect(await runOperatorCommand(["count", location.locationId])).toMatchObject({
      "accounts.locations": 1,
      "accounts.consumers": 1,
      "accounts.api_keys": 1,
      "till-ingest.tills": 2,
      "till-ingest.till_versions": 2,
      "till-ingest.till_directory": 2,
      "reporting.tills": 2,
      "reporting.reports": 2,
      "reporting.orders": 6,
      "webhooks.recipients": 1,
      "webhooks.signing_secrets": 1,
    });
    const others = await countRows(otherLocation.locationId);
    expect(others).toMatchObject({ "accounts.locations": 1, "accounts.api_keys": 1 });
    expect(
      Object.keys(others).filter((name) =>
        /^(till-ingest|reporting|webhooks)\.(?!daily_usage|change|all_changes|unsequenced_changes)/.test(name),
      ),
    ).toEqual([]);
  });

  it("fails for a location that has never existed", async () => {
    const unknownId = randomUUID();
    await expect(countRows(unknownId)).rejects.toThrow(`The location ${unknownId} does not exist`);
  });

  it("refuses to run when it is not decided which rows of a table belong to a location", async () => {
    const sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1 });
    const schema = sql(`${environment.namespace}_webhooks`);
    await sql`create table ${schema}.undecided (id uuid primary key)`;
    try {
      await expect(countRows(location.locationId)).rejects.toThrow(/webhooks\.undecided/);
      // A column that is never null decides it.
      await sql`alter table ${schema}.undecided add column location_id uuid not null`;
      await sql`insert into ${schema}.undecided values (${randomUUID()}, ${location.locationId})`;
      expect(await countRows(location.locationId)).toMatchObject({ "webhooks.undecided": 1 });
    } finally {
      await sql`drop table ${schema}.undecided`;
      await sql.end();
    }
  });

  it("prints the usage text without the id of a location, and for unknown commands", async () => {
    await expect(runOperatorCommand(["count", "all"])).rejects.toThrow(
      /need the id of a location[\s\S]*dead-letters list/,
    );
    await expect(runTestLocationCommand(["export", location.locationId], environment.variables)).rejects.toThrow(
      "Unknown command: location export.",
    );
  });
});
