/**
 * Measures the stages in which a till is processed. Prints the CPU time of each stage in milliseconds, without the CPU
 * time of PostgreSQL.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TillV2 } from "@pragma/contracts/till-v2";
import calculateTill, { type TillDocuments } from "@pragma/reporting/calculate-till";
import { computeDocuments } from "@pragma/reporting/calculation/compute-report";
import { recordTillRevision } from "@pragma/reporting/documents/queries/tills";
import { replaceDocuments } from "@pragma/reporting/store-report";
import { createDatabasePool, lockInTransaction } from "@pragma/runtime/database/postgres";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import { createObjectStore } from "@pragma/runtime/object-store/object-store";
import { createLogger } from "@pragma/runtime/observability/logger";
import { parseTillBodyMetadata } from "@pragma/till-ingest/validation/parse-till-body";
import { toCalculatedTill } from "../calculated-till.ts";
import { createBenchTillRequestGenerator } from "../load/bench-till-request-generator.ts";
import { computePercentile } from "../measurement-spread.ts";

const { DATABASE_URL = "", SCHEMA = "" } = process.env;
const [file = "", repetitionsArgument = "20"] = process.argv.slice(2);
const template = readFileSync(file, "utf8");
const bytes = Buffer.from(template);
const repetitions = Number(repetitionsArgument);
const locationId = randomUUID();

/** Returns the median CPU time of `work` after a warm-up, in milliseconds. The time of `prepare` is not included. */
async function measureCpuMs<Prepared>(
  work: (prepared: Prepared) => unknown,
  prepare: () => Prepared = () => undefined as Prepared,
): Promise<number> {
  const costs: number[] = [];
  for (let repetition = -repetitions; repetition < repetitions; repetition += 1) {
    const prepared = prepare();
    const before = process.cpuUsage();
    await work(prepared);
    const { user, system } = process.cpuUsage(before);
    if (repetition >= 0) costs.push((user + system) / 1000);
  }
  return computePercentile(costs, 0.5);
}

const sha256Hex = (body: Uint8Array) => createHash("sha256").update(body).digest("hex");
const parsed = parseJsonBody(bytes);
const till = TillV2.parse(parsed);
const calculate = (body: Uint8Array, tillId: string) =>
  calculateTill({ bytes: body, hash: sha256Hex(body), version: "V2", tillId, locationId, timeZone: "Europe/Paris" });
const calculated = calculate(bytes, till.id) as TillDocuments;
const { orderTexts, ...calculatedReport } = toCalculatedTill(calculated);
const copied = [calculatedReport, ...(await Promise.all(orderTexts))];

const folder = mkdtempSync(join(tmpdir(), "pragma-till-stages-"));
const objects = createObjectStore(`file:${folder}`);
const log = createLogger({ name: "bench", level: "silent" });
const db = createDatabasePool({ DATABASE_URL, DATABASE_POOL: 2 }, { schema: SCHEMA, log });

const createCopy = createBenchTillRequestGenerator(template);

function calculateCopiedTill() {
  const { id, body } = createCopy();
  return { id, report: toCalculatedTill(calculate(Buffer.from(body), id) as TillDocuments) };
}

async function storeCalculatedReport({ id, report }: ReturnType<typeof calculateCopiedTill>): Promise<void> {
  const pushed = {
    ...{ tillId: id, locationId, revision: 1, reason: "push" as const, pushedAt: new Date().toISOString() },
    ...{ version: "V2" as const, object: { key: "", hash: "" }, timeZone: "Europe/Paris" },
  };
  await db.transaction(async (tx) => {
    await lockInTransaction(tx, db, `location ${locationId}`);
    await recordTillRevision(tx, pushed);
    await replaceDocuments(tx, pushed, report);
  });
}

const hashing = await measureCpuMs(() => sha256Hex(bytes));
const parsing = await measureCpuMs(() => parseJsonBody(bytes));
const validating = await measureCpuMs(() => TillV2.parse(parsed));
const computing = await measureCpuMs(() => computeDocuments(till, { locationId }));
const inThread = await measureCpuMs(() => calculate(bytes, till.id));
let written = 0;
const stages = {
  "till-ingest: JSON.parse": parsing,
  "till-ingest: SHA-256": hashing,
  "till-ingest: validates": (await measureCpuMs(() => parseTillBodyMetadata(bytes, "V2"))) - parsing - hashing,
  "till-ingest: writes the object durably": await measureCpuMs(() => objects.put(`tills/${++written}`, bytes)),
  "reporting: reads the object": await measureCpuMs(() => objects.get("tills/1")),
  "reporting: SHA-256": hashing,
  "reporting: JSON.parse": parsing,
  "reporting: validates against the schema": validating,
  "reporting: calculates": computing,
  // `hashing` is subtracted twice, because `calculate` hashes its argument, and calculateTill hashes the bytes again.
  "reporting: business days and JSON.stringify": Math.max(0, inThread - 2 * hashing - parsing - validating - computing),
  "reporting: completes and compresses the responses": await measureCpuMs(() => toCalculatedTill(calculated)),
  "reporting: copies the result between threads": await measureCpuMs(() => structuredClone(copied)),
  "reporting: stores the report and its orders": await measureCpuMs(storeCalculatedReport, calculateCopiedTill),
};
process.stdout.write(JSON.stringify(stages));

await db.close();
await objects.close();
rmSync(folder, { recursive: true });
