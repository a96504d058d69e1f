import { startOrderPageBaseline } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import type { Benchmark } from "../benchmark.ts";
import { type BenchmarkFigure, type MeasurementPair, summarizeMeasurements } from "../benchmark-figure.ts";
import { pushShiftTillAndAwaitReport } from "../push-shift-till.ts";
import { createGetRequestSigner, type RequestSigningOptions, signingOptionsForLocation } from "../sign-requests.ts";

const orderPagePath = "/v1/orders/?size=100";
const connectionCount = 8;

interface OrderPageServer {
  origin: string;
  headers: Record<string, string>;
  signedAs?: RequestSigningOptions;
  cpuSeconds(): number;
}

export const orderPageBenchmark: Benchmark = {
  id: "b",
  title: `A page of orders: GET ${orderPagePath}`,
  limit:
    "plain node:http with postgres.js that runs the bare query (select v1 ... order by ... limit 100) and sends the texts joined",
  async run(lab, tell) {
    const figures: BenchmarkFigure[] = [];
    let bytes = 0;
    for (const shape of ["split", "all in one"] as const) {
      const { product, shop } = await lab.sharedProduct(shape);
      await pushShiftTillAndAwaitReport(product, shop);
      const bare = await startOrderPageBaseline(lab, product, shop.locationId);
      const limit = { origin: bare.url, headers: {}, cpuSeconds: bare.cpuSeconds };
      try {
        const process = product.process(shape === "split" ? "reporting" : "all");
        const signedAs = signingOptionsForLocation(product, shop.locationId);
        const ours = {
          ...{ origin: process.url, cpuSeconds: process.cpuSeconds },
          ...(shape === "split" ? { headers: {}, signedAs } : { headers: shop.headers }),
        };
        const what = shape === "split" ? "reporting asked directly" : "all in one, with a key";
        figures.push(await compareOrderPage(lab, { ours, limit, what, tell }));
        const headers = shape === "split" ? createGetRequestSigner(signedAs)(orderPagePath) : shop.headers;
        bytes = (await (await fetch(ours.origin + orderPagePath, { headers })).arrayBuffer()).byteLength;
      } finally {
        await bare.stop();
      }
    }
    const notes = [
      `A page has ${Math.round(bytes / 1024)} KB. CPU of the node processes only, at ${connectionCount} connections that never rest.`,
    ];
    return { figures, notes };
  },
};

interface OrderPageComparison {
  ours: OrderPageServer;
  limit: OrderPageServer;
  what: string;
  tell(detail: string): void;
}

async function compareOrderPage(
  lab: BenchEnvironment,
  { ours, limit, what, tell }: OrderPageComparison,
): Promise<BenchmarkFigure> {
  const seconds = lab.isQuick ? 1 : 4;
  const repetitions = lab.isQuick ? 2 : 5;
  const perCpuSecond = async ({ origin, headers, signedAs, cpuSeconds }: OrderPageServer) => {
    const before = cpuSeconds();
    const { requests } = await lab.loadGenerator.run("saturate", {
      origin,
      headers,
      signedAs,
      path: orderPagePath,
      connections: connectionCount,
      seconds,
    });
    return requests / (cpuSeconds() - before);
  };
  tell(`${what}: warming up`);
  for (const side of [ours, limit, ours, limit]) await perCpuSecond(side);
  const pairs: MeasurementPair[] = [];
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`${what}, ${turn} of ${repetitions}`);
    pairs.push({ ours: await perCpuSecond(ours), limit: await perCpuSecond(limit) });
  }
  return summarizeMeasurements(pairs, { what, unit: "requests/CPU s", goal: { atLeast: 0.6 } });
}
