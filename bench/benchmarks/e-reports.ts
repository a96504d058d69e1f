import { buildCompanyNumbers } from "@pragma/contracts/siren";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import { type BenchPragmaDeployment, singleProcessBenchRoles } from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import { computeBenchmarkComparison, type ProductToBaselineComparison } from "../benchmark-figure.ts";
import { getDay, pushDays, waitUntilIdle } from "../push-days.ts";

const ordersPerDay = 150;
/** The maximum of the 99th percentile of response times, in milliseconds. */
const maxMs = 300;

/** A business with one location, whose periods of transactions are months. */
interface Business {
  siren: string;
  location: BenchLocation;
  days: number;
}

export const eReportsBenchmark: BenchmarkDefinition = {
  id: "e-reports",
  title: `French e-reports of a year of ${ordersPerDay} orders a day, requested one at a time`,
  baseline: "the same request about a business with two months; for the 99th percentiles, their maximum",
  async run(environment, reportProgress) {
    const [days, requests] = environment.isQuick ? [65, 20] : [365, 200];
    const product = await environment.startProduct("bench_e_reports", singleProcessBenchRoles);
    try {
      const year = await startBusiness(product, { index: 1, days, reportProgress });
      const months = await startBusiness(product, { index: 2, days: 62, reportProgress });
      reportProgress("waiting until the tills are packed");
      await waitUntilIdle(product);
      const period = `${getDay(31).slice(0, 7)}-01`;
      const figures: ProductToBaselineComparison[] = [];
      for (const [label, pathOf] of [
        ["sales of a month", ({ siren }) => `/v1/e-reports/${siren}/transactions/${period}`],
        ["payments of a month", ({ siren }) => `/v1/e-reports/${siren}/payments/${period}`],
        [
          "periods of all days",
          (business) => `/v1/e-reports?siren=${business.siren}&kind=transactions&since=${getDay(business.days)}`,
        ],
      ] satisfies [string, (business: Business) => string][]) {
        reportProgress(label);
        const [ours, baseline] = await measurePair(product, [year, months], pathOf, requests);
        figures.push(
          computeBenchmarkComparison([{ ours: percentile(ours, 0.5), baseline: percentile(baseline, 0.5) }], {
            ...{ label: `${label}: median`, unit: "ms" },
          }),
          computeBenchmarkComparison([{ ours: percentile(ours, 0.99), baseline: maxMs }], {
            ...{ label: `${label}: 99th percentile against its maximum`, unit: "ms", goal: { max: 1 } },
          }),
        );
      }
      return { figures, notes: [`${days} days of ${ordersPerDay} orders against 62`] };
    } finally {
      await product.stop();
    }
  },
};

async function startBusiness(
  product: BenchPragmaDeployment,
  { index, days, reportProgress }: { index: number; days: number; reportProgress(detail: string): void },
): Promise<Business> {
  const { siren, siretCode } = buildCompanyNumbers(index);
  const location = await createBenchLocation(product);
  const tills = { seed: "e-reports", orders: ordersPerDay, fields: { siretCode } };
  await pushDays(product, location, { ...tills, days, reportProgress });
  const settings = {
    ...{ companyName: "Bench", vatRegime: "quarterly", platform: { number: "0123", name: "Plateforme" } },
  };
  const response = await fetch(`${product.url}/v1/e-reporting/declarants/${siren}`, {
    method: "PUT",
    headers: { ...location.headers, "content-type": "application/json" },
    body: JSON.stringify(settings),
  });
  if (!response.ok) throw new Error(`The settings returned ${response.status}: ${await response.text()}`);
  return { siren, location, days };
}

/** Returns the times of requests about both businesses, which alternate, in milliseconds. */
async function measurePair(
  { url }: BenchPragmaDeployment,
  businesses: [Business, Business],
  pathOf: (business: Business) => string,
  requests: number,
): Promise<[number[], number[]]> {
  const times: [number[], number[]] = [[], []];
  for (let request = 0; request < requests; request += 1)
    for (const [index, business] of businesses.entries()) {
      const startedAt = performance.now();
      const response = await fetch(url + pathOf(business), { headers: business.location.headers });
      const text = await response.text();
      if (!response.ok) throw new Error(`${pathOf(business)} returned ${response.status}: ${text}`);
      times[index as 0 | 1].push(performance.now() - startedAt);
    }
  return times;
}

function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
