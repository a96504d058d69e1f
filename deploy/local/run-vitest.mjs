import { spawn } from "node:child_process";
import { join } from "node:path";
import { removeDataFolder, temporaryDataFolder } from "./data-folder.mjs";
import { guardGroup, releaseProcess } from "./guarded.mjs";
import { killGroup, knownProcess } from "./process-identity.mjs";
import { checkout } from "./state-folder.mjs";
import { readReport } from "./vitest-report.mjs";

/**
 * Runs vitest, showing what it says, and ends the processes that tests have left running.
 * @param {string[]} args
 * @param {import("./servers.d.mts").ServerUrls} urls
 * @returns {Promise<import("./vitest-report.mjs").Outcome>}
 */
export async function runVitest(args, urls) {
  // For what tests leave behind, too.
  const folder = temporaryDataFolder("vitest");
  const reportFile = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
  const child = spawn(join(checkout, "node_modules", ".bin", "vitest"), ["run", ...reporters, ...args], {
    cwd: checkout,
    // A process group of its own, which tells what the tests have started.
    detached: true,
    env: { ...process.env, ...urls, TMPDIR: folder },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const ended = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  try {
    if (child.pid === undefined) return await ended;
    const known = knownProcess(child.pid);
    guardGroup(known, "SIGTERM");
    const exitCode = await ended;
    killGroup(known.pid);
    releaseProcess(known);
    return readReport(reportFile, exitCode);
  } finally {
    await removeDataFolder(folder);
  }
}
