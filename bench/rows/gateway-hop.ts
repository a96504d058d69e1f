import { type Figure, figureOf, type Pair } from "../figure.ts";
import type { Lab } from "../lab.ts";
import { startNginx } from "../nginx.ts";
import { fineCpuSecondsOfTree } from "../process-usage.ts";
import { putReport } from "../put-report.ts";
import type { Outcome, Row } from "../row.ts";
import { principalHeaders } from "../sign-principal.ts";
import { spreadOf } from "../spread.ts";

/**
 * Requests a second that saturate neither side. At the lower one every request wakes a machine that sleeps, which costs
 * both sides more than the request.
 */
const easyRates = [300, 600];
const connections = 16;

interface Side {
  origin: string;
  headers: Record<string, string>;
  pid: number;
}

export const gatewayHop: Row = {
  id: "a",
  title: "The gateway's hop: GET /v2/reports/{id} of 58 KB, gateway and reporting each in a process of its own",
  limit:
    "nginx (one worker, access log, kept-alive upstream) in front of the same reporting process, which it sends a principal signed beforehand",
  async run(lab, tell) {
    const { product, shop } = await lab.product("split");
    const path = await putReport(product, shop);
    const reporting = product.process("reporting");
    const nginx = await startNginx({
      folder: `${lab.folder}/nginx`,
      upstream: reporting.url,
      headers: await principalHeaders(product, shop.locationId),
    });
    try {
      const gateway = product.process("gateway");
      const ours = { origin: gateway.url, headers: shop.headers, pid: gateway.pid };
      return await compare(lab, { ours, limit: { origin: nginx.url, headers: {}, pid: nginx.pid }, path, tell });
    } finally {
      await nginx.stop();
    }
  },
};

interface Sides {
  ours: Side;
  limit: Side;
  path: string;
  tell(detail: string): void;
}

async function compare(lab: Lab, { ours, limit, path, tell }: Sides): Promise<Outcome> {
  const seconds = lab.isQuick ? 2 : 4;
  const repetitions = lab.isQuick ? 2 : 9;
  // V8 compiles what is hot for thousands of requests yet: that is no cost of a request.
  const turnsToWarmUp = lab.isQuick ? 1 : 5;
  const steadily = ({ origin, headers }: Side, perSecond: number) => ({
    ...{ origin, headers, path, connections },
    ...{ seconds, perSecond },
  });

  tell("warming up");
  for (const side of [ours, limit, ours, limit]) {
    const { origin, headers } = side;
    await lab.load.run("saturate", { origin, headers, path, connections, seconds: lab.isQuick ? 1 : 4 });
  }

  const goal = { atMost: 2, aim: 1.25 };
  const atRates: Figure[] = [];
  const notes: string[] = [];
  for (const rate of easyRates) {
    const cpu: Pair[] = [];
    const shares: number[] = [];
    const latencies: Pair[] = [];
    let dropped = 0;
    tell(`warming up at ${rate} requests/s`);
    for (let turn = 0; turn < turnsToWarmUp; turn += 1) {
      for (const side of [ours, limit]) await lab.load.run("steady", steadily(side, rate));
    }
    while (cpu.length < repetitions && dropped <= repetitions * 2) {
      tell(`CPU at ${rate} requests/s, ${cpu.length + 1} of ${repetitions}`);
      const mine = await atEase(lab, ours, steadily(ours, rate));
      const theirs = await atEase(lab, limit, steadily(limit, rate));
      if (mine && theirs) {
        cpu.push({ ours: mine.microseconds, limit: theirs.microseconds });
        latencies.push({ ours: mine.p50, limit: theirs.p50 });
        shares.push(mine.share);
      } else dropped += 1;
    }
    if (cpu.length < repetitions) throw new Error(`This machine is too busy to serve ${rate} requests/s.`);
    atRates.push(
      figureOf(cpu, { what: `CPU a request at ${rate} requests/s`, unit: "µs", goal }),
      figureOf(latencies, { what: `p50 at ${rate} requests/s`, unit: "ms" }),
    );
    const busy = Math.round(spreadOf(shares).most * 100);
    notes.push(
      `At ${rate} requests/s the gateway used at most ${busy} % of a core. Dropped because the rate was not kept: ${dropped}.`,
    );
  }

  const rates: Pair[] = [];
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`as fast as it goes, ${turn} of ${repetitions}`);
    const fastest = async ({ origin, headers }: Side) => {
      const { requests, seconds: took } = await lab.load.run("saturate", {
        ...{ origin, headers, path, connections, seconds: seconds / 2 },
      });
      return requests / took;
    };
    rates.push({ ours: await fastest(ours), limit: await fastest(limit) });
  }

  return {
    figures: [
      ...atRates,
      figureOf(rates, { what: `requests as fast as it goes, ${connections} connections`, unit: "/s" }),
    ],
    notes: [
      ...notes,
      "As fast as it goes: the generator, the hop, reporting and PostgreSQL share the machine, and reporting is what is full.",
    ],
  };
}

/** What a request costs at an equal load that saturates nobody; undefined when the machine did not keep up with it. */
async function atEase(lab: Lab, side: Side, load: Parameters<typeof lab.load.run<"steady">>[1]) {
  const before = fineCpuSecondsOfTree(side.pid);
  const { requests, seconds, latency } = await lab.load.run("steady", load);
  const used = fineCpuSecondsOfTree(side.pid) - before;
  if (seconds > load.seconds * 1.1) return undefined;
  return { microseconds: (used / requests) * 1e6, share: used / seconds, p50: latency.p50 };
}
