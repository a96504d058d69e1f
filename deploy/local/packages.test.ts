import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { satisfies } from "semver";
import { expect, it } from "vitest";
import { repositoryFolder } from "./setup.mjs";
import { createTestScratchFolder } from "./testing/scratch-folder.ts";

interface LockedPackage {
  resolved?: string;
  link?: boolean;
  engines?: { node?: string };
  optionalDependencies?: Record<string, string>;
}

const { packages } = JSON.parse(readFileSync(join(repositoryFolder, "package-lock.json"), "utf8")) as {
  packages: Record<string, LockedPackage>;
};

/** Returns whether a package in this folder of the lockfile can resolve the dependency, as Node.js resolves it. */
function isLocked(folder: string, dependency: string): boolean {
  if (packages[join(folder, "node_modules", dependency)]) return true;
  return folder !== "" && isLocked(folder.slice(0, Math.max(0, folder.lastIndexOf("/"))), dependency);
}

it("locks the optional packages of every system, which npm ci requires", () => {
  const missing = Object.entries(packages).flatMap(([folder, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !isLocked(folder, name))
      .map((name) => `${folder}: ${name}`),
  );
  expect(missing).toEqual([]);
});

it.each(["20.19.0", "22.13.0", "24.0.0"])("locks packages that run on Node.js %s", (version) => {
  const incompatible = Object.entries(packages).filter(
    ([, { engines }]) => engines?.node && !satisfies(version, engines.node),
  );
  expect(incompatible.map(([folder]) => folder)).toEqual([]);
});

it("contains no registry URLs in the lockfile", () => {
  expect(Object.values(packages).filter(({ resolved, link }) => resolved !== undefined && !link)).toEqual([]);
});

it("runs no install scripts of packages", () => {
  const folder = createTestScratchFolder();
  const dependency = join(folder, "dependency");
  mkdirSync(dependency);
  copyFileSync(join(repositoryFolder, ".npmrc"), join(folder, ".npmrc"));
  const createMarker = (name: string) => `node -e "fs.writeFileSync(process.env.INIT_CWD + '/${name}', '')"`;
  const scripts = Object.fromEntries(
    ["preinstall", "install", "postinstall"].map((name) => [name, createMarker(name)]),
  );
  writeFileSync(join(dependency, "package.json"), JSON.stringify({ name: "dependency", version: "1.0.0", scripts }));
  writeFileSync(
    join(folder, "package.json"),
    // Newer npm versions run install scripts only with `allowScripts`.
    JSON.stringify({ dependencies: { dependency: "file:dependency" }, allowScripts: { dependency: true } }),
  );
  const { status, stderr } = spawnSync("npm", ["install", "--offline", "--no-audit", "--no-fund", "--install-links"], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(status, stderr).toBe(0);
  expect(existsSync(join(folder, "node_modules", "dependency", "package.json"))).toBe(true);
  for (const name of Object.keys(scripts)) expect(existsSync(join(folder, name)), name).toBe(false);
});
