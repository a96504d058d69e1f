import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readVitestReport } from "./run-tests.ts";
import { createTestScratchFolder } from "./scratch-folder.ts";

/** The status `retried` stands for a test that passed on retry. */
function testResult(status: string, fullName: string) {
  if (status === "retried") return { status: "passed", fullName, failureMessages: ["Error: not yet"] };
  return { status, fullName, failureMessages: status === "failed" ? ["Error: no"] : [] };
}

function writeReport(files: string[][]) {
  const file = join(createTestScratchFolder(), "report.json");
  const states = files.flat();
  const testResults = files.map((assertions) => ({
    status: assertions.length === 0 || assertions.includes("failed") ? "failed" : "passed",
    assertionResults: assertions.map((status, index) => testResult(status, `test ${index}`)),
  }));
  const numFailedTests = states.filter((state) => state === "failed").length;
  const numPassedTests = states.length - numFailedTests;
  writeFileSync(file, JSON.stringify({ numPassedTests, numFailedTests, testResults }));
  return file;
}

it.each([
  ["all pass", [["passed", "passed"], ["passed"]], 0, { passed: 3, failed: 0 }],
  ["some fail", [["passed", "failed"], ["passed"]], 1, { passed: 2, failed: 1 }],
  ["a file cannot be loaded", [["passed"], []], 1, { passed: 1, failed: 1 }],
  ["an error occurs outside the tests", [["passed"]], 1, { passed: 1, failed: 1 }],
  ["there are no tests", [], 0, { passed: 0, failed: 1 }],
  ["a signal ends the run", [["passed"]], null, { passed: 1, failed: 1 }],
])("counts when %s", (_, files, exitCode, expected) => {
  expect(readVitestReport(writeReport(files), exitCode)).toEqual({ ...expected, retriedTests: [] });
});

it("counts a run without a report as a failure", () => {
  expect(readVitestReport(join(createTestScratchFolder(), "none.json"), 0)).toEqual({
    passed: 0,
    failed: 1,
    retriedTests: [],
  });
});

it("lists the tests that passed only on retry, with their first errors", () => {
  expect(readVitestReport(writeReport([["passed", "retried"], ["failed"]]), 1)).toEqual({
    passed: 2,
    failed: 1,
    retriedTests: ["test 1\nError: not yet"],
  });
});
