/**
 * The baseline of the time until a report is available: computes the report and the orders of a till and inserts their
 * JSON as one durable row, one till at a time. Prints the duration for each till in milliseconds.
 */
import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import calculateTill from "@pragma/reporting/calculate-till";
import postgres from "postgres";

const { DATABASE_URL = "" } = process.env;
const [file = "", tills = "50"] = process.argv.slice(2);
const bytes = readFileSync(file);
const hash = createHash("sha256").update(bytes).digest("hex");
const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => {} });
const table = sql(`report_baseline_${randomUUID()}`);
await sql`create table ${table} (id uuid primary key, body text compression lz4 not null)`;

const warmUpTills = 10;
const durationsMs: number[] = [];
for (let repetition = -warmUpTills; repetition < Number(tills); repetition += 1) {
  const since = performance.now();
  const tillId = randomUUID();
  const till = calculateTill({ bytes, hash, version: "V2", tillId, locationId: tillId, timeZone: "Europe/Paris" });
  if (!till) throw new Error("A training till has no report.");
  const values: unknown[] = [...Object.values(till), ...till.orders.flatMap((order) => Object.values(order))];
  const body = values.filter((value) => typeof value === "string").join("");
  await sql`insert into ${table} values (${tillId}, ${body})`;
  if (repetition >= 0) durationsMs.push(performance.now() - since);
}
await sql`drop table ${table}`;
await sql.end();
process.stdout.write(JSON.stringify({ durationsMs }));
