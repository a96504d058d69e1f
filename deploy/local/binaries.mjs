import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** @typedef {"postgres" | "nats" | "redis"} ServerKind */
/** @typedef {{ path: string, version: number[] }} Binary */

/** What each server's program is called, and the oldest version that will do. */
export const wanted = /** @type {const} */ ({
  postgres: { name: "PostgreSQL", program: "postgres", atLeast: [15] },
  nats: { name: "NATS", program: "nats-server", atLeast: [2, 9] },
  redis: { name: "Redis", program: "redis-server", atLeast: [7] },
});

/** The variable of the environment that names a server which somebody else runs. */
export const urlVariable = /** @type {const} */ ({ postgres: "DATABASE_URL", nats: "NATS_URL", redis: "REDIS_URL" });

/** Folders outside PATH where packages put server programs. */
const packageFolders = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
/** Folders with one subfolder per version of PostgreSQL. */
const versionFolders = [
  { parent: "/usr/lib/postgresql", bin: "bin" },
  { parent: "/opt/homebrew/opt", bin: "bin" },
  { parent: "/usr/local/opt", bin: "bin" },
  { parent: "/usr", bin: "bin", prefix: "pgsql-" },
];

/**
 * The programs on this machine that can run a server of this kind, the newest version first.
 * @param {ServerKind} kind
 * @returns {Binary[]}
 */
export function binariesOf(kind) {
  const { program, atLeast } = wanted[kind];
  const folders = [...(process.env.PATH ?? "").split(":").filter(Boolean), ...packageFolders];
  if (kind === "postgres") folders.push(...postgresFolders());
  const paths = folders.map((folder) => join(folder, program)).filter(existsSync);
  return (
    [...new Map(paths.map((path) => [realpathSync(path), path]))]
      // A link's name tells some programs what to be; PostgreSQL needs its companions, which are beside the real file.
      .map(([real, path]) => (kind === "postgres" ? real : path))
      .filter((path) => kind !== "postgres" || existsSync(join(dirname(path), "initdb")))
      .map((path) => ({ path, version: versionOf(path) }))
      .filter(({ version }) => version.length > 0 && compareVersions(version, atLeast) >= 0)
      .sort((a, b) => compareVersions(b.version, a.version))
  );
}

/**
 * @returns {string[]}
 */
function postgresFolders() {
  return versionFolders
    .filter(({ parent }) => existsSync(parent))
    .flatMap(({ parent, bin, prefix = "" }) =>
      readdirSync(parent)
        .filter((name) => name.startsWith(prefix))
        .map((name) => join(parent, name, bin)),
    );
}

/**
 * @param {string} path
 * @returns {number[]} empty when the program does not tell
 */
function versionOf(path) {
  const { stdout } = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 10_000 });
  return (
    /(\d+(?:\.\d+)*)/
      .exec(stdout ?? "")?.[1]
      ?.split(".")
      .map(Number) ?? []
  );
}

/**
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 * @returns {number} negative when `a` is older
 */
function compareVersions(a, b) {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
