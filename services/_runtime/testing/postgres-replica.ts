import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { eventually } from "./eventually.ts";
import { createTestServerDataFolder, localServerStarters, type TestServerProcess } from "./local-servers.ts";

/** A PostgreSQL server and its streaming replica. The replica can be killed and started again. */
export interface TestPostgresReplication {
  primaryUrl: string;
  replicaUrl: string;
  /** Stops the replay of new changes on the replica, which continues to serve reads. */
  pauseReplay(): Promise<void>;
  resumeReplay(): Promise<void>;
  killReplica(): Promise<void>;
  startReplica(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL server and a replica, which is created with `pg_basebackup`. */
export async function startTestPostgresReplication(): Promise<TestPostgresReplication> {
  const folder = createTestServerDataFolder("replication");
  const primary = await localServerStarters.postgres({ dataFolder: join(folder, "primary") });
  const [cluster, programs] = await findClusterFolders(primary.url);
  const dataFolder = join(folder, "replica");
  const copy = cluster.replace("/primary/", "/replica/");
  mkdirSync(join(copy, ".."), { recursive: true, mode: 0o711 });
  const options = ["--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf", "--no-sync"];
  const { status, stderr } = spawnSync(
    join(programs, "pg_basebackup"),
    ["--pgdata", copy, "--dbname", primary.url, ...options],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`pg_basebackup failed: ${stderr}`);
  const { uid, gid } = statSync(cluster);
  for (const path of [".", ...readdirSync(copy, { recursive: true, encoding: "utf8" })])
    chownSync(join(copy, path), uid, gid);
  mkdirSync(dataFolder, { recursive: true, mode: 0o711 });
  writeFileSync(join(dataFolder, "password"), new URL(primary.url).password, { mode: 0o600 });
  let replica: TestServerProcess = await localServerStarters.postgres({ dataFolder });
  const { url: replicaUrl, port } = replica;

  const setReplay = async (state: "paused" | "not paused") => {
    const sql = postgres(replicaUrl, { max: 1, onnotice: () => {} });
    try {
      await (state === "paused" ? sql`select pg_wal_replay_pause()` : sql`select pg_wal_replay_resume()`);
      await eventually(`the replay to be ${state}`, async () => {
        const [row] = await sql<[{ state: string }]>`select pg_get_wal_replay_pause_state() as state`;
        return row.state === state;
      });
    } finally {
      await sql.end();
    }
  };
  return {
    primaryUrl: primary.url,
    replicaUrl,
    pauseReplay: () => setReplay("paused"),
    resumeReplay: () => setReplay("not paused"),
    killReplica: () => replica.kill(),
    async startReplica() {
      replica = await localServerStarters.postgres({ dataFolder, port });
    },
    async stop() {
      await replica.stop();
      await primary.stop();
    },
  };
}

/** Returns the folder with the data of a server, and the folder with its programs. */
async function findClusterFolders(url: string): Promise<[string, string]> {
  const sql = postgres(url, { max: 1 });
  try {
    const [row] = await sql<[{ cluster: string; programs: string }]>`
      select current_setting('data_directory') as cluster, setting as programs from pg_config where name = 'BINDIR'`;
    return [row.cluster, row.programs];
  } finally {
    await sql.end();
  }
}
