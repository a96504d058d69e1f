import { startOrderPageBaselineServer } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import {
  type BenchmarkMeasurementPair,
  computeBenchmarkComparison,
  type ProductToBaselineComparison,
} from "../benchmark-figure.ts";
import { pushBenchTillAndAwaitReport } from "../push-shift-till.ts";
import {
  createBenchReportingSigningOptions,
  createInternalGetRequestSigner,
  type InternalRequestSigningOptions,
} from "../sign-requests.ts";

const orderPagePath = "/v1/orders/?size=100";
const connectionCount = 8;

interface OrderPageServer {
  origin: string;
  headers: Record<string, string>;
  signingOptions?: InternalRequestSigningOptions;
  cpuSeconds(): number;
}

export const orderPageBenchmark: BenchmarkDefinition = {
  id: "b",
  title: `A page of orders: GET ${orderPagePath}`,
  baseline:
    "plain node:http with postgres.js that runs the plain query (select v1 ... order by ... limit 100) and sends the rows joined",
  async run(environment, reportProgress) {
    const figures: ProductToBaselineComparison[] = [];
    let bytes = 0;
    for (const shape of ["split", "all in one"] as const) {
      const { product, benchLocation } = await environment.getSharedPragma(shape);
      await pushBenchTillAndAwaitReport(product, benchLocation);
      const baselineServer = await startOrderPageBaselineServer(environment, product, benchLocation.locationId);
      const baseline = { origin: baselineServer.url, headers: {}, cpuSeconds: baselineServer.cpuSeconds };
      try {
        const process = product.process(shape === "split" ? "reporting" : "all");
        const signingOptions = createBenchReportingSigningOptions(product, benchLocation.locationId);
        const ours = {
          ...{ origin: process.url, cpuSeconds: process.cpuSeconds },
          ...(shape === "split" ? { headers: {}, signingOptions } : { headers: benchLocation.headers }),
        };
        const label = shape === "split" ? "reporting without the gateway" : "all in one, with an API key";
        figures.push(await compareOrderPage(environment, { ours, baseline, label, reportProgress }));
        const headers =
          shape === "split" ? createInternalGetRequestSigner(signingOptions)(orderPagePath) : benchLocation.headers;
        bytes = (await (await fetch(ours.origin + orderPagePath, { headers })).arrayBuffer()).byteLength;
      } finally {
        await baselineServer.stop();
      }
    }
    const notes = [
      `A page has ${Math.round(bytes / 1024)} KB. CPU of the Node.js processes only, with ${connectionCount} connections that are always busy.`,
    ];
    return { figures, notes };
  },
};

interface OrderPageComparison {
  ours: OrderPageServer;
  baseline: OrderPageServer;
  label: string;
  reportProgress(detail: string): void;
}

async function compareOrderPage(
  environment: BenchEnvironment,
  { ours, baseline, label, reportProgress }: OrderPageComparison,
): Promise<ProductToBaselineComparison> {
  const seconds = environment.isQuick ? 1 : 4;
  const repetitions = environment.isQuick ? 2 : 5;
  const perCpuSecond = async ({ origin, headers, signingOptions, cpuSeconds }: OrderPageServer) => {
    const before = cpuSeconds();
    const { requests } = await environment.loadGenerator.run("saturate", {
      origin,
      headers,
      signingOptions,
      path: orderPagePath,
      connections: connectionCount,
      seconds,
    });
    return requests / (cpuSeconds() - before);
  };
  reportProgress(`${label}: warming up`);
  for (const side of [ours, baseline, ours, baseline]) await perCpuSecond(side);
  const pairs: BenchmarkMeasurementPair[] = [];
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    reportProgress(`${label}, ${repetition} of ${repetitions}`);
    pairs.push({ ours: await perCpuSecond(ours), baseline: await perCpuSecond(baseline) });
  }
  return computeBenchmarkComparison(pairs, { label, unit: "requests/CPU s", goal: { min: 0.6 } });
}
