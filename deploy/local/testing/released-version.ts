import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

const repository = fileURLToPath(new URL("../../../", import.meta.url));

const releasedVersions = new URL("../../released-versions.json", import.meta.url);

/** A released version, by its commit in the history of the repository, because copies of the repository can lack tags. */
export interface Release {
  version: string;
  commit: string;
}

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

/** Returns the last release, which `npm run release -- --record` has written to the list; undefined before the first. */
export async function findLastRelease(): Promise<Release | undefined> {
  const releases: Release[] = JSON.parse(await readFile(releasedVersions, "utf8"));
  return releases.at(-1);
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
      await run(process.execPath, ["--import", "tsx", join(folder, "deploy", "local", "bundle.ts")]);
      return join(folder, "build", "services", "main.js");
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
