import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";
import { canInstallDebianPackages, installDebianPackagesWithApt } from "../deploy/local/debian-packages.js";
import { BenchmarkSkippedError } from "./benchmark.ts";

const execFileAsync = promisify(execFile);

interface WrkLoad {
  url: string;
  headers: Record<string, string>;
  connections: number;
  seconds: number;
}

/** Returns whether wrk is installed. @throws BenchmarkSkippedError if it is not and cannot be installed. */
export async function requireWrk(): Promise<void> {
  if (isInstalled()) return;
  if (canInstallDebianPackages()) await installDebianPackagesWithApt("Installing wrk with apt-get", ["wrk"]);
  if (!isInstalled())
    throw new BenchmarkSkippedError("wrk is not installed on this machine. Install it (Debian: apt-get install wrk).");
}

function isInstalled(): boolean {
  try {
    // wrk prints its version with exit code 1.
    execFileSync("wrk", ["-v"], { stdio: "ignore" });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
}

/** Sends requests as fast as the server responds. @throws Error unless all responses have a status of success. */
export async function runWrk({
  url,
  headers,
  connections,
  seconds,
}: WrkLoad): Promise<{ requests: number; perSecond: number }> {
  const headerArguments = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const load = ["-t1", `-c${connections}`, `-d${seconds}s`];
  const { stdout } = await execFileAsync("wrk", [...load, ...headerArguments, url]);
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  const hasFailed = /Non-2xx|Socket errors/.test(stdout);
  if (hasFailed || !(requests > 0)) throw new Error(`wrk reports failed requests to ${url}:\n${stdout}`);
  return { requests, perSecond };
}
