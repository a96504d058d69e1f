import { randomUUID } from "node:crypto";
import { TillV2 } from "@pragma/contracts/till-v2";
import { computeDocuments } from "@pragma/reporting/calculation/compute-report";
import { packTill } from "@pragma/reporting/documents/packing/pack-till";
import type { TillKey } from "@pragma/reporting/documents/queries/tills";
import { replaceTillMetrics } from "@pragma/reporting/metrics/queries/metrics";
import { computeTillMetrics } from "@pragma/reporting/metrics/till-metrics";
import postgres from "postgres";
import type { BenchEnvironment } from "../bench-environment.ts";
import { openPackedOrderHistoryStores } from "../packed-order-history.ts";
import { readProcessTreeCpuSeconds } from "../process-usage.ts";
import { benchBusyShiftTillJson } from "../sample-tills.ts";
import { namespace } from "./measure-stored-bytes.ts";

/** The cost of work for one till. */
export interface TillCost {
  wallMs: number;
  /** CPU time of the process that does the work, without PostgreSQL. */
  cpuMs: number;
  postgresCpuMs: number;
  walBytes: number;
}

/** Runs work for several tills, whose number it returns. @returns the mean cost of one of them. */
export async function measureTillCost(
  { postgres: { pid }, urls }: BenchEnvironment,
  cpuSeconds: () => number,
  work: () => Promise<number>,
): Promise<TillCost> {
  const sql = postgres(urls.DATABASE_URL, { max: 1, onnotice: () => {} });
  const readCounters = async () => {
    const [row] = await sql<[{ bytes: string }]>`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`;
    return {
      wallMs: performance.now(),
      cpuMs: cpuSeconds() * 1_000,
      postgresCpuMs: readProcessTreeCpuSeconds(pid) * 1_000,
      walBytes: Number(row.bytes),
    };
  };
  try {
    const before = await readCounters();
    const tills = await work();
    const after = await readCounters();
    const parts = Object.keys(before) as (keyof TillCost)[];
    return Object.fromEntries(parts.map((part) => [part, (after[part] - before[part]) / tills])) as unknown as TillCost;
  } finally {
    await sql.end();
  }
}

/** Packs some tills one at a time in this process, as reporting does, which packs the others afterwards. */
export async function measurePacking(
  environment: BenchEnvironment,
  reportProgress: (detail: string) => void,
): Promise<TillCost> {
  const stores = openPackedOrderHistoryStores(environment, namespace);
  try {
    const tills = await stores.db.sql<TillKey[]>`
      select location_id, till_id from reports where v2 is not null order by day
      limit ${environment.isQuick ? 10 : 60}`;
    const pack = async (each: TillKey[]) => {
      for (const till of each) await packTill(stores, till);
      return each.length;
    };
    reportProgress("measuring the cost of packing");
    await pack(tills.slice(0, 2));
    return await measureTillCost(environment, readOwnCpuSeconds, () => pack(tills.slice(2)));
  } finally {
    await stores.close();
  }
}

/** Computes the figures by dimension of the sample in this process, and stores them in transactions that are rolled back. */
export async function measureMetrics(
  environment: BenchEnvironment,
  reportProgress: (detail: string) => void,
): Promise<TillCost> {
  const stores = openPackedOrderHistoryStores(environment, namespace);
  try {
    const locationId = randomUUID();
    const till = TillV2.parse(JSON.parse(benchBusyShiftTillJson));
    const computed = computeDocuments(till, { locationId });
    if (!computed) throw new Error("The sample till has no report.");
    const computeAndStore = async (tills: number) => {
      for (let number = 0; number < tills; number += 1) {
        const metrics = computeTillMetrics(computed.reportableOrders, computed.reportV2, { timeZone: "Europe/Paris" });
        const rollback = new Error("roll back");
        await stores.db
          .transaction(async (tx) => {
            const key = { locationId, tillId: till.id, day: "2020-01-01", previousDay: undefined };
            await replaceTillMetrics(tx, { ...key, metrics });
            throw rollback;
          })
          .catch((error: unknown) => {
            if (error !== rollback) throw error;
          });
      }
      return tills;
    };
    reportProgress("measuring the cost of figures by dimension");
    await computeAndStore(20);
    return await measureTillCost(environment, readOwnCpuSeconds, () =>
      computeAndStore(environment.isQuick ? 100 : 400),
    );
  } finally {
    await stores.close();
  }
}

function readOwnCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
