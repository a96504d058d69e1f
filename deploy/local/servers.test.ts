import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { getFallbackDataFolder } from "./data-folder.mjs";
import { readOrCreateLocalSecrets } from "./secrets.ts";
import {
  createTemporaryDataFolder,
  removeServerDataFolder,
  startNatsServer,
  startPostgresServer,
  startRedisServer,
} from "./servers.ts";
import { repositoryFolder } from "./setup.mjs";
import { readFromPortUntilMatch } from "./testing/read-from-port.ts";

const folder = createTemporaryDataFolder("servers-test");
afterAll(() => removeServerDataFolder(folder));

const mode = (...path: string[]) => statSync(join(folder, ...path)).mode & 0o777;

it("runs PostgreSQL as an ordinary user, restarts it with the same data, and lets no other user read the data", async () => {
  const dataFolder = join(folder, "postgres");
  const first = await startPostgresServer({ dataFolder, durable: false });
  expect(first.url).toMatch(new RegExp(`^postgres://pragma:[0-9a-f]{48}@127\\.0\\.0\\.1:${first.port}/pragma$`));
  const { uid } = statSync(join(dataFolder, "cluster", "postmaster.pid"));
  expect(uid).not.toBe(0);
  expect(uid === process.getuid?.()).toBe(process.getuid?.() !== 0);

  const cluster = statSync(join(dataFolder, "cluster")).birthtimeMs;
  await first.kill();
  const second = await startPostgresServer({ dataFolder, port: first.port, durable: false });
  expect(second.url).toBe(first.url);
  expect(statSync(join(dataFolder, "cluster")).birthtimeMs).toBe(cluster);
  await second.stop();
  expect(mode("postgres", "cluster")).toBe(0o700);
  // Other users can neither read nor write this folder. They may enter it, because PostgreSQL runs as another user if
  // this process is root.
  expect(mode("postgres") & 0o066).toBe(0);
  for (const file of ["password", "server.log"]) expect(mode("postgres", file), file).toBe(0o600);
});

it("names the PostgreSQL version that existing data requires", async () => {
  const dataFolder = join(folder, "old");
  mkdirSync(join(dataFolder, "cluster"), { recursive: true });
  writeFileSync(join(dataFolder, "cluster", "PG_VERSION"), "9\n");
  await expect(startPostgresServer({ dataFolder })).rejects.toThrow(
    /created by PostgreSQL 9, but this machine has \d+/,
  );
});

it("rejects a broken cluster instead of replacing it", async () => {
  const dataFolder = join(folder, "broken");
  mkdirSync(join(dataFolder, "cluster"), { recursive: true });
  await expect(startPostgresServer({ dataFolder })).rejects.toThrow("is no longer a PostgreSQL cluster");
  expect(existsSync(join(dataFolder, "cluster", "PG_VERSION"))).toBe(false);
});

// These tests need root, because only then does PostgreSQL run as another user.
const asRoot = it.skipIf(process.getuid?.() !== 0);

asRoot("lets the user who runs PostgreSQL, and no other, enter a closed folder", async () => {
  const parent = join(folder, "closed");
  mkdirSync(parent, { mode: 0o700 });
  const server = await startPostgresServer({ dataFolder: join(parent, "postgres"), durable: false });
  await server.stop();
  const { gid } = statSync(join(parent, "postgres", "cluster"));
  expect([statSync(parent).gid, statSync(parent).mode & 0o777]).toEqual([gid, 0o710]);
});

asRoot("stores the data of PostgreSQL in the fallback folder when a parent folder is closed to its user", async () => {
  const closed = join(folder, "closed-parent");
  mkdirSync(join(closed, "checkout"), { recursive: true });
  chmodSync(closed, 0o700);
  const dataFolder = join(closed, "checkout", ".pragma", "postgres");
  const server = await startPostgresServer({ dataFolder, durable: false });
  await server.stop();
  const fallback = getFallbackDataFolder(dataFolder);
  const { uid, mode } = statSync(fallback);
  expect([existsSync(join(fallback, "cluster", "PG_VERSION")), uid, mode & 0o777]).toEqual([true, 0, 0o710]);
  expect(statSync(closed).mode & 0o777).toBe(0o700);
  await removeServerDataFolder(dataFolder);
  expect(existsSync(fallback)).toBe(false);
});

