import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { selectServiceDatabase } from "@pragma/runtime/config/service-databases";
import { type OwnTestServers, startOwnTestServers } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectDatabaseConsistency } from "./fault-injection/expect-consistency.ts";
import { getTestCommandProgram } from "./harness/command-program.ts";
import { computeExpectedDocuments, roundTripThroughJson } from "./harness/expected-report.ts";
import { startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

let folder: string;
let servers: OwnTestServers[] = [];
let environment: IsolatedTestEnvironment;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pragma-backup-"));
  servers = [await startOwnTestServers(), await startOwnTestServers()];
  environment = await createIsolatedTestEnvironment();
  for (const { postgres: server } of servers) {
    const sql = postgres(server.url, { max: 1 });
    await sql`create database restored`;
    await sql.end();
  }
}, 300_000);
afterAll(async () => {
  await Promise.all(servers.map((each) => each.stop()));
  await rm(folder, { recursive: true, force: true });
});

type Installation = "original" | "restored";

/**
 * Returns the environment variables of an installation, whose reporting service has a database on a second server. The
 * restored installation has other databases on the same servers, and its own NATS and Redis.
 */
function variablesFor(installation: Installation): Record<string, string> {
  const [first, second] = servers as [OwnTestServers, OwnTestServers];
  const { nats, redis } = installation === "original" ? first : second;
  const urlOf = ({ postgres: { url } }: OwnTestServers) => {
    const database = new URL(url);
    if (installation === "restored") database.pathname = "/restored";
    return database.href;
  };
  return {
    ...environment.variables,
    DATABASE_URL: urlOf(first),
    REPORTING_DATABASE_URL: urlOf(second),
    NATS_URL: nats.url,
    REDIS_URL: redis.url,
    OBJECT_STORE: `file:${folder}/${installation}`,
    // Tills without a result are overdue when the restored installation starts, and not only a minute later.
    TILL_REQUEUE_AFTER_SECONDS: "1",
  };
}

async function runCommand(
  program: "backup" | "migrate",
  args: string[],
  variables: Record<string, string>,
): Promise<string> {
  const options = { env: { PATH: process.env.PATH, ...variables } };
  return (await promisify(execFile)(process.execPath, [getTestCommandProgram(program), ...args], options)).stdout;
}

const runBackupCommand = async (command: "backup" | "restore", installation: Installation) =>
  JSON.parse(await runCommand("backup", [command, join(folder, "backup")], variablesFor(installation)));

const newTill = (seed: number, tillId: string = randomUUID()) =>
  generateTill({ seed, tillId, orders: 3, day: "2026-04-01" });

/** Pushes and replaces tills until `stop` is called, which returns the ids of the accepted tills. */
function pushTillsContinuously(location: TestLocation) {
  const acceptedTillIds: string[] = [];
  let isStopping = false;
  async function pushTills(): Promise<void> {
    while (!isStopping) {
      // Slow enough that reporting keeps up, and has tills that were pushed shortly before each snapshot.
      await sleep(50);
      const till = newTill(acceptedTillIds.length);
      expect((await location.request("POST", "/v2/tills/", { body: till })).status).toBe(201);
      acceptedTillIds.push(till.id);
      if (acceptedTillIds.length % 2 === 0) {
        const replacement = newTill(acceptedTillIds.length + 10_000, till.id);
        expect((await location.request("PUT", `/v1/tills/${till.id}`, { body: replacement })).status).toBe(200);
      }
    }
  }
  const pushing = Promise.all(Array.from({ length: 4 }, pushTills));
  return {
    acceptedTillIds,
    async stop() {
      isStopping = true;
      await pushing;
    },
  };
}

/** Runs a query on a service's database of an installation. */
async function queryDatabase(installation: Installation, service: string, statement: string) {
  const { DATABASE_URL = "", NAMESPACE = "" } = selectServiceDatabase(variablesFor(installation), service);
  const sql = postgres(DATABASE_URL, {
    max: 1,
    connection: { search_path: `${NAMESPACE}_${service.replace("-", "_")}` },
  });
  try {
    return await sql.unsafe<Record<string, unknown>[]>(statement);
  } finally {
    await sql.end();
  }
}

