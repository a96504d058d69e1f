import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";

const checkout = join(dirname(fileURLToPath(import.meta.url)), "..");

/** What the day that the home page draws is made from: files, and folders of them. */
export const homePageDaySources = [
  "contracts",
  "simulator/src",
  "services/reporting/calculation",
  "services/reporting/till-v1-conversion",
  "services/reporting/print-report.ts",
].map((path) => join(checkout, path));

/**
 * The day that the home page draws: a till of the simulator's, and what the reporting service's own calculation makes
 * of it. `sales` are those of the orders that count.
 * @returns {{ report: Record<string, any>, sales: { openedAt: string, total: number }[] }}
 */
export function computeHomePageDay() {
  const till = runTypeScriptProgram("simulator/src/print-home-page-till.ts");
  const { report, orders } = JSON.parse(runTypeScriptProgram("services/reporting/print-report.ts", till));
  const sales = orders
    .filter(({ isCanceled, isTransferred }) => !isCanceled && !isTransferred)
    .map(({ openedAt, total }) => ({ openedAt, total }));
  return { report, sales };
}

/**
 * @param {string} program in TypeScript
 * @param {string} [input]
 * @returns {string} what it writes
 */
function runTypeScriptProgram(program, input = "") {
  return execFileSync(execPath, ["--conditions=source", "--import", "tsx", program], {
    cwd: checkout,
    input,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["pipe", "pipe", "inherit"],
  });
}
