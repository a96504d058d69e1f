/**
 * `npm test [-- <vitest arguments>]`: runs the checks, then the tests against real servers, and prints the totals.
 */
import "../node-version.mjs";

const totals = { passed: 0, failed: 0 };
process.on("exit", (code) => {
  const failed = totals.failed || (code === 0 ? 0 : 1);
  process.stdout.write(`tests: ${totals.passed} passed, ${failed} failed\n`);
});

const { runProgramUntilStopped } = await import("../run-until-stopped.mjs");
await runProgramUntilStopped(
  async () => {
    const { runChecksAndTests } = await import("./run-tests.ts");
    await runChecksAndTests(process.argv.slice(2), ({ passed, failed }) => {
      totals.passed += passed;
      totals.failed += failed;
    });
    return totals.failed === 0 ? 0 : 1;
  },
  { stopExitCode: 1 },
);
