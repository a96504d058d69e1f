import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadContainerRuntime } from "./data-folder.mjs";
import { lastLinesOf, runCommand } from "./run-command.mjs";
import { UserFacingError, withProgress } from "./terminal.mjs";

export type ServerKind = keyof typeof serverSoftware;

/** A program on this machine that can run a server. */
export interface ServerBinary {
  path: string;
  /** As the program states it: 15.14. */
  version: string;
}

export const serverSoftware = {
  postgres: {
    name: "PostgreSQL",
    program: "postgres",
    minVersion: "15",
    /** Names a server that somebody else runs. */
    variable: "DATABASE_URL",
    /** Debian's. */
    package: "postgresql",
    /** Of the version that docker-compose.yml runs. */
    image: "postgres:17.11-alpine",
  },
  nats: {
    name: "NATS",
    program: "nats-server",
    minVersion: "2.9",
    variable: "NATS_URL",
    package: "nats-server",
    image: "nats:2.10.29-alpine",
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

/** Folders outside PATH where packages put server programs. A star stands for the folder of each version. */
const packageFolders = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
const postgresFolders = [
  "/usr/lib/postgresql/*/bin",
  "/opt/homebrew/opt/*/bin",
  "/usr/local/opt/*/bin",
  "/usr/pgsql-*/bin",
];

let lastSearch: Promise<unknown> = Promise.resolve();

/**
 * The programs that can run each of these servers, the newest first; none of a server that the Docker engine runs, for
 * lack of a program or because PRAGMA_SERVERS is docker. As root on Debian, what is nowhere is installed now.
 *
 * @throws Failure naming what to install.
 */
export function findServerBinaries<K extends ServerKind>(kinds: readonly K[]): Promise<Record<K, ServerBinary[]>> {
  // One after the other: two that miss the same server would both install it.
  const search = lastSearch.then(() => findOrInstall(kinds, canInstallDebianPackages()));
  lastSearch = search.catch(() => {});
  return search;
}

async function findOrInstall<K extends ServerKind>(kinds: readonly K[], mayInstall: boolean) {
  const isInDocker = process.env.PRAGMA_SERVERS === "docker";
  const found = Object.fromEntries(kinds.map((kind) => [kind, isInDocker ? [] : findInstalledBinaries(kind)]));
  const missing = kinds.filter((kind) => found[kind]?.length === 0).map((kind) => serverSoftware[kind]);
  const canRun = missing.length === 0 || (await loadContainerRuntime().catch(() => undefined)) !== undefined;
  if (canRun) return found as Record<K, ServerBinary[]>;
  if (mayInstall) {
    await installDebianPackages(
      "Installing servers with apt-get",
      missing.map((server) => server.package),
    );
    return findOrInstall(kinds, false);
  }
  const names = missing.map(({ name, minVersion, program }) => `${name} ${minVersion} or newer (${program})`);
  const variables = missing.map(({ variable }) => variable).join(", ");
  throw new UserFacingError(
    `Not found on this machine: ${names.join(", ")}. Install it, or start Docker, or give a URL in ${variables}.`,
  );
}

/** The programs on this machine that can run a server of this kind, the newest version first. */
export function findInstalledBinaries(kind: ServerKind): ServerBinary[] {
  const { program, minVersion } = serverSoftware[kind];
  const inPath = (process.env.PATH ?? "").split(":").filter(Boolean);
  const folders = [
    ...inPath,
    ...packageFolders,
    ...(kind === "postgres" ? postgresFolders.flatMap(expandFolderPattern) : []),
  ];
  const paths = folders.map((folder) => join(folder, program)).filter(existsSync);
  return (
    [...new Map(paths.map((path) => [realpathSync(path), path]))]
      // A link's name tells some programs what to be; PostgreSQL needs its companions, which are beside the real file.
      .map(([real, path]) => (kind === "postgres" ? real : path))
      .filter((path) => kind !== "postgres" || existsSync(join(dirname(path), "initdb")))
      .map((path) => ({ path, version: readProgramVersion(path) }))
      .filter(({ version }) => compareVersions(version, minVersion) >= 0)
      .sort((a, b) => compareVersions(b.version, a.version))
  );
}

/** The folders that a pattern with one star stands for. */
function expandFolderPattern(pattern: string): string[] {
  const [start = "", end = ""] = pattern.split("*");
  const parent = start.slice(0, start.lastIndexOf("/"));
  const found = existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name)) : [];
  return found.filter((path) => path.startsWith(start)).map((path) => path + end);
}

