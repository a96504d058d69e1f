import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { binariesOf } from "./find-servers.ts";
import { scratchFolder } from "./testing/scratch-folder.ts";

let folder: string;
beforeEach(() => {
  folder = scratchFolder();
  mkdirSync(join(folder, "bin"));
  vi.stubEnv("PATH", `${join(folder, "bin")}:${process.env.PATH}`);
});
afterEach(() => vi.unstubAllEnvs());

function program(path: string, says: string) {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), `#!/bin/sh\necho '${says}'\n`);
  chmodSync(join(folder, path), 0o755);
}
const found = (kind: "postgres" | "nats" | "redis") => binariesOf(kind).map(({ path }) => path);

it("takes the newest first", () => {
  program("bin/nats-server", "nats-server: v99.1.0");
  expect(binariesOf("nats")[0]).toEqual({ path: join(folder, "bin/nats-server"), version: "99.1.0" });
});

it("leaves out programs that are too old, and those that do not tell", () => {
  program("bin/redis-server", "Redis server v=6.2.7 sha=00000000:0");
  program("bin/nats-server", "a wrapper");
  expect(found("redis")).not.toContain(join(folder, "bin/redis-server"));
  expect(found("nats")).not.toContain(join(folder, "bin/nats-server"));
});

it("follows a link to the folder where PostgreSQL has its companions, and needs them there", () => {
  program("real/bin/postgres", "postgres (PostgreSQL) 98.2");
  symlinkSync(join(folder, "real/bin/postgres"), join(folder, "bin/postgres"));
  expect(found("postgres")).not.toContain(join(folder, "real/bin/postgres"));
  program("real/bin/initdb", "initdb (PostgreSQL) 98.2");
  expect(found("postgres")[0]).toBe(join(folder, "real/bin/postgres"));
});

it("runs a link under its own name, which may decide what the program is", () => {
  program("real/redis-check-rdb", "Redis server v=99.0.0 sha=00000000:0");
  symlinkSync(join(folder, "real/redis-check-rdb"), join(folder, "bin/redis-server"));
  expect(found("redis")[0]).toBe(join(folder, "bin/redis-server"));
});
