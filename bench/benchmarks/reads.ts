import { startFastifyBaselineServer } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import { createBenchLocation } from "../bench-location.ts";
import { type BenchPragmaDeployment, singleProcessBenchRoles } from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import type { BenchmarkRatioGoal, ProductToBaselineComparison } from "../benchmark-figure.ts";
import { compareThroughput, type MeasuredPath } from "../compare-throughput.ts";
import { findRequestTargets, pagePath } from "../request-targets.ts";
import { requireSameResponses } from "../same-responses.ts";
import { requireWrk } from "../wrk.ts";

/**
 * What anybody would measure: wrk with 16 connections and a cached key. Both sides write their log to a file. The plain
 * Fastify process writes each line at once and computes entity tags; the tuned one collects lines and has the tags stored.
 */
export const readsBenchmark: BenchmarkDefinition = {
  id: "reads",
  title: "Reads with all services in one process: an order, a report, and a page of 100 orders",
  baseline:
    "one Fastify process with the same features (key hashed and cached, @fastify/rate-limit in memory, pino, request id, scope, schema of the id, ETag) that reads the same JSON from the same PostgreSQL with as many connections; `plain` with the defaults of Fastify, pino and @fastify/etag, `tuned` with a buffered log and stored entity tags. For its page it runs the query and a count concurrently",
  async run(environment, reportProgress) {
    await requireWrk();
    const { product, benchLocation } = await environment.getSharedPragma("all in one");
    const { headers } = benchLocation;
    const [order, report] = await findRequestTargets(product, benchLocation);
    const before = await startEarlierProduct(environment);
    const [plain, tuned] = await Promise.all([
      startFastifyBaselineServer(environment, product, "plain"),
      startFastifyBaselineServer(environment, product, "tuned"),
    ]);
    try {
      const at = (
        { url, cpuSeconds }: Pick<BenchPragmaDeployment, "url" | "cpuSeconds">,
        path: string,
      ): MeasuredPath => ({
        ...{ origin: url, path, headers, cpuSeconds },
      });
      const servers = [product, plain, tuned].map(({ url }) => ({ origin: url, headers }));
      const wrongKey = { authorization: "Bearer no-such-key-anywhere" };
      await requireSameResponses(servers, [
        ...[order.path, report.path].map((path) => ({ path })),
        // The page tokens differ: those of the product name the filters of the list.
        { path: pagePath, isStatusOnly: true },
        ...[order.path, report.path, pagePath].map((path) => ({ path, headers: wrongKey })),
      ]);
      await requireSameResponses(
        servers,
        [order, report].flatMap(({ missing }) =>
          [missing, `${missing}x`].map((path) => ({ path, isStatusOnly: true })),
        ),
      );
      // The plain server computes other tags.
      await requireSameResponses(
        [product, tuned].map(({ url }) => ({ origin: url, headers })),
        [order, report].map(({ path, etag }) => ({ path, headers: { "if-none-match": etag } })),
      );
      const compare = (label: string, path: string, goal: BenchmarkRatioGoal, earlierPath: string | undefined) =>
        compareThroughput(environment, {
          ...{ label, reportProgress, ours: at(product, path) },
          others: [
            { name: "plain Fastify", measured: at(plain, path), goal },
            { name: "tuned Fastify", measured: at(tuned, path) },
            ...(before && earlierPath ? [{ name: "the earlier build", measured: before.at(earlierPath) }] : []),
          ],
        });
      const orderV2 = order.path.replace("/v1/", "/v2/");
      const figures: ProductToBaselineComparison[] = [
        ...(await compare("order by id (V1)", order.path, { min: 0.9 }, before?.order)),
        ...(await compareThroughput(environment, {
          ...{ label: "order by id (V2)", reportProgress, ours: at(product, orderV2) },
          others: [
            { name: "V1", measured: at(product, order.path), goal: { min: 0.9 } },
            ...(before
              ? [{ name: "the earlier build", measured: before.at(before.order.replace("/v1/", "/v2/")) }]
              : []),
          ],
        })),
        ...(await compare("report by id", report.path, { min: 2 }, before?.report)),
        ...(await compare("page of 100 orders", pagePath, { min: 3 }, pagePath)),
      ];
      const kilobytes = (bytes: number) => `${Math.round(bytes / 1024)} KB`;
      const v2Bytes = (await (await fetch(product.url + orderV2, { headers })).arrayBuffer()).byteLength;
      const notes = [
        `The order has ${kilobytes(order.body.length)} in V1 and ${kilobytes(v2Bytes)} in V2, the report ${kilobytes(report.body.length)}.`,
        "wrk and PostgreSQL share the machine with both sides. CPU time is that of the Node.js process only.",
      ];
      return { figures, notes };
    } finally {
      await Promise.all([plain, tuned, before?.product].map((server) => server?.stop()));
    }
  },
};

/** Starts the build of `--before`, with data of its own. Undefined without such a build. */
async function startEarlierProduct(environment: BenchEnvironment) {
  const { earlierProgram } = environment;
  if (earlierProgram === undefined) return undefined;
  const product = await environment.startProduct("bench_before", singleProcessBenchRoles, earlierProgram);
  const benchLocation = await createBenchLocation(product);
  const [order, report] = await findRequestTargets(product, benchLocation);
  return {
    product,
    order: order.path,
    report: report.path,
    at: (path: string): MeasuredPath => ({
      ...{ origin: product.url, path, headers: benchLocation.headers, cpuSeconds: product.cpuSeconds },
    }),
  };
}
