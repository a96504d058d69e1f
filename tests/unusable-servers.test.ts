import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { findPostgresServerProblem } from "@pragma/runtime/database/usable-database";
import { isVersionAtLeast } from "@pragma/runtime/process/unusable-server-error";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findInstalledServerBinaries } from "../deploy/local/find-servers.js";
import { findFreePort } from "../deploy/local/free-port.js";
import { launchLocalServer, type RunningServer } from "../deploy/local/run-server.js";
import {
  createTestServerDataFolder,
  isServerResponding,
  removeServerDataFolder,
  startRedisServer,
} from "../deploy/local/servers.js";
import { findPgBouncer, type StartedPgBouncer, startPgBouncer } from "../deploy/local/testing/pgbouncer.js";
import { runPragmaToExit } from "./harness/pragma-exit.ts";
import { mainProgram, type PragmaProcessRole } from "./harness/pragma-process.ts";

const folder = createTestServerDataFolder("unusable");
const hasPgBouncer = findPgBouncer() !== undefined;
const natsProgram = findInstalledServerBinaries("nats")[0]?.path;
let environment: IsolatedTestEnvironment;
let servers: RunningServer[];
let urls: Record<"postgres" | "pgbouncer" | "redis" | "nats", string>;
/** Removes the role of the tests. */
let removeRole: () => Promise<void>;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment();
  const { DATABASE_URL: url = "" } = environment.variables;
  const natsPort = await findFreePort();
  const [redis, nats, bouncer] = await Promise.all([
    startRedisServer({ dataFolder: join(folder, "redis"), config: "requirepass secret\n" }),
    launchLocalServer({
      name: "NATS without JetStream",
      logFile: join(folder, "nats.log"),
      port: natsPort,
      isReady: () => isServerResponding("nats", `nats://127.0.0.1:${natsPort}`),
      log() {},
      command: natsProgram ?? "nats-server",
      args: ["--addr", "127.0.0.1", "--port", String(natsPort), "--user", "pragma", "--pass", "secret"],
    }),
    hasPgBouncer
      ? startPgBouncer({ dataFolder: join(folder, "pgbouncer"), serverUrls: [url], poolMode: "session" })
      : undefined,
  ]);
  servers = [redis, nats, bouncer].filter((server) => server !== undefined);
  urls = {
    postgres: url,
    pgbouncer: (bouncer as StartedPgBouncer | undefined)?.toPooledUrl(url) ?? "",
    redis: redis.url,
    nats: `nats://127.0.0.1:${natsPort}`,
  };
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(`create role ${environment.namespace} login password 'secret'`);
  removeRole = async () => {
    await sql.unsafe(`drop role ${environment.namespace}`);
    await sql.end();
  };
}, 300_000);
afterAll(async () => {
  await removeRole?.();
  await environment?.remove();
  await Promise.all((servers ?? []).map((server) => server.stop()));
  await removeServerDataFolder(folder);
});

const change = (url: string, parts: { username?: string; password?: string; pathname?: string; search?: string }) =>
  Object.assign(new URL(url), parts).href;

