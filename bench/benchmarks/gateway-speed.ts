import {
  type BenchServerProcess,
  startGatewayBaseline,
  startProxyBaseline,
  startStaticBaseline,
} from "../baseline-server.ts";
import { type BenchmarkDefinition, BenchmarkSkippedError } from "../benchmark.ts";
import type { ProductToBaselineComparison } from "../benchmark-figure.ts";
import { compareGatewayCpuWithProxies } from "../compare-gateway-cpu.ts";
import { startBenchNginxProxy } from "../nginx.ts";
import { findRequestTargets, pagePath } from "../request-targets.ts";
import { requireSameResponses } from "../same-responses.ts";
import { createBenchPrincipal } from "../sign-requests.ts";

export const gatewaySpeedBenchmark: BenchmarkDefinition = {
  id: "k",
  title: "CPU time of the gateway in a process of its own: GET /v1/orders/{id} and /v2/reports/{id}",
  baseline:
    "@fastify/http-proxy with the same features, which signs requests to the same reporting process; the gateway's app without API keys, rate limits and log; nginx (one worker, access log) in front of plain node:http that sends the same bytes",
  async run(environment, reportProgress) {
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
      const nginx = await startBenchNginxProxy({
        folder: `${environment.folder}/nginx`,
        upstream: responses.url,
      }).catch((error) => {
        if (error instanceof BenchmarkSkippedError) return undefined;
        throw error;
      });
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
  },
};
