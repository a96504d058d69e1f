import type { BenchEnvironment } from "../bench-environment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import {
  type BenchmarkMeasurementPair,
  type BenchmarkRatioGoal,
  computeBenchmarkComparison,
  type ProductToBaselineComparison,
} from "../benchmark-figure.ts";
import { getBenchOrderHistoryDate } from "../order-history.ts";
import {
  openPackedOrderHistoryStores,
  type PackedOrderHistory,
  requireProductPacksEqually,
  seedPackedOrderHistory,
  vacuumPackedOrderHistory,
} from "../packed-order-history.ts";
import { createBenchSigningOptions, createGetSigner, type InternalRequestSigningOptions } from "../sign-requests.ts";

const namespace = "bench_packed_history";
const pageSize = 100;
const list = `/v1/orders/?size=${pageSize}`;
const depthGoal = { max: 1.5 };

interface OrderPage {
  data: { id: string }[];
  nextPageToken: string | null;
  meta: { totalCount: number };
}

/** Reads from reporting as the gateway does. */
interface ReportingReader {
  origin: string;
  signingOptions: InternalRequestSigningOptions;
  readText(path: string): Promise<string>;
}

export const packedListDepthBenchmark: BenchmarkDefinition = {
  id: "depth",
  title:
    "Pages of 100 orders of a location with 1,000,000 orders, of which those before the last 100 days are packed, sent to reporting one at a time",
  baseline: "the first page of the whole list, which is not packed, unless the figure names another page",
  async run(environment, reportProgress) {
    const { days, hotDays } = environment.isQuick ? { days: 60, hotDays: 20 } : { days: 2_224, hotDays: 100 };
    const product = await environment.startProduct(namespace, ["reporting"]);
    const stores = openPackedOrderHistoryStores(environment, namespace);
    try {
      const startedMs = performance.now();
      const history = await seedPackedOrderHistory(stores, { days, hotDays }, (detail) =>
        reportProgress(`writing: ${detail}`),
      );
      reportProgress("vacuuming");
      await vacuumPackedOrderHistory(stores);
      const seconds = Math.round((performance.now() - startedMs) / 1000);
      const { url: origin } = product.process("reporting");
      const signingOptions = createBenchSigningOptions(product, history.locationId);
      const sign = createGetSigner(signingOptions);
      const reader: ReportingReader = {
        origin,
        signingOptions,
        async readText(path) {
          const response = await fetch(origin + path, { headers: sign(path) });
          const text = await response.text();
          if (!response.ok) throw new Error(`GET ${path} returned ${response.status}: ${text}`);
          return text;
        },
      };
      reportProgress("verifying");
      await requireSampleResponses(reader, history);
      const measured = await listMeasuredPages(reader, history, { days, hotDays });
      await requireProductPacksEqually(stores, history);
      const figures: ProductToBaselineComparison[] = [];
      for (const page of measured) {
        reportProgress(page.label);
        figures.push(await comparePage(environment, reader, page));
      }
      const packed = history.orders - history.hotOrders;
      return {
        figures,
        notes: [
          `${history.orders} orders in ${days} days, of which ${packed} are packed, were written in ${seconds} s.`,
          `Before the measurement, ${history.samples.length} packed orders were read in both versions and compared with what was packed, pages by index with the same pages by token, and a till that the product itself unpacked and packed again with the till that was written.`,
        ],
      };
    } finally {
      await stores.close();
      await product.stop();
    }
  },
};

async function requireSampleResponses({ readText }: ReportingReader, { samples }: PackedOrderHistory): Promise<void> {
  for (const { id, v1, v2 } of samples) {
    if ((await readText(`/v1/orders/${id}`)) !== v1) throw new Error(`The V1 response of order ${id} differs.`);
    if ((await readText(`/v2/orders/${id}`)) !== v2) throw new Error(`The V2 response of order ${id} differs.`);
  }
}

interface MeasuredPage {
  label: string;
  path: string;
  baselinePath: string;
  goal: BenchmarkRatioGoal | undefined;
}

/** Returns the pages to measure, each by index, by token or by filter. Verifies that an index and a token select the same page. */
async function listMeasuredPages(
  { readText }: ReportingReader,
  { orders, hotOrders }: PackedOrderHistory,
  { days, hotDays }: { days: number; hotDays: number },
): Promise<MeasuredPage[]> {
  const read = async (path: string) => JSON.parse(await readText(path)) as OrderPage;
  const lastIndex = orders / pageSize - 1;
  const middleIndex = Math.floor(lastIndex / 2);
  const byIndex = (index: number) => `${list}&index=${index}`;
  const byToken = async (index: number) => {
    const before = await read(byIndex(index - 1));
    const path = `${list}&pageToken=${before.nextPageToken}`;
    const [one, other] = [await read(path), await read(byIndex(index))];
    const isSame = JSON.stringify(one.data) === JSON.stringify(other.data);
    if (!isSame || one.data.length !== pageSize || one.meta.totalCount !== orders)
      throw new Error(`The page ${index} differs by index and by token, or is incomplete.`);
    return path;
  };
  const firstPackedDay = getBenchOrderHistoryDate(hotDays);
  const [middleSince, middleUntil] = [getBenchOrderHistoryDate(days * 0.75), getBenchOrderHistoryDate(days * 0.5)];
  const middle = `${list}&since=${middleSince}&until=${middleUntil}`;
  const middleOrders = (await read(middle)).meta.totalCount;
  const first = { baselinePath: list, goal: depthGoal };
  return [
    { label: "last page, by index", path: byIndex(lastIndex), ...first },
    { label: "last page, by token", path: await byToken(lastIndex), ...first },
    { label: "middle page, by index", path: byIndex(middleIndex), ...first },
    { label: "middle page, by token", path: await byToken(middleIndex), ...first },
    { label: "first page of a quarter of the days, by since and until", path: middle, ...first },
    { label: "last page of these days", path: `${middle}&index=${Math.ceil(middleOrders / pageSize) - 1}`, ...first },
    { label: "last page that is not packed", path: byIndex(hotOrders / pageSize - 1), ...first },
    {
      label: "last page against the first packed page",
      path: byIndex(lastIndex),
      baselinePath: `${list}&until=${firstPackedDay}`,
      goal: depthGoal,
    },
  ];
}

async function comparePage(
  environment: BenchEnvironment,
  { origin, signingOptions }: ReportingReader,
  { label, path, baselinePath, goal }: MeasuredPage,
): Promise<ProductToBaselineComparison> {
  const rounds = environment.isQuick ? 15 : 40;
  const repetitions = environment.isQuick ? 3 : 7;
  const pairs: BenchmarkMeasurementPair[] = [];
  // The first repetition is a warm-up and is not counted.
  for (let repetition = 0; repetition <= repetitions; repetition += 1) {
    const { medians } = await environment.loadGenerator.run("alternate", {
      origin,
      pages: [
        { path, signingOptions },
        { path: baselinePath, signingOptions },
      ],
      rounds,
      seconds: 5,
    });
    const [ours = Number.NaN, baseline = Number.NaN] = medians;
    if (repetition > 0) pairs.push({ ours, baseline });
  }
  return computeBenchmarkComparison(pairs, { label, unit: "ms", ...(goal && { goal }) });
}
