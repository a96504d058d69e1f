// Usage: PRAGMA_API_KEY=… npx tsx totals.mts 2026-05-30
import { createApiClient } from "@pragma/client";

const { PRAGMA_URL = "http://127.0.0.1:4000", PRAGMA_API_KEY = "" } = process.env;
const client = createApiClient({ baseUrl: PRAGMA_URL, apiKey: PRAGMA_API_KEY });
const day = process.argv[2];
if (day === undefined) throw new Error("Pass the date as the argument: npx tsx totals.mts 2026-05-30");

const totals = new Map<string, { recorded: number; tips: number; declared: number }>();
let sales = 0;
let reportCount = 0;

function totalsOf(name: string | null, mode: string) {
  const method = `${name ?? ""} (${mode})`;
  const methodTotals = totals.get(method) ?? { recorded: 0, tips: 0, declared: 0 };
  totals.set(method, methodTotals);
  return methodTotals;
}

// A day can have several reports: one for each shift.
for await (const { id } of client.items("/v2/reports", { params: { query: { since: day, until: day } } })) {
  const { data: report } = await client.GET("/v2/reports/{id}", { params: { path: { id } } });
  sales += report.totalSales;
  reportCount += 1;
  for (const { name, paymentMode, paymentType, totalAmount, tipsAmount } of report.reportRecordedPayments) {
    const method = totalsOf(name, paymentMode);
    if (paymentType === "payment" || paymentType === "customerAccount") method.recorded += totalAmount;
    method.tips += paymentType === "tip" ? totalAmount : tipsAmount;
  }
  for (const { paymentName, paymentMode, paymentAmount } of report.reportPayments)
    totalsOf(paymentName, paymentMode).declared += paymentAmount;
}

if (reportCount === 0) console.error(`There is no report of ${day}.`);

const euros = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });
const printRow = (name: string, ...amounts: number[]) =>
  console.log(name.padEnd(34) + amounts.map((cents) => euros.format(cents / 100).padStart(12)).join(""));

console.log("Payment method                        Recorded        Tips    Declared");
for (const [method, { recorded, tips, declared }] of totals) printRow(method, recorded, tips, declared);
const sum = (column: "recorded" | "tips" | "declared") =>
  [...totals.values()].reduce((total, method) => total + method[column], 0);
printRow("Total", sum("recorded"), sum("tips"), sum("declared"));
printRow("Sales", sales);
