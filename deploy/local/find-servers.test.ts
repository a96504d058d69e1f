import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { findInstalledBinaries } from "./find-servers.ts";
import { createScratchFolder } from "./testing/scratch-folder.ts";

let folder: string;
beforeEach(() => {
  folder = createScratchFolder();
  mkdirSync(join(folder, "bin"));
  vi.stubEnv("PATH", `${join(folder, "bin")}:${process.env.PATH}`);
});
afterEach(() => vi.unstubAllEnvs());

function writeFakeProgram(path: string, says: string) {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), `#!/bin/sh\necho '${says}'\n`);
  chmodSync(join(folder, path), 0o755);
}
const foundPaths = (kind: "postgres" | "nats" | "redis") => findInstalledBinaries(kind).map(({ path }) => path);

it("takes the newest first", () => {
  writeFakeProgram("bin/nats-server", "nats-server: v99.1.0");
  expect(findInstalledBinaries("nats")[0]).toEqual({ path: join(folder, "bin/nats-server"), version: "99.1.0" });
});

it("leaves out programs that are too old, and those that do not tell", () => {
  writeFakeProgram("bin/redis-server", "Redis server v=6.2.7 sha=00000000:0");
  writeFakeProgram("bin/nats-server", "a wrapper");
  expect(foundPaths("redis")).not.toContain(join(folder, "bin/redis-server"));
  expect(foundPaths("nats")).not.toContain(join(folder, "bin/nats-server"));
});

it("follows a link to the folder where PostgreSQL has its companions, and needs them there", () => {
  writeFakeProgram("real/bin/postgres", "postgres (PostgreSQL) 98.2");
  symlinkSync(join(folder, "real/bin/postgres"), join(folder, "bin/postgres"));
  expect(foundPaths("postgres")).not.toContain(join(folder, "real/bin/postgres"));
  writeFakeProgram("real/bin/initdb", "initdb (PostgreSQL) 98.2");
  expect(foundPaths("postgres")[0]).toBe(join(folder, "real/bin/postgres"));
});

it("runs a link under its own name, which may decide what the program is", () => {
  writeFakeProgram("real/redis-check-rdb", "Redis server v=99.0.0 sha=00000000:0");
  symlinkSync(join(folder, "real/redis-check-rdb"), join(folder, "bin/redis-server"));
  expect(foundPaths("redis")[0]).toBe(join(folder, "bin/redis-server"));
});