type Case = [
  problem: string,
  role: PragmaProcessRole,
  variables: () => Record<string, string>,
  line: RegExp,
  canRun?: boolean,
];
const cases: Case[] = [
  [
    "a password that PostgreSQL rejects",
    "all",
    () => ({ DATABASE_URL: change(urls.postgres, { password: "wrong" }) }),
    /^PostgreSQL at 127\.0\.0\.1:\d+\/\w+ cannot be used: password authentication failed for user "pragma"\. Correct the URL in DATABASE_URL, .*$/,
  ],
  [
    "a database that does not exist",
    "reporting",
    () => ({ DATABASE_URL: change(urls.postgres, { pathname: "/missing" }) }),
    /^PostgreSQL at .*\/missing cannot be used: database "missing" does not exist\. .* Or create the database\.$/,
  ],
  [
    "a role that may not create the schema",
    "accounts",
    () => ({
      DATABASE_URL: change(urls.postgres, { username: environment.namespace, password: "secret" }),
      NAMESPACE: "unknown",
    }),
    /^PostgreSQL at .* cannot be used: permission denied for database .* or run the migrate command as the owner\.$/,
  ],
  [
    "TLS to a PostgreSQL without TLS",
    "accounts",
    () => ({ DATABASE_URL: change(urls.postgres, { search: "?sslmode=require" }) }),
    /^PostgreSQL at .* cannot be used: .* Check TLS in DATABASE_URL \(sslmode\), TLS_CA_FILE.*$/,
  ],
  [
    "a parameter that PgBouncer refuses",
    "accounts",
    () => ({ DATABASE_URL: change(urls.pgbouncer, { search: "?options=-c%20jit%3Doff" }) }),
    /^PostgreSQL at .*: unsupported startup parameter: options\. Remove the parameter .* ignore_startup_parameters of PgBouncer\.$/,
    hasPgBouncer,
  ],
  [
    "a password that PgBouncer rejects",
    "accounts",
    () => ({ DATABASE_URL: change(urls.pgbouncer, { password: "wrong" }) }),
    /^PostgreSQL at .* cannot be used: .*authentication failed.*\. Correct the URL in DATABASE_URL.*$/,
    hasPgBouncer,
  ],
  [
    "a Redis that needs a password",
    "gateway",
    () => ({ REDIS_URL: urls.redis }),
    /^Redis at 127\.0\.0\.1:\d+ cannot be used: NOAUTH .* Correct the user and the password in REDIS_URL\.$/,
  ],
  [
    "a password that Redis rejects",
    "jobs",
    () => ({ REDIS_URL: change(urls.redis, { password: "wrong" }) }),
    /^Redis at .* cannot be used: WRONGPASS .* Correct the user and the password in REDIS_URL\.$/,
  ],
  [
    "a password that NATS rejects",
    "all",
    // Otherwise, accounts may print the key that it has created meanwhile.
    () => ({ NATS_URL: urls.nats, PRAGMA_ADMIN_KEY: `admin-key-of-a-test-${randomUUID()}` }),
    /^NATS at 127\.0\.0\.1:\d+ cannot be used: Authorization Violation\. Correct the user and the password, .*$/,
  ],
  [
    "TLS to a NATS without TLS",
    "gateway",
    () => ({ NATS_URL: urls.nats.replace("nats:", "tls:") }),
    /^NATS at .* cannot be used: server does not support 'tls'\. Check TLS in NATS_URL .*$/,
  ],
  [
    "a NATS without JetStream",
    "accounts",
    () => ({ NATS_URL: change(urls.nats, { username: "pragma", password: "secret" }) }),
    /^NATS at .* cannot be used: JetStream is not enabled\. Start the server with --jetstream, .*$/,
  ],
];

// Without PgBouncer, `npm test` prints that its tests are skipped.
for (const [problem, role, variables, line, canRun = true] of cases)
  it.runIf(canRun)(`ends the start of ${role} with one line because of ${problem}`, { timeout: 90_000 }, async () => {
    expect(await runPragmaToExit(role, { ...environment.variables, ...variables() })).toMatch(line);
  });

it("waits for servers that are unreachable, and logs every few seconds for what", { timeout: 90_000 }, async () => {
  const port = await findFreePort();
  const unreachable = { DATABASE_URL: `postgres://a:b@127.0.0.1:${port}/c`, NATS_URL: `nats://127.0.0.1:${port}` };
  await Promise.all(
    [
      { role: "accounts", server: "waiting for PostgreSQL" },
      { role: "gateway", server: "waiting for NATS" },
    ].map(async ({ role, server }) => {
      const env = {
        ...environment.variables,
        ...unreachable,
        SERVICE: role,
        OPS_PORT: "0",
        PORT: "0",
        LOG_LEVEL: "warn",
      };
      const child = spawn(process.execPath, [mainProgram], { env, stdio: ["ignore", "pipe", "inherit"] });
      let log = "";
      child.stdout.on("data", (chunk) => {
        log += chunk;
      });
      await eventually(`${role} to log twice`, () => log.split(server).length === 3, { timeoutSeconds: 80 });
      expect(log).toContain("ECONNREFUSED");
      expect(child.exitCode).toBeNull();
      child.kill("SIGKILL");
    }),
  );
});

it.each([
  ["14.20", true, "its version is 14.20"],
  ["15.0", false, "it was built without lz4"],
  ["15.14 (Debian 15.14-0+deb12u1)", true, undefined],
  ["18beta1", true, undefined],
])("PostgreSQL %s with lz4 %s: %s", (version, hasLz4, problem) => {
  expect(findPostgresServerProblem({ version, hasLz4 })?.problem).toBe(problem);
});

it.each([
  ["2.8.4", "2.9", false],
  ["2.9.0", "2.9", true],
  ["2.12.6", "2.9", true],
  ["6.2.14", "7", false],
  ["7.0.15", "7", true],
  ["", "7", false],
])("version %s is at least %s: %s", (version, minVersion, expected) => {
  expect(isVersionAtLeast(version, minVersion)).toBe(expected);
});
