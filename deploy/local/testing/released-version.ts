import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

const repository = fileURLToPath(new URL("../../../", import.meta.url));

/** A version in the history of the repository. */
export interface Release {
  version: string;
  /** A commit or a tag. */
  commit: string;
}

/**
 * Version 1.0, by its commit, because copies of the repository can lack tags: the last commit before the changes for
 * version 1.1 that instances of version 1.0 notice, such as renamed columns.
 */
export const version10: Release = { version: "1.0.0", commit: "bf4f0f9652b5c369f1ef4761119119d6f46573c2" };

/** A copy of a released version, which uses the packages of this checkout. */
export interface ExtractedRelease {
  /** The arguments of the command `node` that start the version. */
  nodeArguments: string[];
  /** Compiles the copy, as installations run it. @returns the path of the compiled program. */
  compile(): Promise<string>;
  /** Deletes the copy. */
  remove(): Promise<void>;
}

/** Returns whether the history of the repository contains a release. A copy without history contains none. */
export async function isReleaseAvailable({ commit }: Release): Promise<boolean> {
  return run("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: repository }).then(
    () => true,
    () => false,
  );
}

/**
 * Returns the last release before this checkout: the newest version with a tag, such as `v1.2.0`, on an earlier commit, or
 * version 1.0.
 */
export async function findLastRelease(): Promise<Release> {
  const earlierTags = ["tag", "--list", "v*", "--merged", "HEAD", "--no-contains", "HEAD", "--sort=-version:refname"];
  const { stdout } = await run("git", earlierTags, { cwd: repository }).catch(() => ({ stdout: "" }));
  const [version] = stdout.split("\n").flatMap((tag) => /^v(\d+\.\d+\.\d+)$/.exec(tag)?.[1] ?? []);
  return version === undefined ? version10 : { version, commit: `v${version}` };
}

/** Copies a release from the history of the repository to a temporary folder. */
export async function extractRelease({ version, commit }: Release): Promise<ExtractedRelease> {
  const folder = await mkdtemp(join(tmpdir(), `pragma-${version}-`));
  const archive = join(folder, "sources.tar");
  const sources = ["package.json", "tsconfig.base.json", "contracts", "services", "gateway", "client", "simulator"];
  await run("git", ["archive", `--output=${archive}`, commit, ...sources], { cwd: repository });
  await run("tar", ["-xf", archive, "-C", folder]);
  await rm(archive);
  const packages = join(folder, "node_modules");
  await mkdir(packages);
  for (const name of await readdir(join(repository, "node_modules"))) {
    // The links to the packages of the repository are relative, so that their copies lead to the release.
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
