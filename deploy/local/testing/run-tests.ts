import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryDataFolder, removeDataFolder } from "../data-folder.mjs";
import { spawnWithCleanup } from "../process-cleanup.mjs";
import { ensureServers } from "../servers.ts";
import { checkoutFolder } from "../setup.mjs";
import { buildPortal } from "../start.ts";
import { printLine } from "../terminal.mjs";
import { ensureChromium } from "./chromium.ts";
import { runChecks } from "./run-checks.ts";

interface TestTotals {
  passed: number;
  failed: number;
}

/** The parts of vitest's JSON report that count here. */
interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  /** One per file. */
  testResults: { status: string; assertionResults: TestResult[] }[];
}

interface TestResult {
  status: string;
  fullName: string;
  failureMessages: string[];
}

/** Runs the checks and then vitest against real servers, adding up what passed and failed as it is known. */
export async function runTests(args: string[], add: (part: TestTotals) => void): Promise<void> {
  // Meanwhile: what is installed is waited for, and needs no core.
  const preparing = ensureChromium().then(() => ensureServers("test"));
  preparing.catch(() => {});
  add(await runChecks());
  const urls = await preparing;
  await buildPortal();
  const { secondTries, ...sum } = await runVitest(args, urls);
  for (const test of secondTries) printLine(`passed only when it was tried again: ${test}`);
  add(sum);
}

/** Runs vitest, showing what it says, and ends the processes that tests have left running. */
async function runVitest(args: string[], env: NodeJS.ProcessEnv): Promise<TestTotals & { secondTries: string[] }> {
  // For what tests leave behind, too.
  const folder = createTemporaryDataFolder("vitest");
  const reportFile = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
  const child = spawnWithCleanup(
    join(checkoutFolder, "node_modules", ".bin", "vitest"),
    ["run", ...reporters, ...args],
    {
      cwd: checkoutFolder,
      env: { ...process.env, ...env, TMPDIR: folder },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  const [exitCode] = await once(child, "exit");
  const outcome = readVitestReport(reportFile, exitCode);
  await removeDataFolder(folder);
  return outcome;
}

/**
 * What a run of vitest comes to, with what failed at first and passed when it was tried again: each as its name and
 * reasons. A file that could not be loaded, or whose hooks failed past its tests, is one failure; so is a run that ended
 * badly without any failed test, and a run without tests.
 */
export function readVitestReport(reportFile: string, exitCode: number | null): TestTotals & { secondTries: string[] } {
  if (!existsSync(reportFile)) return { passed: 0, failed: 1, secondTries: [] };
  const report = JSON.parse(readFileSync(reportFile, "utf8")) as VitestReport;
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((assertion) => assertion.status === "failed"),
  );
  const passed = report.numPassedTests;
  const failed = report.numFailedTests + brokenFiles.length;
  const isUnexplained = failed === 0 && (exitCode !== 0 || passed === 0);
  const secondTries = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, failureMessages }) => status === "passed" && failureMessages.length > 0)
    .map(({ fullName, failureMessages }) => [fullName, ...failureMessages].join("\n"));
  return { passed, failed: isUnexplained ? 1 : failed, secondTries };
}
