import { randomUUID } from "node:crypto";
import {
  type BenchServerProcess,
  startFastifyBaselineServer,
  startGatewayBaseline,
  startOrderPageBaselineServer,
  startProxyBaseline,
  startStaticBaseline,
} from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import type { BenchLocation } from "../bench-location.ts";
import type { BenchPragmaDeployment } from "../bench-pragma-deployment.ts";
import { type BenchmarkDefinition, type BenchmarkFiguresAndNotes, BenchmarkSkippedError } from "../benchmark.ts";
import type { ProductToBaselineComparison } from "../benchmark-figure.ts";
import { compareGatewayCpuWithProxies } from "../compare-gateway-cpu.ts";
import { compareThroughput } from "../compare-throughput.ts";
import { startBenchNginxProxy } from "../nginx.ts";
import { pushBenchTillAndAwaitReport } from "../push-shift-till.ts";
import { type ComparedServer, requireSameResponses } from "../same-responses.ts";
import { createBenchPrincipal } from "../sign-requests.ts";

const pagePath = "/v1/orders/?size=100";

export const gatewaySpeedBenchmark: BenchmarkDefinition = {
  id: "k",
  title: "Requests through the gateway: GET /v1/orders/{id}, /v2/reports/{id}, and a page of 100 orders",
  baseline:
    "all in one: one Fastify process with the same features (key hashed and cached, @fastify/rate-limit in memory, one pino line per request, request id, scope, schema of the id, ETag) that reads the same JSON from the same PostgreSQL with as many connections; for its page of 100 it runs the plain query and a count(*) of the location's orders concurrently, and joins the rows with the same meta, links and nextPageToken. Split: @fastify/http-proxy with the same features, which signs requests to the same reporting process; the gateway's app without API keys, rate limits and log; nginx (one worker, access log) in front of plain node:http that sends the same bytes",
  async run(environment, reportProgress) {
    const allInOne = await measureAllInOne(environment, reportProgress);
    const split = await measureSplit(environment, reportProgress);
    return { figures: [...allInOne.figures, ...split.figures], notes: [...allInOne.notes, ...split.notes] };
  },
};

async function measureAllInOne(
  environment: BenchEnvironment,
  reportProgress: (detail: string) => void,
): Promise<BenchmarkFiguresAndNotes> {
  const { product, benchLocation } = await environment.getSharedPragma("all in one");
  const targets = await findRequestTargets(product, benchLocation);
  const fastify = await startFastifyBaselineServer(environment, product);
  const baselineServer = await startOrderPageBaselineServer(environment, product, benchLocation.locationId);
  try {
    const ours = { origin: product.url, headers: benchLocation.headers, cpuSeconds: product.cpuSeconds };
    const theirs = { origin: fastify.url, headers: benchLocation.headers, cpuSeconds: fastify.cpuSeconds };
    const query = { origin: baselineServer.url, headers: {}, cpuSeconds: baselineServer.cpuSeconds };
    await requireSameResponses(
      [ours, theirs],
      [...targets.map(({ path }) => path), pagePath].flatMap((path) => [
        { path },
        { path, headers: { authorization: "Bearer no-such-key-anywhere" } },
      ]),
    );
    await requireSameResponses(
      [ours, theirs],
      targets.flatMap(({ path, missing, etag }) => [
        { path: missing },
        { path, headers: { "if-none-match": etag } },
        { path: `${missing}x`, isStatusOnly: true },
      ]),
    );
    const [order, report] = targets;
    const compare = (label: string, path: string, min: number, plainQuery?: typeof query) =>
      compareThroughput(environment, {
        ours,
        comparedServer: theirs,
        plainQuery,
        label: `all in one, ${label}`,
        path,
        goal: { min },
        reportProgress,
      });
    const figures = [
      ...(await compare("order by id", order.path, 0.6)),
      ...(await compare("report by id", report.path, 0.95)),
      ...(await compare("page of 100", pagePath, 1.4, query)),
    ];
    const kilobytes = ({ body }: RequestTarget) => `${Math.round(body.length / 1024)} KB`;
    const notes = [
      `The order has ${kilobytes(order)}, the report ${kilobytes(report)}.`,
      "All in one: the load generator and PostgreSQL share the machine with both sides. CPU of the Node.js process only.",
    ];
    return { figures, notes };
  } finally {
    await baselineServer.stop();
    await fastify.stop();
  }
}

