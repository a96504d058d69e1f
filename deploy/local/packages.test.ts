import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { satisfies } from "semver";
import { describe, expect, it } from "vitest";
import { repositoryFolder } from "./setup.mjs";
import { createTestScratchFolder } from "./testing/scratch-folder.ts";

interface LockedPackage {
  resolved?: string;
  link?: boolean;
  engines?: { node?: string };
  optionalDependencies?: Record<string, string>;
}

type LockedPackages = Record<string, LockedPackage>;

/** The lockfiles of the workspaces and of the documentation site. */
const lockfiles = ["package-lock.json", "docs-portal/package-lock.json"].map((path) => {
  const { packages } = JSON.parse(readFileSync(join(repositoryFolder, path), "utf8")) as { packages: LockedPackages };
  return { path, packages };
});

/** Returns whether a package in this folder of the lockfile can resolve the dependency, as Node.js resolves it. */
function isLocked(packages: LockedPackages, folder: string, dependency: string): boolean {
  if (packages[join(folder, "node_modules", dependency)]) return true;
  const parent = folder.slice(0, Math.max(0, folder.lastIndexOf("/")));
  return folder !== "" && isLocked(packages, parent, dependency);
}

describe.each(lockfiles)("$path", ({ packages }) => {
  it("locks the optional packages of every system, which npm ci requires", () => {
    const missing = Object.entries(packages).flatMap(([folder, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !isLocked(packages, folder, name))
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

  it("contains no registry URLs", () => {
    expect(Object.values(packages).filter(({ resolved, link }) => resolved !== undefined && !link)).toEqual([]);
  });
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
