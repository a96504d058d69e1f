/**
 * `npm test [-- what vitest takes]`: the checks, then the tests against the real servers, then one line with the sum.
 */
import "./node-version.mjs";
import { runChecks } from "./check.mjs";
import { ensureChromium } from "./chromium.mjs";
import { explain } from "./failure.mjs";
import { endGuarded } from "./guarded.mjs";
import { buildPortal } from "./portal.mjs";
import { say } from "./progress.mjs";
import { interruptCommands } from "./run-command.mjs";
import { runVitest } from "./run-vitest.mjs";
import { ensureServers } from "./servers.mjs";
import { ensurePackages } from "./setup.mjs";

let ending = false;
const sum = { passed: 0, failed: 0 };
/**
 * @param {import("./vitest-report.mjs").Tally} part
 */
function add({ passed, failed }) {
  sum.passed += passed;
  sum.failed += failed;
}

let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.on(signal, async () => {
    // Ctrl-C arrives twice: from the terminal, and passed on by npm.
    if (interrupted) return;
    interrupted = true;
    add({ passed: 0, failed: 1 });
    await interruptCommands();
    await end();
  });

try {
  await ensurePackages();
  add(await runChecks());
  await ensureChromium();
  await buildPortal();
  const servers = await ensureServers({ profile: "test" });
  const { secondTries, ...sumOfTests } = await runVitest(process.argv.slice(2), servers.env);
  for (const test of secondTries) say(`passed only when it was tried again: ${test}`);
  add(sumOfTests);
  await servers.stop();
} catch (error) {
  say(explain(error));
  add({ passed: 0, failed: 1 });
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