async function measureSplit(
  environment: BenchEnvironment,
  reportProgress: (detail: string) => void,
): Promise<BenchmarkFiguresAndNotes> {
  const { product, benchLocation } = await environment.getSharedPragma("split");
  const targets = await findRequestTargets(product, benchLocation);
  const running: Pick<BenchServerProcess, "stop">[] = [];
  const run = async <Started extends Pick<BenchServerProcess, "stop">>(starting: Promise<Started>) => {
    const started = await starting;
    running.push(started);
    return started;
  };
  try {
    const gateway = product.process("gateway");
    const ours = { origin: gateway.url, headers: benchLocation.headers, pid: gateway.pid };
    const proxy = await run(startProxyBaseline(environment, product));
    const fastify = { origin: proxy.url, headers: benchLocation.headers, pid: proxy.pid };
    const minimal = await run(
      startGatewayBaseline(environment, product, createBenchPrincipal(benchLocation.locationId)),
    );
    const minimalGateway = { origin: minimal.url, headers: {}, pid: minimal.pid };
    await requireSameResponses(
      [ours, fastify, minimalGateway],
      targets.map(({ path }) => ({ path })),
    );
    await requireSameResponses([ours, minimalGateway], [{ path: pagePath }]);

    const bodies = Object.fromEntries(targets.map(({ path, body }) => [path, body]));
    const responses = await run(startStaticBaseline(environment, bodies));
    const nginx = await startBenchNginxProxy({ folder: `${environment.folder}/nginx`, upstream: responses.url }).catch(
      (error) => {
        if (error instanceof BenchmarkSkippedError) return undefined;
        throw error;
      },
    );
    if (nginx) running.push(nginx);

    const figures: ProductToBaselineComparison[] = [];
    const notes: string[] = [
      nginx ? "The ratio to nginx has no goal: it is for orientation." : "nginx is not installed on this machine.",
    ];
    for (const { name, path } of targets) {
      const outcome = await compareGatewayCpuWithProxies(environment, {
        ...{ ours, fastify, minimalGateway, path, reportProgress },
        nginx: nginx && { origin: nginx.url, headers: {}, pid: nginx.pid },
        label: `split, ${name} by id`,
      });
      figures.push(...outcome.figures);
      notes.push(...outcome.notes);
    }
    return { figures, notes };
  } finally {
    for (const each of running.toReversed()) await each.stop();
  }
}

interface RequestTarget {
  name: string;
  path: string;
  /** A path of the same route with an unknown id. */
  missing: string;
  etag: string;
  body: Uint8Array;
}

/**
 * Pushes the till of a busy shift. Returns request targets for the order whose size is closest to 9 KB
 * among the first 100 orders, and for the report of the till.
 */
async function findRequestTargets(
  { url }: BenchPragmaDeployment,
  benchLocation: BenchLocation,
): Promise<[order: RequestTarget, report: RequestTarget]> {
  const side: ComparedServer = { origin: url, headers: benchLocation.headers };
  const reportPath = await pushBenchTillAndAwaitReport({ url }, benchLocation);
  const { data } = (await (await fetch(url + pagePath, { headers: benchLocation.headers })).json()) as {
    data: { id: string }[];
  };
  const distance = (order: object) => Math.abs(JSON.stringify(order).length - 9_000);
  const [order] = data.toSorted((a, b) => distance(a) - distance(b));
  if (!order) throw new Error("The till of a busy shift has no orders.");
  return [
    await readRequestTarget(side, "order", `/v1/orders/${order.id}`),
    await readRequestTarget(side, "report", reportPath),
  ];
}

async function readRequestTarget(
  { origin, headers }: ComparedServer,
  name: string,
  path: string,
): Promise<RequestTarget> {
  const response = await fetch(origin + path, { headers });
  return {
    ...{ name, path, missing: path.slice(0, path.lastIndexOf("/") + 1) + randomUUID() },
    etag: response.headers.get("etag") ?? "",
    body: new Uint8Array(await response.arrayBuffer()),
  };
}
