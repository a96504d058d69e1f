import { chownSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canInstallDebianPackages, installDebianPackagesWithApt } from "../debian-packages.ts";
import { findFreePort } from "../free-port.ts";
import { ensureEnterableFolder, findUnprivilegedUser } from "../postgres-cluster.ts";
import { launchLocalServer, type RunningServer } from "../run-server.ts";
import { isServerResponding } from "../servers.ts";
import { printLine } from "../terminal.mjs";

/** Folders with the program, of which Debian's is not in the PATH of all users. */
const programFolders = [...(process.env.PATH ?? "").split(":").filter(Boolean), "/usr/sbin"];

/** Returns the path of PgBouncer, or undefined if it is not installed. */
export function findPgBouncer(): string | undefined {
  return programFolders.map((folder) => join(folder, "pgbouncer")).find(existsSync);
}

/**
 * Installs PgBouncer if it is missing and this process is root on Debian. If it is still missing, prints that its tests
 * are skipped.
 */
export async function installPgBouncerIfMissing(): Promise<void> {
  if (findPgBouncer() === undefined && canInstallDebianPackages())
    await installDebianPackagesWithApt("Installing PgBouncer with apt-get", ["pgbouncer"]).catch((error) =>
      printLine(String(error)),
    );
  if (findPgBouncer() === undefined) printLine("PgBouncer is not installed: its tests are skipped.");
}

interface PgBouncerOptions {
  dataFolder: string;
  /** The URLs of the server with the roles that may connect, all of the same database. */
  serverUrls: string[];
  poolMode: "session" | "transaction";
  /** Further settings, such as `default_pool_size`. */
  settings?: Record<string, string | number>;
}

export type StartedPgBouncer = RunningServer & {
  /** Returns the URL that leads to the server of another URL through PgBouncer. */
  toPooledUrl(serverUrl: string): string;
};

/** Starts PgBouncer with its default settings in front of a PostgreSQL server. It never runs as root. */
export async function startPgBouncer({
  dataFolder,
  serverUrls,
  poolMode,
  settings = {},
}: PgBouncerOptions): Promise<StartedPgBouncer> {
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const user = findUnprivilegedUser();
  const folder = user === undefined ? dataFolder : ensureEnterableFolder(user, dataFolder);
  const write = (name: string, lines: string[]) => {
    const path = join(folder, name);
    writeFileSync(path, lines.join("\n"), { mode: 0o600 });
    if (user !== undefined) chownSync(path, user.uid, user.gid);
    return path;
  };
  const urls = serverUrls.map((url) => new URL(url));
  const port = await findFreePort();
  const users = urls.map(({ username, password }) => `"${username}" "${password}"`);
  const configFile = write("pgbouncer.ini", [
    "[databases]",
    `* = host=${urls[0]?.hostname} port=${urls[0]?.port}`,
    "[pgbouncer]",
    ...["listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir =", `pool_mode = ${poolMode}`],
    ...["auth_type = scram-sha-256", `auth_file = ${write("users.txt", users)}`],
    ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
  ]);
  const toPooledUrl = (serverUrl: string) => Object.assign(new URL(serverUrl), { port }).href;
  const server = await launchLocalServer({
    name: "PgBouncer",
    logFile: join(folder, "server.log"),
    port,
    isReady: () => isServerResponding("postgres", toPooledUrl(serverUrls[0] ?? "")),
    log: printLine,
    // SIGTERM ends it at once, and SIGINT would wait for the clients.
    command: findPgBouncer() ?? "pgbouncer",
    args: [configFile],
    user,
  });
  return { ...server, toPooledUrl };
}
