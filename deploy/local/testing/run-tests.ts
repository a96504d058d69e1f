import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildConsole } from "../console.ts";
import { createTemporaryDataFolder, removeServerDataFolder } from "../data-folder.mjs";
import { buildDocsPortal } from "../portal.ts";
import { spawnProcessWithExitCleanup } from "../process-cleanup.mjs";
import { ensureLocalServersRunning } from "../servers.ts";
import { repositoryFolder } from "../setup.mjs";
import { printLine } from "../terminal.mjs";
import { ensureChromiumInstalled } from "./chromium.ts";
import { findOrDownloadHelm } from "./helm.ts";
import { installPgBouncerIfMissing } from "./pgbouncer.ts";
import { runRepositoryChecks } from "./run-checks.ts";
import { installMissingSampleRuntimes } from "./sample-runtimes.ts";

interface TestTotals {
  passed: number;
  failed: number;
}

/** The parts of vitest's JSON report that are used here. */
interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  /** The results, with one entry for each test file. */
  testResults: { status: string; assertionResults: TestResult[] }[];
}

interface TestResult {
  status: string;
  fullName: string;
  failureMessages: string[];
}

/** Runs the checks and then vitest against real servers. Calls `add` with the totals of each part. */
export async function runChecksAndTests(args: string[], add: (part: TestTotals) => void): Promise<void> {
  // Starts the preparation during the checks, because the checks do not use both cores all the time. If the preparation
  // fails, its error is thrown after the checks.
  const preparing = Promise.all([
    ensureChromiumInstalled()
      .then(installMissingSampleRuntimes)
      .then(installPgBouncerIfMissing)
      .then(() => ensureLocalServersRunning("test")),
    buildDocsPortal(),
    buildConsole(),
    findOrDownloadHelm(),
  ]);
  preparing.catch(() => {});
  add(await runRepositoryChecks());
  const [urls] = await preparing;
  const { retriedTests, ...totals } = await runVitest(args, urls);
  for (const test of retriedTests) printLine(`passed only on retry: ${test}`);
  add(totals);
}

/** Runs vitest, shows its output, and removes temporary files that the tests have not removed. */
async function runVitest(args: string[], env: NodeJS.ProcessEnv): Promise<TestTotals & { retriedTests: string[] }> {
  // The folder is also the TMPDIR of the tests, so that removing it also removes their temporary files.
  const folder = createTemporaryDataFolder("vitest");
  const reportFile = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
  const child = spawnProcessWithExitCleanup(
    join(repositoryFolder, "node_modules", ".bin", "vitest"),
    ["run", ...reporters, ...args],
    {
      cwd: repositoryFolder,
      env: { ...process.env, ...env, TMPDIR: folder, TEST_COMPILED_THREADS: "true" },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  const [exitCode] = await once(child, "exit");
  const outcome = readVitestReport(reportFile, exitCode);
  await removeServerDataFolder(folder);
  return outcome;
}

/**
 * Returns the totals of a vitest run, and the names and errors of tests that passed only on retry. Each of these counts
 * as one failure: a file that could not be loaded, a file whose hooks failed, a run without tests, and a run that ended
 * with an error although no test failed.
 */
export function readVitestReport(reportFile: string, exitCode: number | null): TestTotals & { retriedTests: string[] } {
  if (!existsSync(reportFile)) return { passed: 0, failed: 1, retriedTests: [] };
  const report = JSON.parse(readFileSync(reportFile, "utf8")) as VitestReport;
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((assertion) => assertion.status === "failed"),
  );
  const passed = report.numPassedTests;
  const failed = report.numFailedTests + brokenFiles.length;
  const isUnexplained = failed === 0 && (exitCode !== 0 || passed === 0);
  const retriedTests = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, failureMessages }) => status === "passed" && failureMessages.length > 0)
    .map(({ fullName, failureMessages }) => [fullName, ...failureMessages].join("\n"));
  return { passed, failed: isUnexplained ? 1 : failed, retriedTests };
}
