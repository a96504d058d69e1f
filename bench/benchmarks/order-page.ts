import { startOrderPageBaselineServer } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import {
  type BenchmarkMeasurementPair,
  type BenchmarkRatioGoal,
  computeBenchmarkComparison,
  type ProductToBaselineComparison,
} from "../benchmark-figure.ts";
import { readProcessTreeCpuSeconds } from "../process-usage.ts";
import { pushBenchTillAndAwaitReport } from "../push-shift-till.ts";
import { createBenchSigningOptions, createGetSigner, type InternalRequestSigningOptions } from "../sign-requests.ts";

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
    const postgresPid = environment.postgres.pid;
    for (const shape of ["split", "all in one"] as const) {
      const { product, benchLocation } = await environment.getSharedPragma(shape);
      await pushBenchTillAndAwaitReport(product, benchLocation);
      const baselineServer = await startOrderPageBaselineServer(environment, product, benchLocation.locationId);
      const baseline = { origin: baselineServer.url, headers: {}, cpuSeconds: baselineServer.cpuSeconds };
      try {
        const process = product.process(shape === "split" ? "reporting" : "all");
        const signingOptions = createBenchSigningOptions(product, benchLocation.locationId);
        const ours = {
          ...{ origin: process.url, cpuSeconds: process.cpuSeconds },
          ...(shape === "split" ? { headers: {}, signingOptions } : { headers: benchLocation.headers }),
        };
        const label = shape === "split" ? "reporting without the gateway" : "all in one, with an API key";
        figures.push(...(await compareOrderPage(environment, { ours, baseline, label, postgresPid, reportProgress })));
        const headers = shape === "split" ? createGetSigner(signingOptions)(orderPagePath) : benchLocation.headers;
        bytes = (await (await fetch(ours.origin + orderPagePath, { headers })).arrayBuffer()).byteLength;
      } finally {
        await baselineServer.stop();
      }
    }
    const notes = [
      `A page has ${Math.round(bytes / 1024)} KB. ${connectionCount} connections are always busy. Most figures count the CPU of the Node.js processes only.`,
      "The product sends the bytes that PostgreSQL returns; the baseline decodes the rows to strings, as postgres.js does by default.",
    ];
    return { figures, notes };
  },
};

interface OrderPageComparison {
  ours: OrderPageServer;
  baseline: OrderPageServer;
  label: string;
  /** The root of PostgreSQL's processes. */
  postgresPid: number;
  reportProgress(detail: string): void;
}

/** Returns figures of the requests per CPU second, without and with the CPU of PostgreSQL, and of the response time. */
async function compareOrderPage(
  environment: BenchEnvironment,
  { ours, baseline, label, postgresPid, reportProgress }: OrderPageComparison,
): Promise<ProductToBaselineComparison[]> {
  const seconds = environment.isQuick ? 1 : 4;
  const repetitions = environment.isQuick ? 2 : 5;
  const measure = async ({ origin, headers, signingOptions, cpuSeconds }: OrderPageServer) => {
    const before = { node: cpuSeconds(), postgres: readProcessTreeCpuSeconds(postgresPid) };
    const { requests, seconds: duration } = await environment.loadGenerator.run("saturate", {
      origin,
      headers,
      signingOptions,
      path: orderPagePath,
      connections: connectionCount,
      seconds,
    });
    const node = cpuSeconds() - before.node;
    const withPostgres = node + readProcessTreeCpuSeconds(postgresPid) - before.postgres;
    return { perCpuSecond: requests / node, perTotalCpuSecond: requests / withPostgres, rate: requests / duration };
  };
  reportProgress(`${label}: warming up`);
  for (const side of [ours, baseline, ours, baseline]) await measure(side);
  const pairs: { ours: Awaited<ReturnType<typeof measure>>; baseline: Awaited<ReturnType<typeof measure>> }[] = [];
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    reportProgress(`${label}, ${repetition} of ${repetitions}`);
    pairs.push({ ours: await measure(ours), baseline: await measure(baseline) });
  }
  const compare = (
    quantity: keyof (typeof pairs)[number]["ours"],
    options: { label: string; unit: string; goal?: BenchmarkRatioGoal },
  ) =>
    computeBenchmarkComparison(
      pairs.map((pair): BenchmarkMeasurementPair => ({ ours: pair.ours[quantity], baseline: pair.baseline[quantity] })),
      options,
    );
  const goal = { min: 0.9 };
  return [
    compare("perCpuSecond", { label, unit: "requests/CPU s", goal }),
    compare("perTotalCpuSecond", { label: `${label}, with the CPU of PostgreSQL`, unit: "requests/CPU s", goal }),
    compare("rate", { label: `${label}, at the maximum rate`, unit: "requests/s" }),
  ];
}
