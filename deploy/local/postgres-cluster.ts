import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { getFallbackDataFolder } from "./data-folder.mjs";
import type { InstalledServerBinary } from "./find-servers.ts";
import { readProcessIdentity, terminateProcess } from "./process-cleanup.mjs";
import { runCommandOrFail } from "./run-command.mjs";
import type { ServerLaunchSpec } from "./run-server.ts";
import { LocalCommandUserError, printLine } from "./terminal.mjs";

interface LocalClusterOptions {
  folder: string;
  binaries: InstalledServerBinary[];
  password: string;
  /** Whether to flush the files of a new cluster to disk, so that the cluster survives a power cut. */
  durable: boolean;
}

/** Creates a cluster if necessary, and returns how to launch PostgreSQL: as another user if this process is root. */
export async function preparePostgresCluster(options: LocalClusterOptions): Promise<ServerLaunchSpec> {
  const { folder, binaries } = options;
  const user = findUnprivilegedUser();
  const cluster = join(user === undefined ? folder : ensureEnterableFolder(user, folder), "cluster");
  const programs = findProgramsFolder(binaries, cluster);
  if (!existsSync(cluster)) await createCluster(cluster, programs, { ...options, user });
  await cleanUpAfterKilledServer(cluster);
  const listenOptions = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="];
  return { command: join(programs, "postgres"), args: ["-D", cluster, ...listenOptions], user };
}

/** Returns the folder of the programs: of the version that created the cluster, or of the newest for a new one. */
function findProgramsFolder(binaries: InstalledServerBinary[], cluster: string): string {
  const newest = binaries[0] ?? { path: "", version: "none" };
  if (!existsSync(cluster)) return dirname(newest.path);
  const versionFile = join(cluster, "PG_VERSION");
  if (!existsSync(versionFile))
    throw new LocalCommandUserError(
      `${cluster} is no longer a PostgreSQL cluster, and its data is lost. Remove the folder and start again.`,
    );
  const clusterVersion = readFileSync(versionFile, "utf8").trim();
  const matching = binaries.find(({ version }) => version.split(".")[0] === clusterVersion);
  if (matching !== undefined) return dirname(matching.path);
  throw new LocalCommandUserError(
    `The data in ${cluster} was created by PostgreSQL ${clusterVersion}, but this machine has ${newest.version}. ` +
      `Install PostgreSQL ${clusterVersion}, or remove the folder to start with empty data.`,
  );
}

/**
 * Creates a UTF-8 cluster with an empty database `pragma` and a user `pragma`. The folder gets its name last, so that an
 * incomplete cluster is never started.
 */
async function createCluster(
  cluster: string,
  programs: string,
  { user, password, durable }: LocalClusterOptions & { user: OperatingSystemUser | undefined },
) {
  const unfinished = `${cluster}.unfinished`;
  const passwordFile = `${cluster}.password`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user !== undefined) for (const path of [unfinished, passwordFile]) chownSync(path, user.uid, user.gid);
  const ctype = process.platform === "darwin" ? "UTF-8" : "C.UTF-8";
  const run = async (program: string, args: string[], input = "") => {
    const options = { cwd: "/", env: { LC_ALL: "C", TZ: "UTC" }, input, ...user };
    const output = await runCommandOrFail(join(programs, program), args, options, `${program} failed`);
    // In single-user mode, PostgreSQL prints errors but exits with code 0, so the output is searched for errors.
    if (/\b(ERROR|FATAL|PANIC):/.test(output)) throw new LocalCommandUserError(`${program} failed:\n${output}`);
  };
  try {
    await run("initdb", [
      ...["--pgdata", unfinished, "--username", "pragma", "--pwfile", passwordFile, "--auth", "scram-sha-256"],
      ...["--encoding", "UTF8", "--locale", "C", "--lc-ctype", ctype, ...(durable ? [] : ["--no-sync"])],
    ]);
    const args = ["--single", "-D", unfinished, ...(durable ? [] : ["-F"]), "postgres"];
    await run("postgres", args, "CREATE DATABASE pragma\n");
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(unfinished, cluster);
}

