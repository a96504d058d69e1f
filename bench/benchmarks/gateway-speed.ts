import { randomUUID } from "node:crypto";
import {
  type BaselineServer,
  startFastifyBaseline,
  startFastifyProxyBaseline,
  startMinimalGateway,
  startOrderPageBaseline,
  startStaticResponseServer,
} from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import type { BenchLocation } from "../bench-location.ts";
import { type Benchmark, type BenchmarkOutcome, BenchmarkSkippedError } from "../benchmark.ts";
import type { BenchmarkFigure } from "../benchmark-figure.ts";
import { compareGatewayCpu } from "../compare-gateway-cpu.ts";
import { compareThroughput } from "../compare-throughput.ts";
import { startNginx } from "../nginx.ts";
import type { ProductUnderLoad } from "../product-under-load.ts";
import { pushShiftTillAndAwaitReport } from "../push-shift-till.ts";
import { type ComparedServer, expectSameResponses } from "../same-responses.ts";
import { createBenchPrincipal } from "../sign-requests.ts";

const pagePath = "/v1/orders/?size=100";

export const gatewaySpeedBenchmark: Benchmark = {
  id: "k",
  title: "Requests through the gateway: GET /v1/orders/{id}, /v2/reports/{id}, and a page of 100 orders",
  limit:
    "all in one: one Fastify process with the same features (key hashed and cached, @fastify/rate-limit in memory, a line of pino a request, request id, scope, schema of the id, ETag) on the same texts in the same PostgreSQL by as many connections; its page of 100 is the plain query of rows and, at the same time, a count(*) of the location's orders, then the texts joined with the same meta, links and nextPageToken. Split: @fastify/http-proxy with the same features that signs for the same reporting process; the gateway's own app without key, limit and log; nginx (one worker, access log) before plain node:http that sends the same bytes",
  async run(lab, tell) {
    const whole = await measureAllInOne(lab, tell);
    const split = await measureSplit(lab, tell);
    return { figures: [...whole.figures, ...split.figures], notes: [...whole.notes, ...split.notes] };
  },
};

async function measureAllInOne(lab: BenchEnvironment, tell: (detail: string) => void): Promise<BenchmarkOutcome> {
  const { product, shop } = await lab.sharedProduct("all in one");
  const targets = await findRequestTargets(product, shop);
  const fastify = await startFastifyBaseline(lab, product);
  const bare = await startOrderPageBaseline(lab, product, shop.locationId);
  try {
    const ours = { origin: product.url, headers: shop.headers, cpuSeconds: product.cpuSeconds };
    const theirs = { origin: fastify.url, headers: shop.headers, cpuSeconds: fastify.cpuSeconds };
    const query = { origin: bare.url, headers: {}, cpuSeconds: bare.cpuSeconds };
    await expectSameResponses(
      [ours, theirs],
      [...targets.map(({ path }) => path), pagePath].flatMap((path) => [
        { path },
        { path, headers: { authorization: "Bearer no-such-key-anywhere" } },
      ]),
    );
    await expectSameResponses(
      [ours, theirs],
      targets.flatMap(({ path, missing, etag }) => [
        { path: missing },
        { path, headers: { "if-none-match": etag } },
        { path: `${missing}x`, isStatusOnly: true },
      ]),
    );
    const [order, report] = targets;
    const compare = (what: string, path: string, atLeast: number, bareQuery?: typeof query) =>
      compareThroughput(lab, { ours, theirs, bareQuery, what: `all in one, ${what}`, path, goal: { atLeast }, tell });
    const figures = [
      ...(await compare("order by id", order.path, 0.6)),
      ...(await compare("report by id", report.path, 0.95)),
      ...(await compare("page of 100", pagePath, 1.4, query)),
    ];
    const kilobytes = ({ body }: RequestTarget) => `${Math.round(body.length / 1024)} KB`;
    const notes = [
      `The order has ${kilobytes(order)}, the report ${kilobytes(report)}.`,
      "All in one: the load and PostgreSQL share the machine with both sides. CPU of the node process only.",
    ];
    return { figures, notes };
  } finally {
    await bare.stop();
    await fastify.stop();
  }
}

async function measureSplit(lab: BenchEnvironment, tell: (detail: string) => void): Promise<BenchmarkOutcome> {
  const { product, shop } = await lab.sharedProduct("split");
  const targets = await findRequestTargets(product, shop);
  const running: Pick<BaselineServer, "stop">[] = [];
  const run = async <Started extends Pick<BaselineServer, "stop">>(starting: Promise<Started>) => {
    const started = await starting;
    running.push(started);
    return started;
  };
  try {
    const gateway = product.process("gateway");
    const ours = { origin: gateway.url, headers: shop.headers, pid: gateway.pid };
    const proxy = await run(startFastifyProxyBaseline(lab, product));
    const fastify = { origin: proxy.url, headers: shop.headers, pid: proxy.pid };
    const own = await run(startMinimalGateway(lab, product, createBenchPrincipal(shop.locationId)));
    const bare = { origin: own.url, headers: {}, pid: own.pid };
    await expectSameResponses(
      [ours, fastify, bare],
      targets.map(({ path }) => ({ path })),
    );
    await expectSameResponses([ours, bare], [{ path: pagePath }]);

    const bodies = Object.fromEntries(targets.map(({ path, body }) => [path, body]));
    const replies = await run(startStaticResponseServer(lab, bodies));
    const nginx = await startNginx({ folder: `${lab.folder}/nginx`, upstream: replies.url }).catch((error) => {
      if (error instanceof BenchmarkSkippedError) return undefined;
      throw error;
    });
    if (nginx) running.push(nginx);

    const figures: BenchmarkFigure[] = [];
    const notes: string[] = [
      nginx ? "nginx has no limit here: it is for orientation." : "nginx is not on this machine.",
    ];
    for (const { name, path } of targets) {
      const outcome = await compareGatewayCpu(lab, {
        ...{ ours, fastify, bare, path, tell },
        nginx: nginx && { origin: nginx.url, headers: {}, pid: nginx.pid },
        what: `split, ${name} by id`,
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
  /** A path of the same kind at which there is nothing. */
  missing: string;
  etag: string;
  body: Uint8Array;
}

/** Returns an order of close to 9 KB, as far as the shift has one, and the report of a busy shift. */
async function findRequestTargets(
  { url }: ProductUnderLoad,
  shop: BenchLocation,
): Promise<[order: RequestTarget, report: RequestTarget]> {
  const side: ComparedServer = { origin: url, headers: shop.headers };
  const reportPath = await pushShiftTillAndAwaitReport({ url }, shop);
  const { data } = (await (await fetch(url + pagePath, { headers: shop.headers })).json()) as {
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
  const reply = await fetch(origin + path, { headers });
  return {
    ...{ name, path, missing: path.slice(0, path.lastIndexOf("/") + 1) + randomUUID() },
    etag: reply.headers.get("etag") ?? "",
    body: new Uint8Array(await reply.arrayBuffer()),
  };
}
