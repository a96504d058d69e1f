import type { BenchEnvironment } from "../bench-environment.ts";
import type { BenchPragmaProcess } from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import {
  type BenchmarkMeasurementPair,
  computeBenchmarkComparison,
  type ProductToBaselineComparison,
} from "../benchmark-figure.ts";
import {
  getBenchOrderHistoryDate,
  openBenchOrderHistoryDatabase,
  seedBenchOrderHistory,
  vacuumBenchOrderHistory,
} from "../order-history.ts";
import { createBenchSigningOptions, createGetSigner, type InternalRequestSigningOptions } from "../sign-requests.ts";

const namespace = "bench_history";
const pageSizes = [10, 100];
const goal = { max: 1.5 };

/** A list endpoint of one location, with its filters. */
interface MeasuredList {
  name: string;
  path: "/v1/orders/" | "/v2/reports/";
  signingOptions: InternalRequestSigningOptions;
  /** Filters, such as `since=2026-01-01`. */
  filters: string;
  total: number;
}

export const paginationDepthBenchmark: BenchmarkDefinition = {
  id: "c",
  title:
    "Lists whose cost depends neither on depth nor on history: GET /v1/orders/ and /v2/reports/, sent to reporting one at a time",
  baseline:
    "the first page of the same list; for an index, the same page by pageToken; for a history, the first page of one day",
  async run(environment, reportProgress) {
    const product = await environment.startProduct(namespace, ["reporting"]);
    const historyDatabase = openBenchOrderHistoryDatabase(environment.urls.DATABASE_URL, namespace);
    try {
      const days = environment.isQuick ? 100 : 1_000;
      const perDay = 150;
      const onBusyDay = 10_000;
      const since = performance.now();
      const write = async (location: { days: number; ordersPerDay: number }, name: string) => ({
        signingOptions: createBenchSigningOptions(
          product,
          await seedBenchOrderHistory(historyDatabase, location, (detail) =>
            reportProgress(`writing ${name}: ${detail}`),
          ),
        ),
        path: "/v1/orders/" as const,
        filters: "",
        total: location.days * location.ordersPerDay,
        name,
      });
      const long = await write({ days, ordersPerDay: perDay }, `${days} days x ${perDay}`);
      const busy = await write({ days: 1, ordersPerDay: onBusyDay }, `one day of ${onBusyDay}`);
      const young = await write({ days: 1, ordersPerDay: perDay }, `one day of ${perDay}`);
      reportProgress("vacuuming");
      await vacuumBenchOrderHistory(historyDatabase);
      const seconds = Math.round((performance.now() - since) / 1000);

      const half = {
        ...long,
        name: `${days / 2} of these days`,
        filters: `since=${getBenchOrderHistoryDate(days * 0.75)}&until=${getBenchOrderHistoryDate(days * 0.25 + 1)}`,
        total: (days / 2) * perDay,
      };
      const reports = { ...long, name: `${days} reports`, path: "/v2/reports/" as const, total: days };
      const pageComparer = createPageComparer(environment, product.process("reporting"));
      const figures: ProductToBaselineComparison[] = [];
      for (const list of [long, half, busy, reports]) {
        for (const size of list === reports ? [10] : pageSizes) {
          reportProgress(`${list.name}, ${size} a page`);
          figures.push(await pageComparer.lastByFirst(list, size), await pageComparer.indexByToken(list, size));
        }
      }
      for (const size of pageSizes) figures.push(await pageComparer.longByYoung(long, young, size));
      return { figures, notes: [`The orders were written in ${seconds} s; each is a real order of 1 to 4 KB.`] };
    } finally {
      await historyDatabase.close();
      await product.stop();
    }
  },
};

function createPageComparer(environment: BenchEnvironment, { url }: Pick<BenchPragmaProcess, "url">) {
  const rounds = environment.isQuick ? 10 : 30;
  const repetitions = environment.isQuick ? 2 : 5;

  async function compare(
    label: string,
    ours: MeasuredPage,
    baseline: MeasuredPage,
  ): Promise<ProductToBaselineComparison> {
    const pairs: BenchmarkMeasurementPair[] = [];
    // The first repetition is a warm-up and is not counted.
    for (let repetition = 0; repetition <= repetitions; repetition += 1) {
      const [mine, theirs] = await environment.loadGenerator
        .run("alternate", { origin: url, pages: [ours, baseline], rounds, seconds: 5 })
        .then(({ medians }) => medians);
      if (mine === undefined || theirs === undefined)
        throw new Error("The load generator returned fewer medians than pages.");
      if (repetition > 0) pairs.push({ ours: mine, baseline: theirs });
    }
    return computeBenchmarkComparison(pairs, { label, unit: "ms", goal });
  }

  const page = ({ path, filters, signingOptions }: MeasuredList, size: number, position: string): MeasuredPage => ({
    path: `${path}?size=${size}${filters && `&${filters}`}${position && `&${position}`}`,
    signingOptions,
  });

  const lastIndex = ({ total }: MeasuredList, size: number) => total / size - 1;

  /** Returns the token of the page at this index. */
  async function tokenOf(list: MeasuredList, size: number, index: number): Promise<string> {
    const { path, signingOptions } = page(list, size, `index=${index - 1}`);
    const response = await fetch(url + path, { headers: createGetSigner(signingOptions)(path) });
    const { nextPageToken, meta } = (await response.json()) as {
      nextPageToken: string | null;
      meta: { totalCount: number };
    };
    if (nextPageToken === null || meta.totalCount !== list.total) {
      throw new Error(`The list of ${list.name} has ${meta.totalCount} entries, not ${list.total}, or ends too early.`);
    }
    return nextPageToken;
  }

  return {
    lastByFirst: (list: MeasuredList, size: number) =>
      compare(
        `${list.name}, ${size} a page: last page against first`,
        page(list, size, `index=${lastIndex(list, size)}`),
        page(list, size, ""),
      ),
    async indexByToken(list: MeasuredList, size: number) {
      const index = lastIndex(list, size);
      return compare(
        `${list.name}, ${size} a page: last by index against by token`,
        page(list, size, `index=${index}`),
        page(list, size, `pageToken=${await tokenOf(list, size, index)}`),
      );
    },
    longByYoung: (long: MeasuredList, young: MeasuredList, size: number) =>
      compare(
        `first page of ${long.name} against ${young.name}, ${size} a page`,
        page(long, size, ""),
        page(young, size, ""),
      ),
  };
}

interface MeasuredPage {
  path: string;
  signingOptions: InternalRequestSigningOptions;
}
