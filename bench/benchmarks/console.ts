import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import { type BenchPragmaDeployment, singleProcessBenchRoles } from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import {
  type BenchmarkMeasurementPair,
  computeBenchmarkComparison,
  type ProductToBaselineComparison,
} from "../benchmark-figure.ts";
import { type BenchConsole, startBenchConsole } from "../console-views.ts";
import type { LocationFloodKind } from "../load/load-jobs.ts";
import { getDay, pushDay, pushDays, waitUntilIdle } from "../push-days.ts";

/** The aim for each view, in milliseconds, and while another location sends as much as it may. */
const maxMs = 1_000;
const maxMsUnderLoad = 2_000;
const pushedTills = { seed: "console", orders: 23 };
const flood: LocationFloodKind[] = ["largeTills", "changes", "exports", "metrics", "liveOrders", "reads"];
/** The views that are also measured under load. */
const loadedPaths = ["/", "/days", "/orders", "/orders?find=48.50", "/metrics"];

interface ConsoleView {
  path: string;
  apiKey: string;
  /** The same view of a location with one day. */
  baseline: { path: string; apiKey: string };
}

export const consoleBenchmark: BenchmarkDefinition = {
  id: "console",
  title: "From the address of a view of the console to its data, with many locations and days",
  baseline: "the same view of a location with one day",
  async run(environment, reportProgress) {
    const [locations, days, repetitions] = environment.isQuick ? [10, 30, 2] : [100, 730, 3];
    const product = await environment.startProduct("bench_console", singleProcessBenchRoles);
    let site: BenchConsole | undefined;
    try {
      const [large, small, busy] = [
        await createBenchLocation(product),
        await createBenchLocation(product),
        await createBenchLocation(product),
      ];
      for (let created = 3; created < locations; created += 1) await createBenchLocation(product);
      await pushDay(product, small, { ...pushedTills, daysAgo: 1 });
      await pushDays(product, large, { ...pushedTills, days, reportProgress });
      reportProgress("waiting until the tills are packed");
      await waitUntilIdle(product);
      const opened = await startBenchConsole(product.url);
      site = opened;
      const views = await listViews(product, large, small);
      // The first view of each kind warms the product and the browser up.
      for (const { path, apiKey } of views) await opened.measureView(path, apiKey);
      const target = { origin: product.url, headers: busy.headers };
      const figures: ProductToBaselineComparison[] = [];
      const slow: string[] = [];
      const measure = async (view: ConsoleView, { suffix, aim }: { suffix: string; aim: number }) => {
        const label = `${view.path.replaceAll(/[0-9a-f-]{36}/g, "{id}")}${suffix}`;
        reportProgress(label);
        const pairs: BenchmarkMeasurementPair[] = [];
        for (let turn = 0; turn < repetitions; turn += 1)
          pairs.push({
            ours: await opened.measureView(view.path, view.apiKey),
            baseline: await opened.measureView(view.baseline.path, view.baseline.apiKey),
          });
        const figure = computeBenchmarkComparison(pairs, { label, unit: "ms" });
        figures.push(figure);
        if (figure.ours.median > aim) slow.push(label);
      };
      for (const view of views) await measure(view, { suffix: "", aim: maxMs });
      const loadedViews = views.filter(({ path }) => loadedPaths.includes(path));
      const seconds = loadedViews.length * repetitions * 2 * (maxMsUnderLoad / 1000);
      const load = environment.loadGenerator.run("flood", { ...target, kinds: flood, seconds });
      for (const view of loadedViews) await measure(view, { suffix: ", under load", aim: maxMsUnderLoad });
      await load;
      const aims = `aims: ${maxMs} ms, ${maxMsUnderLoad} ms under load`;
      return {
        figures,
        notes: [
          `${locations} locations, ${days} days`,
          slow.length === 0 ? `${aims}, met` : `${aims}, not met by ${slow.join("; ")}`,
        ],
      };
    } finally {
      await site?.close();
      await product.stop();
    }
  },
};

/** The views of a location with each of its lists at the beginning and in the middle, and the views of operators. */
async function listViews(
  { url, adminKey }: BenchPragmaDeployment,
  large: BenchLocation,
  small: BenchLocation,
): Promise<ConsoleView[]> {
  const first = async (path: string, { headers }: BenchLocation) => {
    const response = await fetch(`${url}${path}`, { headers });
    const { data } = (await response.json()) as { data: { id: string }[] };
    return data[0]?.id ?? "";
  };
  const [report, smallReport] = [await first("/v2/reports/", large), await first("/v2/reports/", small)];
  const [order, smallOrder] = [await first("/v1/orders/", large), await first("/v1/orders/", small)];
  const day = getDay(1);
  const period = `since=${getDay(730)}&until=${day}`;
  const ofLocation = (path: string, baseline = path) => ({
    ...{ path, apiKey: large.key },
    baseline: { path: baseline, apiKey: small.key },
  });
  const ofOperator = (path: string) => ({ ...ofLocation(path, "/"), apiKey: adminKey });
  return [
    ...["/", "/days", `/days/${day}`, "/reports", "/orders"].map((path) => ofLocation(path)),
    ofLocation("/days?page=20", "/days"),
    ofLocation(`/reports/${report}`, `/reports/${smallReport}`),
    ofLocation("/orders?page=600", "/orders"),
    ofLocation("/orders?find=48.50"),
    ofLocation(`/orders/${order}`, `/orders/${smallOrder}`),
    ofLocation("/metrics"),
    ...["day", "product"].map((by) => ofLocation(`/metrics?measure=sales&by=${by}&${period}`)),
    ...["/requests", "/webhooks", "/webhooks/deliveries", "/exports"].map((path) => ofLocation(path)),
    ...["", "/locations", `/locations/${large.locationId}`, "/consumers", "/dead-letters", "/audit"].map((path) =>
      ofOperator(`/operator${path}`),
    ),
    ofOperator("/keys"),
  ];
}
