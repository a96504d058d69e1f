import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadDockerClient } from "./data-folder.mjs";
import { canInstallDebianPackages, installDebianPackagesWithApt } from "./debian-packages.ts";
import { LocalCommandUserError } from "./terminal.mjs";

export type InfrastructureServerKind = keyof typeof serverDefinitions;

export type InstalledServerBinary = ReturnType<typeof findInstalledServerBinaries>[number];

export const serverDefinitions = {
  postgres: {
    name: "PostgreSQL",
    program: "postgres",
    minVersion: "15",
    variable: "DATABASE_URL",
    package: "postgresql",
    /** The Docker image, which must be the same as in docker-compose.yml. */
    image: "postgres:17.11-alpine",
  },
  nats: {
    name: "NATS",
    program: "nats-server",
    minVersion: "2.9",
    variable: "NATS_URL",
    package: "nats-server",
    image: "nats:2.14.5-alpine",
  },
  redis: {
    name: "Redis",
    program: "redis-server",
    minVersion: "7",
    variable: "REDIS_URL",
    package: "redis-server",
    image: "redis:7.4.9-alpine",
  },
};

/** Folders of packages, which may be missing in PATH. An asterisk stands for any text, such as a version. */
const packageFolders = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
const postgresFolders = [
  "/usr/lib/postgresql/*/bin",
  "/opt/homebrew/opt/*/bin",
  "/usr/local/opt/*/bin",
  "/usr/pgsql-*/bin",
];

let lastSearch: Promise<unknown> = Promise.resolve();

/**
 * Returns the installed programs, the newest first, or an empty list for a server that must run in Docker. Installs missing
 * servers if Docker is not available and this process is root on Debian. @throws `LocalCommandUserError`
 */
export function findOrInstallServerBinaries<K extends InfrastructureServerKind>(
  kinds: readonly K[],
): Promise<Record<K, InstalledServerBinary[]>> {
  // Searches run one at a time, so that two searches do not install the same server.
  const search = lastSearch.then(() => findOrInstall(kinds, !isInDocker() && canInstallDebianPackages()));
  lastSearch = search.catch(() => {});
  return search;
}

async function findOrInstall<K extends InfrastructureServerKind>(kinds: readonly K[], mayInstall: boolean) {
  const binaries = Object.fromEntries(
    kinds.map((kind) => [kind, isInDocker() ? [] : findInstalledServerBinaries(kind)]),
  );
  const missing = kinds.filter((kind) => binaries[kind]?.length === 0).map((kind) => serverDefinitions[kind]);
  const canRunAll = missing.length === 0 || (await loadDockerClient().catch(() => undefined)) !== undefined;
  if (canRunAll) return binaries as Record<K, InstalledServerBinary[]>;
  if (mayInstall) {
    const packages = missing.map((server) => server.package);
    await installDebianPackagesWithApt("Installing servers with apt-get", packages);
    return findOrInstall(kinds, false);
  }
  const names = missing.map(({ name, minVersion, program }) => `${name} ${minVersion} or newer (${program})`);
  const variables = missing.map(({ variable }) => variable).join(", ");
  throw new LocalCommandUserError(
    `Not found on this machine: ${names.join(", ")}. Install what is missing, start Docker, or set ${variables} to a URL.`,
  );
}

const isInDocker = () => process.env.PRAGMA_SERVERS === "docker";

export function findInstalledServerBinaries(kind: InfrastructureServerKind) {
  const { program, minVersion } = serverDefinitions[kind];
  const pathFolders = (process.env.PATH ?? "").split(":").filter(Boolean);
  const ownFolders = kind === "postgres" ? postgresFolders.flatMap(expandFolderPattern) : [];
  const folders = [...pathFolders, ...packageFolders, ...ownFolders];
  const paths = folders.map((folder) => join(folder, program)).filter(existsSync);
  return (
    [...new Map(paths.map((path) => [realpathSync(path), path]))]
      // Links are kept, because some programs behave differently under another name. Only the links of PostgreSQL are
      // resolved, because its other programs, such as initdb, are in the real folder.
      .map(([real, path]) => (kind === "postgres" ? real : path))
      .filter((path) => kind !== "postgres" || existsSync(join(dirname(path), "initdb")))
      .map((path) => ({ path, version: readProgramVersion(path) }))
      .filter(({ version }) => compareVersions(version, minVersion) >= 0)
      .sort((a, b) => compareVersions(b.version, a.version))
  );
}

function expandFolderPattern(pattern: string): string[] {
  const [start = "", end = ""] = pattern.split("*");
  const parent = start.slice(0, start.lastIndexOf("/"));
  const entries = existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name)) : [];
  return entries.filter((path) => path.startsWith(start)).map((path) => path + end);
}

/** Returns the version that a program reports. If it reports none, returns "", which sorts before all versions. */
function readProgramVersion(path: string): string {
  const { stdout } = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 10_000 });
  return /\d+(?:\.\d+)*/.exec(stdout ?? "")?.[0] ?? "";
}

export const compareVersions = (a: string, b: string) => a.localeCompare(b, "en", { numeric: true });
