import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const execFileAsync = promisify(execFile);

/** Returns the physical memory that a process uses, in megabytes. */
export async function readResidentMemoryMegabytes(pid: number): Promise<number> {
  const kilobytes = await readProcKilobytes(pid).catch(() => readPsKilobytes(pid));
  return Math.round(kilobytes / 1024);
}

async function readProcKilobytes(pid: number): Promise<number> {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  if (kilobytes === undefined) throw new Error(`/proc has no memory of process ${pid}.`);
  return Number(kilobytes);
}

/** Returns the physical memory of a process in kilobytes. For systems without `/proc`, such as macOS. */
async function readPsKilobytes(pid: number): Promise<number> {
  const { stdout } = await execFileAsync("ps", ["-o", "rss=", "-p", String(pid)]);
  return Number(stdout);
}