/** Empty, which is older than everything, when the program does not tell. */
function readProgramVersion(path: string): string {
  const { stdout } = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 10_000 });
  return /\d+(?:\.\d+)*/.exec(stdout ?? "")?.[0] ?? "";
}

const compareVersions = (a: string, b: string) => a.localeCompare(b, "en", { numeric: true });

const createdFileMark = "Made by npm start or npm test while packages are installed; remove it when neither runs.";
const aptLockTimeoutMs = 300_000;
const aptEnvironment = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
/** Half an installation is worse than none: it is not ended with this process, but waited for. */
const uninterruptible = { signal: "SIGCONT", timeoutMs: 600_000 } as const;

/** Files that keep Debian from starting the servers it installs and from creating a cluster of its own. */
const startBlockers = [
  { path: "/usr/sbin/policy-rc.d", content: `#!/bin/sh\n# ${createdFileMark}\nexit 101\n`, mode: 0o755 },
  {
    path: "/etc/postgresql-common/createcluster.d/pragma.conf",
    content: `# ${createdFileMark}\ncreate_main_cluster = false\n`,
    mode: 0o644,
  },
];

/** Whether this process may install Debian packages. */
export function canInstallDebianPackages(): boolean {
  return process.getuid?.() === 0 && existsSync("/etc/debian_version") && existsSync("/usr/bin/apt-get");
}

/**
 * Installs packages from Debian's archive without letting what they bring start, now or with the machine.
 *
 * @throws Failure with the end of apt-get's output.
 */
export async function installDebianPackages(label: string, names: string[]): Promise<void> {
  await withProgress(label, async (show) => {
    show("package lists");
    await aptGet(["update"], show);
    show(names.join(", "));
    const release = blockServiceStarts();
    process.once("exit", release);
    try {
      await aptGet(["install", "--yes", "--no-install-recommends", ...names], show);
    } finally {
      process.off("exit", release);
      release();
    }
    // Where one of them is a service.
    spawnSync("systemctl", ["disable", ...names], { stdio: "ignore" });
  });
}

/** Puts the brakes on, leaving alone the files that somebody else put there. Returns what takes them off again. */
function blockServiceStarts(): () => void {
  const applied = startBlockers.filter(
    ({ path }) => !existsSync(path) || readFileSync(path, "utf8").includes(createdFileMark),
  );
  for (const { path, content, mode } of applied) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    chmodSync(path, mode);
  }
  return () => {
    for (const { path } of applied) rmSync(path, { force: true });
  };
}

/** Runs apt-get, waiting while another one holds its locks. */
async function aptGet(args: string[], show: (detail: string) => void): Promise<void> {
  for (const deadline = Date.now() + aptLockTimeoutMs; ; await sleep(1_000)) {
    const options = ["-o", "DPkg::Lock::Timeout=300", "-q"];
    const { code, output } = await runCommand(
      "apt-get",
      [...options, ...args],
      { env: aptEnvironment },
      uninterruptible,
    );
    if (code === 0) return;
    if (!/Could not get lock/.test(output) || Date.now() > deadline)
      throw new UserFacingError(`apt-get ${args[0]} failed:\n${lastLinesOf(output)}`);
    show("waiting for another apt-get");
  }
}
