import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { findInstalledServerBinaries } from "./find-servers.ts";
import { createTestScratchFolder } from "./testing/scratch-folder.ts";

let folder: string;
beforeEach(() => {
  folder = createTestScratchFolder();
  mkdirSync(join(folder, "bin"));
  vi.stubEnv("PATH", `${join(folder, "bin")}:${process.env.PATH}`);
});
afterEach(() => vi.unstubAllEnvs());

function writeFakeProgram(path: string, output: string) {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), `#!/bin/sh\necho '${output}'\n`);
  chmodSync(join(folder, path), 0o755);
}
const installedPaths = (kind: "postgres" | "nats" | "redis") =>
  findInstalledServerBinaries(kind).map(({ path }) => path);

it("sorts programs by version, the newest first", () => {
  writeFakeProgram("bin/nats-server", "nats-server: v99.1.0");
  expect(findInstalledServerBinaries("nats")[0]).toEqual({ path: join(folder, "bin/nats-server"), version: "99.1.0" });
});

it("ignores programs that are too old or report no version", () => {
  writeFakeProgram("bin/redis-server", "Redis server v=6.2.7 sha=00000000:0");
  writeFakeProgram("bin/nats-server", "a wrapper");
  expect(installedPaths("redis")).not.toContain(join(folder, "bin/redis-server"));
  expect(installedPaths("nats")).not.toContain(join(folder, "bin/nats-server"));
});

it("resolves a link to PostgreSQL, and requires initdb beside the program", () => {
  writeFakeProgram("real/bin/postgres", "postgres (PostgreSQL) 98.2");
  symlinkSync(join(folder, "real/bin/postgres"), join(folder, "bin/postgres"));
  expect(installedPaths("postgres")).not.toContain(join(folder, "real/bin/postgres"));
  writeFakeProgram("real/bin/initdb", "initdb (PostgreSQL) 98.2");
  expect(installedPaths("postgres")[0]).toBe(join(folder, "real/bin/postgres"));
});

it("keeps the name of a link, because a program may derive its role from that name", () => {
  writeFakeProgram("real/redis-check-rdb", "Redis server v=99.0.0 sha=00000000:0");
  symlinkSync(join(folder, "real/redis-check-rdb"), join(folder, "bin/redis-server"));
  expect(installedPaths("redis")[0]).toBe(join(folder, "bin/redis-server"));
});