it("runs NATS with JetStream, restarts it on the same port, and lets no other user read its data", async () => {
  const dataFolder = join(folder, "nats");
  const first = await startNatsServer({ dataFolder });
  expect(await readFromPortUntilMatch(first.port, /\n/)).toMatch(/"jetstream":\s*true/);
  await first.kill();
  const second = await startNatsServer({ dataFolder, port: first.port });
  expect(second.url).toBe(first.url);
  await second.stop();
  expect(mode("nats")).toBe(0o700);
});

it("requires passwords, which no command line contains and other users cannot read, and keeps them", async () => {
  const starters = { nats: startNatsServer, redis: startRedisServer };
  for (const kind of ["nats", "redis"] as const) {
    const dataFolder = join(folder, `${kind}-with-password`);
    const first = await starters[kind]({ dataFolder, requiresPassword: true });
    const { password, username } = new URL(first.url);
    expect(password).toMatch(/^[0-9a-f]{48}$/);
    const login =
      kind === "nats" ? `CONNECT ${JSON.stringify({ user: username, pass: password })}\r\nPING` : `AUTH ${password}`;
    const refusal = kind === "nats" ? /Authorization Violation/ : /NOAUTH/;
    expect(await readFromPortUntilMatch(first.port, refusal, "PING\r\n")).toBeDefined();
    expect(await readFromPortUntilMatch(first.port, /PONG|\+OK/, `${login}\r\n`)).toBeDefined();
    if (process.platform === "linux")
      expect(readFileSync(`/proc/${first.pid}/cmdline`, "utf8")).not.toContain(password);
    await first.stop();
    const second = await starters[kind]({ dataFolder, port: first.port, requiresPassword: true });
    expect(second.url).toBe(first.url);
    await second.stop();
    for (const file of ["password", `${kind}.conf`]) expect(mode(`${kind}-with-password`, file), file).toBe(0o600);
  }
});

it("has the addresses and keys that the commands in docs/operations.md read", async () => {
  const home = join(folder, "documented");
  const postgres = await startPostgresServer({ dataFolder: join(home, "postgres"), durable: false });
  const nats = await startNatsServer({ dataFolder: join(home, "nats"), requiresPassword: true });
  const secrets = await readOrCreateLocalSecrets(home);
  const operations = readFileSync(join(repositoryFolder, "docs", "operations.md"), "utf8");
  const [, commands = ""] = /```sh\nhome=.*\n((?:export .*\n)+)/.exec(operations) ?? [];
  const printed = spawnSync("sh", ["-ec", `${commands} env`], {
    env: { PATH: process.env.PATH, home },
    encoding: "utf8",
  }).stdout;
  const values = { DATABASE_URL: postgres.url, NATS_URL: nats.url, OBJECT_STORE: `file:${home}/objects` };
  const keys = { DATA_KEYS: secrets.dataKeys, OPS_TOKEN: secrets.opsToken };
  for (const [name, value] of Object.entries({ ...values, ...keys }))
    expect(printed.split("\n")).toContain(`${name}=${value}`);
  await Promise.all([postgres.stop(), nats.stop()]);
});

it("runs Redis, which persists its data, and lets no other user read the data", async () => {
  const dataFolder = join(folder, "redis");
  const first = await startRedisServer({ dataFolder });
  const sendCommand = (command: string) => readFromPortUntilMatch(first.port, /\r\n.*\r\n|^\+/, `${command}\r\n`);
  expect(await sendCommand("CONFIG GET appendfsync")).toBeDefined();
  expect(await sendCommand("INFO memory")).toMatch(/maxmemory:268435456\r\n[\s\S]*maxmemory_policy:noeviction/);
  expect(await sendCommand("SET stored yes")).toBe("+OK\r\n");
  await first.stop();
  const second = await startRedisServer({ dataFolder, port: first.port });
  expect(await sendCommand("GET stored")).toContain("yes");
  await second.stop();
  expect(mode("redis")).toBe(0o700);
});
