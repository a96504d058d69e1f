import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompressSync } from "node:zlib";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { readLocationArchive } from "@pragma/services/commands/location-archive";
import { generateTill } from "@pragma/simulator/generate-till";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getTestCommandProgram } from "./harness/command-program.ts";
import { runTestLocationCommand } from "./harness/location-command.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const opsProgram = getTestCommandProgram("ops");
const archiveKey = "a key of an archive, of 32 characters or more";
const hmacSecret = "5e".repeat(32);
// The id of a till determines how many of its orders are finished.
const tills = [1, 2].map((seed) =>
  generateTill({ seed, tillId: `00000000-0000-4000-8000-00000000000${seed}`, orders: 3, day: "2026-04-01" }),
);

let folder: string;
let file: string;
let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let location: TestLocation;
let otherLocation: TestLocation;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pragma-archive-"));
  file = join(folder, "location.archive");
  environment = await createMigratedTestEnvironment();
  product = await startPragmaUnderTest(environment.variables);
  location = await createTestLocation(product, { scopes: ["tills:write", "reports:read", "webhooks:write"] });
  const other = await createTestLocation(product, { scopes: ["tills:write", "reports:read"] });
  otherLocation = await createTestLocation(product, { scopes: [] });
  for (const body of tills) expect((await location.request("POST", "/v2/tills/", { body })).status).toBe(201);
  const othersTill = generateTill({ seed: 3, tillId: randomUUID(), orders: 3, day: "2026-04-01" });
  expect((await other.request("POST", "/v2/tills/", { body: othersTill })).status).toBe(201);
  await location.create("/v1/recipients/", { id: randomUUID(), name: "Stock", hmacSecret });
  await location.waitForReports(tills.length);
}, 60_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
  await rm(folder, { recursive: true, force: true });
});

const variablesWithKey = (key = archiveKey) => ({
  PATH: process.env.PATH,
  ...environment.variables,
  LOCATION_ARCHIVE_KEY: key,
});

/** Runs the command as operators do, in a process of its own. */
async function runOperatorCommand(args: string[]) {
  const options = { env: variablesWithKey() };
  return JSON.parse((await promisify(execFile)(process.execPath, [opsProgram, "location", ...args], options)).stdout);
}

const runLocationCommand = (args: string[], key?: string) => runTestLocationCommand(args, variablesWithKey(key));

describe("npm run ops -- location export", () => {
  it("writes the rows, secrets and bodies of one location to an encrypted archive", async () => {
    const manifest = await runOperatorCommand(["export", location.locationId, "--output", file]);
    expect(manifest).toMatchObject({
      locationId: location.locationId,
      missingObjects: [],
      parts: {
        "accounts.locations": { count: 1 },
        "accounts.api_keys": { count: 1 },
        "till-ingest.tills": { count: 2 },
        "reporting.reports": { count: 2 },
        "reporting.orders": { count: 6 },
        "webhooks.signing_secrets": { count: 1 },
        objects: { count: 2 },
      },
    });
    expect(await runOperatorCommand(["verify", file])).toEqual(manifest);

    const bodies: unknown[] = [];
    let exportedSecret: unknown;
    for await (const line of readLocationArchive(file, archiveKey)) {
      const [part = ""] = line.split(" ", 1);
      const values = JSON.parse(line.slice(part.length + 1));
      if (part === "objects")
        bodies.push(JSON.parse(brotliDecompressSync(Buffer.from(values.stored, "base64")).toString()));
      if (part === "webhooks.signing_secrets") exportedSecret = values.encrypted_secret;
    }
    const byId = (list: unknown[]) => new Map(list.map((till) => [(till as { id: string }).id, till]));
    expect(byId(bodies)).toEqual(byId(JSON.parse(JSON.stringify(tills))));
    expect(exportedSecret).toBe(hmacSecret);
  });

  it("refuses an archive that is damaged or incomplete, and another key", async () => {
    const bytes = await readFile(file);
    const damaged = join(folder, "damaged.archive");
    for (const position of [200, Math.floor(bytes.length / 2), bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(position) ^ 1, position);
      await writeFile(damaged, changed);
      await expect(runLocationCommand(["verify", damaged])).rejects.toThrow("The archive is damaged or incomplete.");
    }
    await writeFile(damaged, bytes.subarray(0, bytes.length - 20));
    await expect(runLocationCommand(["verify", damaged])).rejects.toThrow("The archive is damaged or incomplete.");
    await expect(runLocationCommand(["verify", file], "x".repeat(32))).rejects.toThrow(/not the key/);
    await writeFile(damaged, "{}\n");
    await expect(runLocationCommand(["verify", damaged])).rejects.toThrow(/not an archive/);
  });

  it("refuses to run when it is not decided whether a column names objects of a location", async () => {
    const sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1 });
    const schema = sql(`${environment.namespace}_reporting`);
    await sql`create table ${schema}.undecided (location_id uuid not null, object_key text)`;
    try {
      const exporting = runLocationCommand(["export", location.locationId, "--output", join(folder, "none")]);
      await expect(exporting).rejects.toThrow(/reporting\.undecided\.object_key names objects/);
    } finally {
      await sql`drop table ${schema}.undecided`;
      await sql.end();
    }
  });

  it("leaves no file when the location does not exist", async () => {
    const before = await readdir(folder);
    await expect(runLocationCommand(["export", randomUUID(), "--output", join(folder, "none")])).rejects.toThrow(
      /does not exist/,
    );
    expect(await readdir(folder)).toEqual(before);
  });
});

const countRows = (locationId: string): Promise<Record<string, number>> => runLocationCommand(["count", locationId]);

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
    await expect(countRows(randomUUID())).rejects.toThrow(/does not exist/);
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

  it("prints the usage text without the id of a location", async () => {
    await expect(runOperatorCommand(["count", "all"])).rejects.toThrow(/need the id of a location/);
  });
});
