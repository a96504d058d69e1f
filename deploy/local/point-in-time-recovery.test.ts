import { execFile } from "node:child_process";
import { chown, copyFile, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import postgres from "postgres";
import { afterAll, describe, expect, it, vi } from "vitest";
import { createTemporaryDataFolder } from "./data-folder.mjs";
import { findOrInstallServerBinaries } from "./find-servers.ts";
import { type StartedLocalServer, startPostgresServer } from "./servers.ts";

const scripts = fileURLToPath(new URL("../postgres/", import.meta.url));
const [binary] = (await findOrInstallServerBinaries(["postgres"])).postgres;

const folder = createTemporaryDataFolder("recovery");
const archive = join(folder, "archive");
const objects = join(folder, "objects");
const servers: StartedLocalServer[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
});

/** Runs a script of deploy/postgres, which connects to the server at the URL. */
function runScript(name: string, args: string[], { url, ...environment }: { url?: string; [name: string]: unknown }) {
  const { hostname, port, username, password } = new URL(url ?? "postgres://none");
  return promisify(execFile)("sh", [join(scripts, name), ...args], {
    env: {
      PATH: `${dirname(binary?.path ?? "")}:${process.env.PATH}`,
      ...{ PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password, PGDATABASE: "pragma" },
      ...{ ARCHIVE_FOLDER: archive, OBJECTS_FOLDER: objects },
      ...(environment as Record<string, string>),
    },
  });
}

const listBaseBackups = async () => (await readdir(join(archive, "base"))).sort();

// Without installed PostgreSQL programs, servers run in containers, which cannot reach these folders.
describe.runIf(binary)("an archive of base backups and WAL", () => {
  it("restores the database as it was at a chosen time", async () => {
    const original = join(folder, "original");
    await mkdir(join(archive, "wal"), { recursive: true });
    await mkdir(join(objects, "tills"), { recursive: true });
    await writeFile(join(objects, "tills", "first"), "1");
    await mkdir(join(objects, "exports"));
    await writeFile(join(objects, "exports", "file"), "1");
    const server = await startPostgresServer({
      dataFolder: original,
      adjustLaunch: (launch) => ({
        ...launch,
        args: [
          ...launch.args,
          ...["-c", "archive_mode=on", "-c", "archive_timeout=60"],
          ...["-c", `archive_command=sh '${scripts}archive-wal.sh' '%p' '${archive}/wal/%f.gz'`],
        ],
      }),
    });
    servers.push(server);
    const { uid, gid } = await stat(join(original, "cluster"));
    await chown(join(archive, "wal"), uid, gid);
    const sql = postgres(server.url, { max: 1, onnotice: () => {} });
    await sql`create table tills (id int)`;
    await sql`insert into tills values (1)`;
    const { url } = server;

    await runScript("back-up.sh", ["once"], { url });
    expect(await listBaseBackups()).toHaveLength(1);
    expect(await readFile(join(archive, "objects", "tills", "first"), "utf8")).toBe("1");
    // Clients can create the files of exports again.
    expect(await readdir(join(archive, "objects"))).toEqual(["tills"]);
    const metrics = await readFile(join(archive, "metrics", "backup.prom"), "utf8");
    expect(metrics).toMatch(
      /^backup_completed_timestamp_seconds\{backup="postgres"\} \d{10}\nbackup_completed_timestamp_seconds\{backup="objects"\} \d{10}\n$/,
    );

    await sleep(1100);
    await sql`insert into tills values (2)`;
    const target = new Date(Math.ceil(Date.now() / 1000) * 1000);
    await sleep(target.getTime() - Date.now() + 300);
    await sql`delete from tills`;
    const [{ file } = { file: "" }] = await sql<{ file: string }[]>`select pg_walfile_name(pg_switch_wal()) as file`;
    await vi.waitUntil(async () => (await readdir(join(archive, "wal"))).includes(`${file}.gz`), { timeout: 60_000 });
    await sql.end();
    await server.stop();

    const restored = join(folder, "restored");
    await mkdir(restored, { mode: 0o711 });
    await copyFile(join(original, "password"), join(restored, "password"));
    const time = target.toISOString().replace(".000", "");
    const variables = { PGDATA: join(restored, "cluster"), PGDATA_OWNER: `${uid}:${gid}` };
    await expect(runScript("restore-to.sh", ["2020-01-01T00:00:00Z"], variables)).rejects.toThrow(/no base backup/);
    await runScript("restore-to.sh", [time], variables);
    await expect(runScript("restore-to.sh", [time], variables)).rejects.toThrow(/is not empty/);
    const recovered = await startPostgresServer({ dataFolder: restored });
    servers.push(recovered);
    const recoveredSql = postgres(recovered.url, { max: 1 });
    const isRecovered = async () =>
      (await recoveredSql<{ done: boolean }[]>`select not pg_is_in_recovery() as done`)[0]?.done;
    await vi.waitUntil(isRecovered, { timeout: 60_000 });
    expect((await recoveredSql`select id from tills order by id`).map(({ id }) => id)).toEqual([1, 2]);

    // A new backup removes the old one, and what only the old one needed.
    const [old = ""] = await listBaseBackups();
    await utimes(join(archive, "base", old), new Date(0), new Date(0));
    await rm(join(objects, "tills", "first"));
    await writeFile(join(objects, "tills", "second"), "2");
    // An upload that was in progress when the earlier backup began has an earlier time.
    const beforeEarlierBackup = new Date(Date.now() - 10 * 60_000);
    await utimes(join(objects, "tills", "second"), beforeEarlierBackup, beforeEarlierBackup);
    await runScript("back-up.sh", ["once"], { url: recovered.url });
    expect(await listBaseBackups()).toEqual([expect.not.stringMatching(old)]);
    expect(await readdir(join(archive, "objects", "tills"))).toEqual(["second"]);
    expect(await readdir(join(archive, "wal"))).not.toContain(`${file}.gz`);

    await runScript("create-monitor-role.sh", [], { url: recovered.url, POSTGRES_PASSWORD_MONITOR: "monitor" });
    await runScript("create-monitor-role.sh", [], { url: recovered.url, POSTGRES_PASSWORD_MONITOR: "changed" });
    const monitorUrl = Object.assign(new URL(recovered.url), { username: "pragma_monitor", password: "changed" });
    const monitor = postgres(monitorUrl.href, { max: 1 });
    expect(await monitor`select count(*) > 0 as readable from pg_stat_activity`).toEqual([{ readable: true }]);
    await expect(monitor`select * from tills`).rejects.toThrow(/permission denied/);
    await Promise.all([monitor.end(), recoveredSql.end()]);
  }, 120_000);
});

describe.runIf(binary)("the archive_command", () => {
  it("never replaces a file of the archive, but accepts the same file again", async () => {
    const [source, target] = [join(folder, "wal-file"), join(folder, "wal-file.gz")];
    const archiveFile = () => runScript("archive-wal.sh", [source, target], {});
    await writeFile(source, "first");
    await archiveFile();
    await archiveFile();
    await writeFile(source, "second");
    await expect(archiveFile()).rejects.toThrow();
  });
});
