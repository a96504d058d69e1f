import { existsSync, readFileSync } from "node:fs";

/** @typedef {{ passed: number, failed: number }} Tally */
/**
 * What a run came to, with what failed at first and passed when it was tried again: each as its name and reasons.
 * @typedef {Tally & { secondTries: string[] }} Outcome
 */
/**
 * The parts of vitest's JSON report that count here.
 * @typedef {object} VitestReport
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {{ status: string, assertionResults: TestResult[] }[]} testResults one per file
 */
/** @typedef {{ status: string, fullName: string, failureMessages: string[] }} TestResult */

/**
 * What a run of vitest comes to. A file that could not be loaded, or whose hooks failed past its tests, is one failure;
 * so is a run that ended badly without any failed test, and a run without tests.
 * @param {string} reportFile
 * @param {number | null} exitCode
 * @returns {Outcome}
 */
export function readReport(reportFile, exitCode) {
  if (!existsSync(reportFile)) return { passed: 0, failed: 1, secondTries: [] };
  /** @type {VitestReport} */
  const report = JSON.parse(readFileSync(reportFile, "utf8"));
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((assertion) => assertion.status === "failed"),
  );
  const passed = report.numPassedTests;
  const failed = report.numFailedTests + brokenFiles.length;
  const unexplained = failed === 0 && (exitCode !== 0 || passed === 0);
  return { passed, failed: unexplained ? 1 : failed, secondTries: secondTries(report) };
}

/**
 * @param {VitestReport} report
 */
function secondTries({ testResults }) {
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, failureMessages }) => status === "passed" && failureMessages.length > 0)
    .map(({ fullName, failureMessages }) => [fullName, ...failureMessages].join("\n"));
}
