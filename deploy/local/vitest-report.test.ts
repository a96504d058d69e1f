import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scratchFolder } from "./testing/scratch-folder.ts";
import { tally } from "./vitest-report.mjs";

function report(files: string[][]) {
  const file = join(scratchFolder(), "report.json");
  const states = files.flat();
  const testResults = files.map((assertions) => ({
    status: assertions.length === 0 || assertions.includes("failed") ? "failed" : "passed",
    assertionResults: assertions.map((status) => ({ status })),
  }));
  const count = (status: string) => states.filter((state) => state === status).length;
  writeFileSync(
    file,
    JSON.stringify({ numPassedTests: count("passed"), numFailedTests: count("failed"), testResults }),
  );
  return file;
}

it.each([
  ["all pass", [["passed", "passed"], ["passed"]], 0, { passed: 3, failed: 0 }],
  ["some fail", [["passed", "failed"], ["passed"]], 1, { passed: 2, failed: 1 }],
  ["a file cannot be loaded", [["passed"], []], 1, { passed: 1, failed: 1 }],
  ["an error comes from outside the tests", [["passed"]], 1, { passed: 1, failed: 1 }],
  ["there are no tests", [], 0, { passed: 0, failed: 1 }],
  ["a signal ends the run", [["passed"]], null, { passed: 1, failed: 1 }],
])("counts when %s", (_, files, exitCode, expected) => {
  expect(tally(report(files), exitCode)).toEqual(expected);
});

it("counts a run that left no report as a failure", () => {
  expect(tally(join(scratchFolder(), "none.json"), 0)).toEqual({ passed: 0, failed: 1 });
});
