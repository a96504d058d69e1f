import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The last commit before the changes for version 1.1 that instances of version 1.0 notice, such as renamed columns. */
const version10Commit = "bf4f0f9652b5c369f1ef4761119119d6f46573c2";
const repository = fileURLToPath(new URL("../../../", import.meta.url));

/** A copy of version 1.0, which uses the packages of this checkout. */
export interface Version10 {
  /** The arguments of the command `node` that start version 1.0. */
  nodeArguments: string[];
  /** Compiles the copy, as installations run it. @returns the path of the compiled program. */
  compile(): Promise<string>;
  /** Deletes the copy. */
  remove(): Promise<void>;
}

/** Returns whether the history of the repository is complete enough. A copy without history has no version 1.0. */
export async function isVersion10Available(): Promise<boolean> {
  return run("git", ["cat-file", "-e", `${version10Commit}^{commit}`], { cwd: repository }).then(
    () => true,
    () => false,
  );
}

/** Copies version 1.0 from the history of the repository to a temporary folder. */
export async function extractVersion10(): Promise<Version10> {
  const folder = await mkdtemp(join(tmpdir(), "pragma-1-0-"));
  const archive = join(folder, "sources.tar");
  const sources = ["package.json", "tsconfig.base.json", "contracts", "services", "gateway", "client", "simulator"];
  await run("git", ["archive", `--output=${archive}`, version10Commit, ...sources], { cwd: repository });
  await run("tar", ["-xf", archive, "-C", folder]);
  await rm(archive);
  const packages = join(folder, "node_modules");
  await mkdir(packages);
  for (const name of await readdir(join(repository, "node_modules"))) {
    // The links to the packages of the repository are relative, so that their copies lead to version 1.0.
    if (name === "@pragma")
      await cp(join(repository, "node_modules", name), join(packages, name), {
        recursive: true,
        verbatimSymlinks: true,
      });
    else await symlink(join(repository, "node_modules", name), join(packages, name));
  }
  await symlink(join(repository, "services/node_modules"), join(folder, "services/node_modules"));
  return {
    nodeArguments: [
      "--conditions=source",
      `--import=${import.meta.resolve("tsx")}`,
      join(folder, "services", "main.ts"),
    ],
    async compile() {
      const compiler = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));
      await run(process.execPath, [compiler, "-b", join(folder, "services")]);
      return join(folder, "services", "dist", "main.js");
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
