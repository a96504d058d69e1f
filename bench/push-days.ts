import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { generateTill } from "@pragma/simulator/generate-till";
import type { BenchLocation } from "./bench-location.ts";
import type { BenchPragmaDeployment } from "./bench-pragma-deployment.ts";

/** The generated tills of a location. */
export interface PushedTills {
  seed: string;
  orders: number;
  /** Replace fields of each till. */
  fields?: object;
}

const concurrentPushes = 4;

/** Returns the date of the day that is `daysAgo` days before today, because the first view shows the last days. */
export const getDay = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);

/** Pushes a till of each day until yesterday, and waits for the reports. */
export async function pushDays(
  product: BenchPragmaDeployment,
  location: BenchLocation,
  { days, reportProgress, ...tills }: PushedTills & { days: number; reportProgress(detail: string): void },
): Promise<void> {
  let next = days;
  const push = async () => {
    while (next > 0) {
      const daysAgo = next--;
      if (daysAgo % 50 === 0) reportProgress(`${daysAgo} of ${days} days are left to push`);
      await pushDay(product, location, { ...tills, daysAgo });
    }
  };
  await Promise.all(Array.from({ length: concurrentPushes }, push));
}

const idleProbeMs = 2_000;
const maxIdleProbes = 60;
/** The share of a core that an idle product uses at most. */
const idleShare = 0.15;

/** Waits until the product has packed the pushed tills. A restaurant pushes two years of days in two years. */
export async function waitUntilIdle(product: BenchPragmaDeployment): Promise<void> {
  for (let probe = 0; probe < maxIdleProbes; probe += 1) {
    const before = product.cpuSeconds();
    await sleep(idleProbeMs);
    if (product.cpuSeconds() - before < (idleShare * idleProbeMs) / 1_000) return;
  }
}

/** Pushes the till of a day, and waits for its report. */
export async function pushDay(
  { url }: BenchPragmaDeployment,
  { headers }: BenchLocation,
  { seed, orders, fields, daysAgo }: PushedTills & { daysAgo: number },
): Promise<void> {
  const day = getDay(daysAgo);
  const till = { ...generateTill({ seed, tillId: randomUUID(), orders, day }), ...fields };
  const response = await fetch(`${url}/v2/tills/`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(till),
  });
  if (!response.ok) throw new Error(`POST /v2/tills/ returned ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
  for (;;) {
    const report = await fetch(`${url}/v2/reports/${computeTillReportId(till.id)}`, { headers });
    await report.arrayBuffer();
    if (report.ok) return;
    await sleep(50);
  }
}
