import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getTestCommandProgram } from "./harness/command-program.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const opsProgram = getTestCommandProgram("ops");
const tillCount = 10;

let folder: string;
let file: string;
/** An installation with partitioned tables. */
let from: IsolatedTestEnvironment;
/** An installation whose tables are not partitioned, as after an upgrade. */
let to: IsolatedTestEnvironment;
const products: PragmaUnderTest[] = [];
let location: TestLocation;
let countsBefore: Record<string, number>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pragma-move-kills-"));
  file = join(folder, "location.archive");
  from = await createMigratedTestEnvironment();
  to = await createMigratedTestEnvironment();
  const product = await startPragmaUnderTest(from.variables);
  // Migrations do not replace tables while processes of version 1.0 use them. These sessions have the name of one.
  const previousVersions = ["reporting", "till_ingest"].map((service) =>
    postgres(to.variables.DATABASE_URL ?? "", {
      ...{ max: 1, connection: { application_name: `${to.namespace}_${service} 0123abcd` } },
    }),
  );
  for (const sql of previousVersions) await sql`select 1`;
  products.push(product, await startPragmaUnderTest(to.variables));
  await Promise.all(previousVersions.map((sql) => sql.end()));
  location = await createTestLocation(product);
  for (let seed = 0; seed < tillCount; seed++) {
    const body = generateTill({ seed, tillId: randomUUID(), orders: 60, day: "2026-04-01" });
    expect((await location.request("POST", "/v2/tills/", { body })).status).toBe(201);
  }
  await location.waitForReports(tillCount);
  await runCommand(from, ["export", location.locationId, "--output", file]);
  countsBefore = await countPersistentRows(from);
}, 240_000);
afterAll(async () => {
  for (const product of products) await product.stop();
  await from?.remove();
  await to?.remove();
  await rm(folder, { recursive: true, force: true });
});

const variablesOf = ({ variables }: IsolatedTestEnvironment) => ({
  ...{ PATH: process.env.PATH, LOCATION_ARCHIVE_KEY: "a key of an archive, of 32 characters or more" },
  ...variables,
});

async function runCommand(environment: IsolatedTestEnvironment, args: string[]) {
  const options = { env: variablesOf(environment) };
  const { stdout } = await promisify(execFile)(process.execPath, [opsProgram, "location", ...args], options);
  return JSON.parse(stdout);
}

/** Counts the rows of the location, without those that requests and events leave for a while. */
async function countPersistentRows(environment: IsolatedTestEnvironment): Promise<Record<string, number>> {
  const counts: Record<string, number> = await runCommand(environment, ["count", location.locationId]);
  const isTransient = (name: string) =>
    /\.(outbox|sent_events|daily_usage|location_writes|request_counts_\w+|failed_requests)$/.test(name);
  return Object.fromEntries(Object.entries(counts).filter(([name]) => !isTransient(name)));
}

/** Starts a command again and again, and kills it after an ever longer time, until it ends by itself. Returns the kills. */
async function runWithKills(environment: IsolatedTestEnvironment, args: string[]): Promise<number> {
  for (let kills = 0; ; kills++) {
    const command = spawn(process.execPath, [opsProgram, "location", ...args], {
      ...{ env: variablesOf(environment), stdio: ["ignore", "ignore", "inherit"] },
    });
    const exited = once(command, "exit");
    await Promise.race([exited, sleep(500 * 1.12 ** kills)]);
    command.kill("SIGKILL");
    const [code] = await exited;
    if (code === 0) return kills;
    // An error would be repeated forever.
    expect(code).toBeNull();
  }
}

describe("a command that is killed at any moment", () => {
  it("has imported every row once when it has ended, into tables that are not partitioned", async () => {
    expect(await runWithKills(to, ["import", file])).toBeGreaterThan(3);
    expect(await countPersistentRows(to)).toEqual(countsBefore);
    const sql = postgres(to.variables.DATABASE_URL ?? "", { max: 1 });
    const [table] = await sql`select relkind from pg_class where oid = ${`${to.namespace}_reporting.orders`}::regclass`;
    expect(table).toEqual({ relkind: "r" });
    await sql.end();
  }, 240_000);

  it("has removed every row when it has ended", async () => {
    const { locationId } = location;
    for (const environment of [from, to]) {
      expect(await runWithKills(environment, ["remove", locationId, "--yes", locationId])).toBeGreaterThan(3);
      expect(await countPersistentRows(environment)).toEqual({});
      const receipt = await runCommand(environment, ["remove", locationId, "--yes", locationId]);
      expect(receipt).toMatchObject({ removedAt: expect.any(String), objects: tillCount });
      expect(receipt.rows).toMatchObject(countsBefore);
    }
  }, 240_000);
});
