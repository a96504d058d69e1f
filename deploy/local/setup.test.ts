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
const installs = () => readFileSync(join(folder, "npm.log"), "utf8").trim().split("\n");

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

it("installs once, and again when the lockfile has changed", async () => {
  await ensureNpmPackagesInstalled(folder);
  await ensureNpmPackagesInstalled(folder);
  expect(installs()).toEqual(["ci --no-audit --no-fund"]);
  writeFileSync(join(folder, "package-lock.json"), createLockfile("2.0.0"));
  await ensureNpmPackagesInstalled(folder);
  expect(installs()).toHaveLength(2);
});

it("installs only the packages of some workspaces, and the rest when all are needed", async () => {
  const some = { workspaces: ["a", "b"] };
  await ensureNpmPackagesInstalled(folder, some);
  await ensureNpmPackagesInstalled(folder, some);
  expect(installs()).toEqual(["ci --no-audit --no-fund --workspace=a --workspace=b"]);
  await ensureNpmPackagesInstalled(folder);
  await ensureNpmPackagesInstalled(folder, some);
  expect(installs().slice(1)).toEqual(["ci --no-audit --no-fund"]);
});

it("installs nothing when npm has already installed the packages for this system", async () => {
  const record = join(folder, "node_modules", ".package-lock.json");
  writeFileSync(record, JSON.stringify({ packages: { "node_modules/a": { version: "0.9.0" } } }));
  await ensureNpmPackagesInstalled(folder);
  expect(installs()).toHaveLength(1);
  writeFileSync(join(folder, "package-lock.json"), createLockfile("2.0.0"));
  writeFileSync(record, JSON.stringify({ packages: { "node_modules/a": { version: "2.0.0" } } }));
  await ensureNpmPackagesInstalled(folder);
  expect(installs()).toHaveLength(1);
});

it("throws with the output of npm when it fails, and retries the next time", async () => {
  fakeNpm("echo no such registry >&2; exit 1");
  await expect(ensureNpmPackagesInstalled(folder)).rejects.toThrow(/npm ci failed:\n[\s\S]*no such registry/);
  fakeNpm("");
  await ensureNpmPackagesInstalled(folder);
  expect(installs()).toHaveLength(2);
});
