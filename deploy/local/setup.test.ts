import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import { ensureNpmPackagesInstalled } from "./setup.mjs";
import { createTestScratchFolder } from "./testing/scratch-folder.ts";

let folder: string;
const createLockfile = (version: string) =>
  JSON.stringify({
    packages: { "": {}, "node_modules/a": { version }, "node_modules/b": { version, optional: true } },
  });
const commands = () => readFileSync(join(folder, "npm.log"), "utf8").trim().split("\n");
const installs = () => commands().filter((command) => command.startsWith("ci"));

function fakeNpm(script: string) {
  writeFileSync(join(folder, "npm"), `#!/bin/sh\necho "$@" >> npm.log\n${script}\n`);
  chmodSync(join(folder, "npm"), 0o755);
}

beforeEach(() => {
  folder = createTestScratchFolder();
  vi.stubEnv("PATH", `${folder}:${process.env.PATH}`);
  writeFileSync(join(folder, "package-lock.json"), createLockfile("1.0.0"));
  mkdirSync(join(folder, "node_modules"));
  fakeNpm("");
  return () => vi.unstubAllEnvs();
});

it("installs once, and again when the lockfile or a patch has changed", async () => {
  await ensureNpmPackagesInstalled(folder);
  await ensureNpmPackagesInstalled(folder);
  expect(commands()).toEqual(["ci --no-audit --no-fund", "run patch"]);
  writeFileSync(join(folder, "package-lock.json"), createLockfile("2.0.0"));
  await ensureNpmPackagesInstalled(folder);
  expect(installs()).toHaveLength(2);
  mkdirSync(join(folder, "patches"));
  writeFileSync(join(folder, "patches", "a+2.0.0.patch"), "-1\n+2\n");
  await ensureNpmPackagesInstalled(folder);
  await ensureNpmPackagesInstalled(folder);
  expect(installs()).toHaveLength(3);
});

it("only applies patches when npm has already installed the packages for this system", async () => {
  const record = join(folder, "node_modules", ".package-lock.json");
  writeFileSync(record, JSON.stringify({ packages: { "node_modules/a": { version: "0.9.0" } } }));
  await ensureNpmPackagesInstalled(folder);
  expect(installs()).toHaveLength(1);
  writeFileSync(join(folder, "package-lock.json"), createLockfile("2.0.0"));
  writeFileSync(record, JSON.stringify({ packages: { "node_modules/a": { version: "2.0.0" } } }));
  await ensureNpmPackagesInstalled(folder);
  expect(commands()).toEqual(["ci --no-audit --no-fund", "run patch", "run patch"]);
});

it("throws with the output of npm when it fails, and retries the next time", async () => {
  fakeNpm("echo no such registry >&2; exit 1");
  await expect(ensureNpmPackagesInstalled(folder)).rejects.toThrow(/npm ci failed:\n[\s\S]*no such registry/);
  fakeNpm("");
  await ensureNpmPackagesInstalled(folder);
  expect(installs()).toHaveLength(2);
});

it("fails when a patch cannot be applied, and retries the next time", async () => {
  fakeNpm('[ "$1" != run ] || exit 1');
  for (let attempt = 0; attempt < 2; attempt++)
    await expect(ensureNpmPackagesInstalled(folder)).rejects.toThrow("npm run patch failed");
});