describe("an installation whose services have several databases", () => {
  it("is restored from a backup during pushes, with exactly one exact report of each till", async () => {
    const original = await startPragmaUnderTest(variablesFor("original"));
    const location = await createTestLocation(original, { scopes: ["tills:write", "tills:read", "reports:read"] });
    const pushing = pushTillsContinuously(location);
    await eventually("the first tills", () => pushing.acceptedTillIds.length > 40);
    const acceptedBefore = [...pushing.acceptedTillIds];
    const manifest = await runBackupCommand("backup", "original");
    const acceptedAfter = pushing.acceptedTillIds.length;
    await pushing.stop();
    await original.stop();
    expect(manifest).toMatchObject({ missingObjects: 0, damagedObjects: [] });
    // Otherwise the backup would not show that services may keep running.
    expect(acceptedAfter).toBeGreaterThan(acceptedBefore.length);

    await runBackupCommand("restore", "restored");
    const [schemas] = await queryDatabase(
      "restored",
      "till-ingest",
      `select count(*)::int as count from pg_namespace where nspname = '${environment.namespace}_reporting'`,
    );
    expect(schemas).toEqual({ count: 0 });
    // At the moment of the backup, reporting may lack reports, which are computed again, but it knows no other till or
    // revision than till-ingest.
    const toRevisions = (rows: Record<string, unknown>[]) => new Map(rows.map(({ id, revision }) => [id, revision]));
    const tills = toRevisions(await queryDatabase("restored", "till-ingest", "select id, revision from tills"));
    const reported = toRevisions(
      await queryDatabase("restored", "reporting", "select till_id as id, revision from tills"),
    );
    const ahead = [...reported].filter(([id, revision]) => Number(revision) > Number(tills.get(id) ?? 0));
    const finished = await queryDatabase(
      "restored",
      "till-ingest",
      "select id, result_revision as revision from tills",
    );
    const lost = finished.filter(({ id, revision }) => Number(revision ?? 0) > Number(reported.get(id) ?? 0));
    expect(ahead).toEqual([]);
    expect(lost).toEqual([]);

    const restored = await startPragmaUnderTest(variablesFor("restored"), { adminKey: original.adminKey });
    try {
      expect(acceptedBefore.filter((id) => !tills.has(id))).toEqual([]);
      await eventually(
        "a result of each till",
        async () =>
          (
            await queryDatabase(
              "restored",
              "till-ingest",
              "select 1 from tills where result_revision is distinct from revision",
            )
          ).length === 0,
        { timeoutSeconds: 120 },
      );
      const request = (path: string) =>
        fetch(`${restored.url}${path}`, { headers: { authorization: `Bearer ${location.key}` } });
      for (const id of tills.keys()) {
        const body = await (await request(`/v1/tills/${id}/object`)).json();
        const expected = computeExpectedDocuments("V2", body, location.locationId);
        expect(await (await request(`/v2/reports/${expected?.id}`)).json()).toEqual(
          roundTripThroughJson(expected?.reportV2),
        );
      }
      const list = (await (await request("/v2/reports/")).json()) as { meta: { totalCount: number } };
      expect(list.meta.totalCount).toBe(tills.size);
      await expectDatabaseConsistency({ ...environment, variables: variablesFor("restored") });
    } finally {
      await restored.stop();
    }
  }, 240_000);

  it("waits for transactions that write events, and copies bodies as they are stored", async () => {
    const [body] = await queryDatabase("original", "till-ingest", "select max(object_key) as key from till_versions");
    const path = join(folder, "original", String(body?.key));
    const stored = brotliCompressSync(brotliDecompressSync(await readFile(path)), {
      params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
    });
    await writeFile(path, stored);
    const outbox = `${environment.namespace}_till_ingest.outbox`;
    const sql = postgres(variablesFor("original").DATABASE_URL ?? "", { max: 1 });
    let backup: Promise<string> | undefined;
    await sql.begin(async (tx) => {
      await tx`lock table ${tx(outbox)} in row exclusive mode`;
      backup = runCommand("backup", ["backup", join(folder, "stored")], variablesFor("original"));
      backup.catch(() => {});
      await eventually("the backup to wait for the transaction", async () => {
        const waiting = await tx`select from pg_locks where relation = ${outbox}::regclass and not granted`;
        return waiting.count > 0;
      });
    });
    await backup;
    await sql.end();
    expect((await readFile(join(folder, "stored", "objects", String(body?.key)))).equals(stored)).toBe(true);
  }, 60_000);

  it("keeps the earlier backup if a later one fails, and reports a damaged body", async () => {
    const backup = join(folder, "backup");
    const before = await readdir(backup);
    const variables = {
      ...variablesFor("original"),
      JOBS_DATABASE_URL: variablesFor("restored").REPORTING_DATABASE_URL ?? "",
    };
    await expect(runCommand("backup", ["backup", backup], variables)).rejects.toThrow(
      /restored does not contain the schema .*_jobs\. Set JOBS_DATABASE_URL/,
    );
    expect(await readdir(backup)).toEqual(before);

    const [body] = await queryDatabase("original", "till-ingest", "select object_key from till_versions limit 1");
    await writeFile(join(folder, "original", String(body?.object_key)), "damaged");
    await expect(runCommand("backup", ["backup", join(folder, "damaged")], variablesFor("original"))).rejects.toThrow(
      /1 objects that do not have their hash/,
    );
  }, 60_000);

  it("gets its tables and roles from the migrate command", async () => {
    const namespace = `${environment.namespace}m`;
    const variables: Record<string, string> = { ...variablesFor("original"), NAMESPACE: namespace };
    const owner = variables.REPORTING_DATABASE_URL ?? "";
    const limited = new URL(owner);
    limited.username = `${namespace}_reporting`;
    limited.password = "secret";
    await runCommand("migrate", [], {
      ...variables,
      REPORTING_DATABASE_URL: limited.href,
      REPORTING_OWNER_DATABASE_URL: owner,
    });
    const sql = postgres(limited.href, { max: 1 });
    expect(
      await sql`select 1 as one from ${sql(`${namespace}_reporting`)}.reports right join (select 1) s on true`,
    ).toEqual([{ one: 1 }]);
    await expect(sql`create table ${sql(`${namespace}_reporting`)}.more ()`).rejects.toThrow(/permission denied/);
    await sql.end();
  }, 60_000);
});
