import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { removeServerDataFolder } from "./data-folder.mjs";
import { createTestScratchFolder } from "./testing/scratch-folder.ts";

/** Locks the data folder and starts its servers, as `npm start` does, and prints when they are ready. */
const program = `
  const { prepareLocalStateFolder, lockStateFolder } = await import(process.argv[1]);
  const { ensureLocalServersRunning } = await import(process.argv[2]);
  prepareLocalStateFolder();
  await lockStateFolder();
  const urls = await ensureLocalServersRunning("start");
  const { default: postgres } = await import("postgres");
  const sql = postgres(urls.DATABASE_URL, { onnotice() {} });
  await sql\`create table if not exists starts (at timestamptz default now())\`;
  await sql\`insert into starts default values\`;
  const [{ count }] = await sql\`select count(*)::int from starts\`;
  // A backend that does not notice the end of PostgreSQL for some time.
  sql\`select count(*) from generate_series(1, 1e9)\`.catch(() => {});
  setTimeout(() => console.log("ready after " + count), 100);
  setInterval(() => {}, 1_000);`;

async function startServers(home: string): Promise<{ child: ChildProcess; line: string }> {
  const modules = ["state-folder.ts", "servers.ts"].map((name) => join(import.meta.dirname, name));
  const child = spawn(
    process.execPath,
    ["--import", import.meta.resolve("tsx"), "--input-type=module", "--eval", program, ...modules],
    {
      cwd: import.meta.dirname,
      env: { PATH: process.env.PATH, PRAGMA_HOME: home, TSX_DISABLE_CACHE: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  const errors: string[] = [];
  child.stderr?.on("data", (chunk) => errors.push(String(chunk)));
  const failed = once(child, "exit").then(() => {
    throw new Error(`The program ended: ${errors.join("")}`);
  });
  failed.catch(() => {});
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream }))
    if (line.startsWith("ready")) return { child, line };
  return failed;
}

it("starts again within the same second after SIGKILL of the program and its servers, or of everything", async () => {
  const home = join(createTestScratchFolder(), "data");
  // Registered before the servers start, so that it runs after they have stopped.
  onTestFinished(() => removeServerDataFolder(home));
  let { child } = await startServers(home);
  for (const isCleanupProcessKilled of [false, true]) {
    const { resources, cleanupProcess } = JSON.parse(readFileSync(join(home, "running.json"), "utf8"));
    const pids: number[] = resources.map(({ id }: { id: number }) => id);
    expect(pids.length).toBeGreaterThanOrEqual(3);
    if (isCleanupProcessKilled) pids.unshift(cleanupProcess.pid);
    for (const pid of [child.pid ?? 0, ...pids]) process.kill(pid, "SIGKILL");
    const next = await startServers(home);
    expect(next.line).toBe(`ready after ${isCleanupProcessKilled ? 3 : 2}`);
    child = next.child;
  }
}, 240_000);