/**
 * Kills the processes of a killed server that have not noticed its end, and removes its lock file if its process id now belongs
 * to another process, for which PostgreSQL would take it. Without such a process, the file stays, because it records the
 * shared memory of the killed server.
 */
async function cleanUpAfterKilledServer(cluster: string): Promise<void> {
  const lockFile = join(cluster, "postmaster.pid");
  if (!existsSync(lockFile)) return;
  const pid = String(Number.parseInt(readFileSync(lockFile, "utf8"), 10));
  if (process.platform === "linux") await killOrphanedBackends(realpathSync(cluster), pid);
  const { stdout, status } = spawnSync("ps", ["-ww", "-o", "args=", "-p", pid], { encoding: "utf8" });
  if (status === 0 && !stdout.includes(cluster)) rmSync(lockFile);
}

/**
 * Kills processes that execute a long query after their server was killed. They use the shared memory, so that PostgreSQL
 * does not start. Works on Linux only; elsewhere, the start waits for them.
 */
async function killOrphanedBackends(folder: string, serverPid: string): Promise<void> {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && readWorkingFolder(name) === folder);
  if (pids.includes(serverPid)) return;
  const backends = pids.map((pid) => readProcessIdentity(Number(pid)));
  await Promise.all(backends.map((identity) => terminateProcess(identity, "SIGKILL", 5_000)));
}

function readWorkingFolder(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

export type OperatingSystemUser = NonNullable<ReturnType<typeof lookUpSystemUser>>;

/**
 * Returns Debian's `postgres`, or `pragma`, which is created if necessary, if this process is root: PostgreSQL and PgBouncer
 * refuse to run as root. @throws `LocalCommandUserError` when the user cannot be created.
 */
export function findUnprivilegedUser(): OperatingSystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const existing = lookUpSystemUser("postgres") ?? lookUpSystemUser("pragma");
  if (existing !== undefined) return existing;
  spawnSync("useradd", ["--system", "--no-create-home", "--shell", "/usr/sbin/nologin", "pragma"]);
  const created = lookUpSystemUser("pragma");
  if (created !== undefined) return created;
  throw new LocalCommandUserError(
    "PostgreSQL cannot run as root, and no user to run PostgreSQL could be created. Create a user named postgres.",
  );
}

function lookUpSystemUser(name: string) {
  const [uid, gid] = ["-u", "-g"].map((option) => {
    const { status, stdout } = spawnSync("id", [option, name], { encoding: "utf8" });
    return status === 0 ? Number(stdout) : 0;
  });
  return uid && gid ? { name, uid, gid } : undefined;
}

/**
 * Returns a data folder that this user can enter: the given one, to which the user's group gets access, or a fallback in
 * /var/tmp. @throws `LocalCommandUserError` if the fallback does not belong to root.
 */
export function ensureEnterableFolder({ name, uid, gid }: OperatingSystemUser, folder: string): string {
  const canEnter = (path: string) =>
    spawnSync("/bin/sh", ["-c", 'cd -- "$1"', "sh", path], { cwd: "/", uid, gid, stdio: "ignore" }).status === 0;
  for (const each of [folder, dirname(folder)]) {
    if (canEnter(folder)) return folder;
    chownSync(each, 0, gid);
    chmodSync(each, 0o710);
  }
  if (canEnter(folder)) return folder;
  const fallback = getFallbackDataFolder(folder);
  mkdirSync(fallback, { recursive: true, mode: 0o700 });
  const { uid: owner } = lstatSync(fallback);
  if (owner !== 0) throw new LocalCommandUserError(`${fallback} belongs to another user. Remove it and start again.`);
  chownSync(fallback, 0, gid);
  chmodSync(fallback, 0o710);
  if (existsSync(join(fallback, "cluster"))) return fallback;
  printLine(`PostgreSQL runs as the user ${name}, who has no access to ${folder}. The data is stored in ${fallback}.`);
  return fallback;
}
