/**
 * Where the time of a till goes: the functions that it passes through, each by itself. Prints the CPU milliseconds that
 * a till costs in each, this process's only. A transaction also costs PostgreSQL, whose part is not in it.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TillV2 } from "@pragma/contracts/till-v2";
import { computeReport } from "@pragma/reporting/calculate/compute-report";
import calculateTill, { type CalculatedReport } from "@pragma/reporting/calculate-till";
import { takeTill } from "@pragma/reporting/queries/tills";
import { storeReport } from "@pragma/reporting/store-report";
import { createLogger } from "@pragma/runtime/logger";
import { openObjectStore } from "@pragma/runtime/object-store/object-store";
import { parseJson } from "@pragma/runtime/parse-json";
import { lockUntilCommit, openDatabase } from "@pragma/runtime/postgres";
import { readTill } from "@pragma/till-ingest/read-till";
import { createTillCopier } from "../load/till-copies.ts";
import { percentile } from "../spread.ts";

const { DATABASE_URL = "", SCHEMA = "" } = process.env;
const [file = "", given = "20"] = process.argv.slice(2);
const template = readFileSync(file, "utf8");
const bytes = Buffer.from(template);
const times = Number(given);
const locationId = randomUUID();

/** CPU milliseconds of a usual turn of `work`, once it is warm; what is prepared for it does not count, nor stay. */
async function cost<Prepared>(
  work: (prepared: Prepared) => unknown,
  prepare: () => Prepared = () => undefined as Prepared,
): Promise<number> {
  const costs: number[] = [];
  for (let turn = -times; turn < times; turn += 1) {
    const prepared = prepare();
    const before = process.cpuUsage();
    await work(prepared);
    const { user, system } = process.cpuUsage(before);
    if (turn >= 0) costs.push((user + system) / 1000);
  }
  return percentile(costs, 0.5);
}

const hash = (body: Uint8Array) => createHash("sha256").update(body).digest("hex");
const parsed = parseJson(bytes);
const till = TillV2.parse(parsed);
const calculate = (body: Uint8Array, tillId: string) =>
  calculateTill({ bytes: body, hash: hash(body), version: "V2", tillId, locationId, timeZone: "Europe/Paris" });
const calculated = calculate(bytes, till.id);

const folder = mkdtempSync(join(tmpdir(), "pragma-stages-"));
const objects = openObjectStore(`file:${folder}`);
const log = createLogger({ name: "bench", level: "silent" });
const db = openDatabase({ DATABASE_URL, DATABASE_POOL: 2 }, { schema: SCHEMA, log });

const copy = createTillCopier(template);

function calculateCopy() {
  const { id, body } = copy();
  return { id, report: calculate(Buffer.from(body), id) as CalculatedReport };
}

async function store({ id, report }: ReturnType<typeof calculateCopy>): Promise<void> {
  const pushed = {
    ...{ tillId: id, locationId, revision: 1, reason: "push" as const, pushedAt: new Date().toISOString() },
    ...{ version: "V2" as const, object: { key: "", hash: "" }, timeZone: "Europe/Paris" },
  };
  await db.transaction(async (tx) => {
    await lockUntilCommit(tx, db, `location ${locationId}`);
    await takeTill(tx, pushed);
    await storeReport(tx, pushed, report);
  });
}

const hashing = await cost(() => hash(bytes));
const parsing = await cost(() => parseJson(bytes));
const validating = await cost(() => TillV2.parse(parsed));
const computing = await cost(() => computeReport(till, { locationId }));
const inThread = await cost(() => calculate(bytes, till.id));
let written = 0;
const stages = {
  "till-ingest: JSON.parse": parsing,
  "till-ingest: SHA-256": hashing,
  "till-ingest: checks": (await cost(() => readTill(bytes, "V2"))) - parsing - hashing,
  "till-ingest: writes the object, durably": await cost(() => objects.put(`tills/${++written}`, bytes)),
  "reporting: reads the object": await cost(() => objects.get("tills/1")),
  "reporting: SHA-256": hashing,
  "reporting: JSON.parse": parsing,
  "reporting: validates against the schema": validating,
  "reporting: calculates": computing,
  // `calculate` hashes once to know the hash, and once as a part of the work.
  "reporting: days and JSON.stringify": Math.max(0, inThread - 2 * hashing - parsing - validating - computing),
  "reporting: copies the result between threads": await cost(() => structuredClone(calculated)),
  "reporting: stores report and orders": await cost(store, calculateCopy),
};
process.stdout.write(JSON.stringify(stages));

await db.close();
await objects.close();
rmSync(folder, { recursive: true });
