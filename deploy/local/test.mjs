/**
 * `npm test [-- what vitest takes]`: the checks, then the tests against the real servers, then one line with the sum.
 */
import "./node-version.mjs";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runChecks } from "./check.mjs";
import { explain } from "./failure.mjs";
import { endGuarded, guardProcess } from "./guarded.mjs";
import { knownProcess } from "./process-identity.mjs";
import { say } from "./progress.mjs";
import { interruptCommands } from "./run-command.mjs";
import { ensureServers } from "./servers.mjs";
import { ensurePackages } from "./setup.mjs";
import { checkout } from "./state-folder.mjs";
import { tally } from "./vitest-report.mjs";

let ending = false;
const sum = { passed: 0, failed: 0 };
/**
 * @param {import("./vitest-report.mjs").Tally} part
 */
function add({ passed, failed }) {
  sum.passed += passed;
  sum.failed += failed;
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, async () => {
    sum.failed += 1;
    await interruptCommands();
    await end();
  });

try {
  await ensurePackages();
  add(await runChecks());
  const servers = await ensureServers({ profile: "test" });
  add(await runVitest(process.argv.slice(2), servers.env));
  await servers.stop();
} catch (error) {
  say(explain(error));
  sum.failed += 1;
}
await end();

/** Leaves nothing running, says the sum, and ends the process. */
async function end() {
  if (ending) return;
  ending = true;
  await endGuarded();
  say(`tests: ${sum.passed} passed, ${sum.failed} failed`);
  process.exit(sum.failed === 0 ? 0 : 1);
}

/**
 * @param {string[]} args
 * @param {import("./servers.d.mts").ServerUrls} urls
 * @returns {Promise<import("./vitest-report.mjs").Tally>}
 */
async function runVitest(args, urls) {
  const folder = mkdtempSync(join(tmpdir(), "pragma-report-"));
  const reportFile = join(folder, "report.json");
  const vitest = join(checkout, "node_modules", ".bin", "vitest");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
  const child = spawn(vitest, ["run", ...reporters, ...args], {
    cwd: checkout,
    env: { ...process.env, ...urls },
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (child.pid !== undefined) guardProcess(knownProcess(child.pid), "SIGTERM");
  try {
    const exitCode = await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", resolve);
    });
    return tally(reportFile, exitCode);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
