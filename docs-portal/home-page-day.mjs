import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";

const checkout = join(dirname(fileURLToPath(import.meta.url)), "..");

/** The sources from which the data of the home page is computed. The site is rebuilt when one of them changes. */
export const homePageDaySourcePaths = ["contracts", "simulator/src", "services/reporting/calculation"].map((path) =>
  join(checkout, path),
);

/**
 * Returns the example day of the home page. `report` is the report that the code of the reporting service calculates
 * for a simulated till. `sales` contains the time and total of each order that counts toward the totals of the report.
 * `unpaidRefunds` is the sum of the refunds that were not paid out, in minor units.
 * @returns {{ report: Record<string, any>, sales: { openedAt: string, total: number }[], unpaidRefunds: number }}
 */
export function computeHomePageReportAndSales() {
  const till = runTypeScriptProgram("simulator/src/print-home-page-till.ts");
  const { report, orders } = JSON.parse(runTypeScriptProgram("services/reporting/calculation/print-report.ts", till));
  const countedOrders = orders.filter(({ isCanceled, isTransferred }) => !isCanceled && !isTransferred);
  const sales = countedOrders.map(({ openedAt, total }) => ({ openedAt, total }));
  const unpaidRefunds = countedOrders
    .filter(({ total, payments }) => total < 0 && payments.length === 0)
    .reduce((sum, { total }) => sum - total, 0);
  return { report, sales, unpaidRefunds };
}

/**
 * @param {string} program the path of a TypeScript file
 * @param {string} [input]
 * @returns {string} the standard output of the program
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
