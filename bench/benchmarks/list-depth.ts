import type { BenchEnvironment } from "../bench-environment.ts";
import type { Benchmark } from "../benchmark.ts";
import { type BenchmarkFigure, type MeasurementPair, summarizeMeasurements } from "../benchmark-figure.ts";
import { historyDayBefore, openOrderHistoryDatabase, vacuumOrderHistory, writeOrderHistory } from "../order-history.ts";
import type { BenchProductProcess } from "../product-under-load.ts";
import { createGetRequestSigner, type RequestSigningOptions, signingOptionsForLocation } from "../sign-requests.ts";

const namespace = "bench_history";
const pageSizes = [10, 100];
const goal = { atMost: 1.5 };

/** A list, as it is asked for. */
interface MeasuredList {
  name: string;
  path: "/v1/orders/" | "/v2/reports/";
  signedAs: RequestSigningOptions;
  /** Filters, such as `since=2026-01-01`. */
  filters: string;
  total: number;
}

export const listDepthBenchmark: Benchmark = {
  id: "c",
  title:
    "Lists whose cost depends neither on depth nor on history: GET /v1/orders/ and /v2/reports/ asked of reporting, one at a time",
  limit: "the first page of the same list; for an index, the same page by pageToken; for a history, that of one day",
  async run(lab, tell) {
    const product = await lab.startProduct(namespace, ["reporting"]);
    const past = openOrderHistoryDatabase(lab.urls.DATABASE_URL, namespace);
    try {
      const days = lab.isQuick ? 100 : 1_000;
      const perDay = 150;
      const onBusyDay = 10_000;
      const since = performance.now();
      const write = async (location: { days: number; ordersPerDay: number }, name: string) => ({
        signedAs: signingOptionsForLocation(
          product,
          await writeOrderHistory(past, location, (detail) => tell(`writing ${name}: ${detail}`)),
        ),
        path: "/v1/orders/" as const,
        filters: "",
        total: location.days * location.ordersPerDay,
        name,
      });
      const long = await write({ days, ordersPerDay: perDay }, `${days} days x ${perDay}`);
      const busy = await write({ days: 1, ordersPerDay: onBusyDay }, `one day of ${onBusyDay}`);
      const young = await write({ days: 1, ordersPerDay: perDay }, `one day of ${perDay}`);
      tell("vacuuming");
      await vacuumOrderHistory(past);
      const seconds = Math.round((performance.now() - since) / 1000);

      const half = {
        ...long,
        name: `${days / 2} of these days`,
        filters: `since=${historyDayBefore(days * 0.75)}&until=${historyDayBefore(days * 0.25 + 1)}`,
        total: (days / 2) * perDay,
      };
      const reports = { ...long, name: `${days} reports`, path: "/v2/reports/" as const, total: days };
      const ask = createPageComparer(lab, product.process("reporting"));
      const figures: BenchmarkFigure[] = [];
      for (const list of [long, half, busy, reports]) {
        for (const size of list === reports ? [10] : pageSizes) {
          tell(`${list.name}, ${size} a page`);
          figures.push(await ask.lastByFirst(list, size), await ask.indexByToken(list, size));
        }
      }
      for (const size of pageSizes) figures.push(await ask.longByYoung(long, young, size));
      return { figures, notes: [`The orders were written in ${seconds} s; their texts are real, of 1 to 4 KB.`] };
    } finally {
      await past.close();
      await product.stop();
    }
  },
};

function createPageComparer(lab: BenchEnvironment, { url }: Pick<BenchProductProcess, "url">) {
  const rounds = lab.isQuick ? 10 : 30;
  const repetitions = lab.isQuick ? 2 : 5;

  async function compare(what: string, ours: MeasuredPage, limit: MeasuredPage): Promise<BenchmarkFigure> {
    const pairs: MeasurementPair[] = [];
    // The first repetition warms up.
    for (let turn = 0; turn <= repetitions; turn += 1) {
      const [mine, theirs] = await lab.loadGenerator
        .run("alternate", { origin: url, pages: [ours, limit], rounds, seconds: 5 })
        .then(({ medians }) => medians);
      if (mine === undefined || theirs === undefined) throw new Error("Two pages have two medians.");
      if (turn > 0) pairs.push({ ours: mine, limit: theirs });
    }
    return summarizeMeasurements(pairs, { what, unit: "ms", goal });
  }

  const page = ({ path, filters, signedAs }: MeasuredList, size: number, place: string): MeasuredPage => ({
    path: `${path}?size=${size}${filters && `&${filters}`}${place && `&${place}`}`,
    signedAs,
  });

  const lastIndex = ({ total }: MeasuredList, size: number) => total / size - 1;

  /** The token of the page that has this index. */
  async function tokenOf(list: MeasuredList, size: number, index: number): Promise<string> {
    const { path, signedAs } = page(list, size, `index=${index - 1}`);
    const reply = await fetch(url + path, { headers: createGetRequestSigner(signedAs)(path) });
    const { nextPageToken, meta } = (await reply.json()) as {
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
  signedAs: RequestSigningOptions;
}
