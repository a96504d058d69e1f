import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { fallbackDataFolder } from "./data-folder.mjs";
import { createTemporaryDataFolder, removeDataFolder, startNats, startPostgres, startRedis } from "./servers.ts";
import { readFromPort } from "./testing/read-from-port.ts";

const folder = createTemporaryDataFolder("servers-test");
afterAll(() => removeDataFolder(folder));

const mode = (...path: string[]) => statSync(join(folder, ...path)).mode & 0o777;

it("runs PostgreSQL as an ordinary user, and again on its data after a kill, which no other user can read", async () => {
  const dataFolder = join(folder, "postgres");
  const first = await startPostgres({ dataFolder, durable: false });
  expect(first.url).toMatch(new RegExp(`^postgres://pragma:[0-9a-f]{48}@127\\.0\\.0\\.1:${first.port}/pragma$`));
  const { uid } = statSync(join(dataFolder, "cluster", "postmaster.pid"));
  expect(uid).not.toBe(0);
  expect(uid === process.getuid?.()).toBe(process.getuid?.() !== 0);

  const cluster = statSync(join(dataFolder, "cluster")).birthtimeMs;
  await first.kill();
  const second = await startPostgres({ dataFolder, port: first.port, durable: false });
  expect(second.url).toBe(first.url);
  expect(statSync(join(dataFolder, "cluster")).birthtimeMs).toBe(cluster);
  await second.stop();
  expect(mode("postgres", "cluster")).toBe(0o700);
  // PostgreSQL's user has to pass through its folder where this process is root.
  expect(mode("postgres") & 0o066).toBe(0);
  for (const file of ["password", "server.log"]) expect(mode("postgres", file), file).toBe(0o600);
});

it("says which PostgreSQL made the data that no installed one can read", async () => {
  const dataFolder = join(folder, "old");
  mkdirSync(join(dataFolder, "cluster"), { recursive: true });
  writeFileSync(join(dataFolder, "cluster", "PG_VERSION"), "9\n");
  await expect(startPostgres({ dataFolder })).rejects.toThrow(/made by PostgreSQL 9, and this machine has \d+/);
});

it("says that a cluster is broken instead of making another in its place", async () => {
  const dataFolder = join(folder, "broken");
  mkdirSync(join(dataFolder, "cluster"), { recursive: true });
  await expect(startPostgres({ dataFolder })).rejects.toThrow("is not a PostgreSQL cluster any more");
  expect(existsSync(join(dataFolder, "cluster", "PG_VERSION"))).toBe(false);
});

// As root, PostgreSQL runs as another user.
const asRoot = it.skipIf(process.getuid?.() !== 0);

asRoot("lets PostgreSQL's user, and no other, through a folder of this user's", async () => {
  const home = join(folder, "closed");
  mkdirSync(home, { mode: 0o700 });
  const server = await startPostgres({ dataFolder: join(home, "postgres"), durable: false });
  await server.stop();
  const { gid } = statSync(join(home, "postgres", "cluster"));
  expect([statSync(home).gid, statSync(home).mode & 0o777]).toEqual([gid, 0o710]);
});

asRoot(
  "keeps PostgreSQL's data elsewhere when a folder further up is closed to its user, until it is removed",
  async () => {
    const closed = join(folder, "closed-further-up");
    mkdirSync(join(closed, "checkout"), { recursive: true });
    chmodSync(closed, 0o700);
    const dataFolder = join(closed, "checkout", ".pragma", "postgres");
    const server = await startPostgres({ dataFolder, durable: false });
    await server.stop();
    const elsewhere = fallbackDataFolder(dataFolder);
    const { uid, mode } = statSync(elsewhere);
    expect([existsSync(join(elsewhere, "cluster", "PG_VERSION")), uid, mode & 0o777]).toEqual([true, 0, 0o710]);
    expect(statSync(closed).mode & 0o777).toBe(0o700);
    await removeDataFolder(dataFolder);
    expect(existsSync(elsewhere)).toBe(false);
  },
);

it("runs NATS with JetStream, and again on the same port after a kill; no other user can read its data", async () => {
  const dataFolder = join(folder, "nats");
  const first = await startNats({ dataFolder });
  expect(await readFromPort(first.port, /\n/)).toMatch(/"jetstream":\s*true/);
  await first.kill();
  const second = await startNats({ dataFolder, port: first.port });
  expect(second.url).toBe(first.url);
  await second.stop();
  expect(mode("nats")).toBe(0o700);
});

it("runs Redis, which keeps what it was told, for no other user to read", async () => {
  const dataFolder = join(folder, "redis");
  const first = await startRedis({ dataFolder });
  const ask = (greeting: string) => readFromPort(first.port, /\r\n.*\r\n|^\+/, `${greeting}\r\n`);
  expect(await ask("CONFIG GET appendfsync")).toBeDefined();
  expect(await ask("INFO memory")).toMatch(/maxmemory:268435456\r\n[\s\S]*maxmemory_policy:noeviction/);
  expect(await ask("SET kept yes")).toBe("+OK\r\n");
  await first.stop();
  const second = await startRedis({ dataFolder, port: first.port });
  expect(await ask("GET kept")).toContain("yes");
  await second.stop();
  expect(mode("redis")).toBe(0o700);
});
