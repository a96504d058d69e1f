import { startBareServer } from "../bare-server.ts";
import { type Figure, figureOf, type Pair } from "../figure.ts";
import type { Lab } from "../lab.ts";
import { putReport } from "../put-report.ts";
import type { Row } from "../row.ts";
import { createSigner, type SignedAs, signedForLocation } from "../sign-requests.ts";

const path = "/v1/orders/?size=100";
const connections = 8;

interface Side {
  origin: string;
  headers: Record<string, string>;
  signedAs?: SignedAs;
  cpuSeconds(): number;
}

export const orderPage: Row = {
  id: "b",
  title: `A page of orders: GET ${path}`,
  limit:
    "plain node:http with postgres.js that runs the bare query (select v1 ... order by ... limit 100) and sends the texts joined",
  async run(lab, tell) {
    const figures: Figure[] = [];
    let bytes = 0;
    for (const shape of ["split", "all in one"] as const) {
      const { product, shop } = await lab.product(shape);
      await putReport(product, shop);
      const bare = await startBareServer(lab, product, shop.locationId);
      const limit = { origin: bare.url, headers: {}, cpuSeconds: bare.cpuSeconds };
      try {
        const process = product.process(shape === "split" ? "reporting" : "all");
        const signedAs = signedForLocation(product, shop.locationId);
        const ours = {
          ...{ origin: process.url, cpuSeconds: process.cpuSeconds },
          ...(shape === "split" ? { headers: {}, signedAs } : { headers: shop.headers }),
        };
        const what = shape === "split" ? "reporting asked directly" : "all in one, with a key";
        figures.push(await compare(lab, { ours, limit, what, tell }));
        const headers = shape === "split" ? createSigner(signedAs)(path) : shop.headers;
        bytes = (await (await fetch(ours.origin + path, { headers })).arrayBuffer()).byteLength;
      } finally {
        await bare.stop();
      }
    }
    const notes = [
      `A page has ${Math.round(bytes / 1024)} KB. CPU of the node processes only, at ${connections} connections that never rest.`,
    ];
    return { figures, notes };
  },
};

interface Sides {
  ours: Side;
  limit: Side;
  what: string;
  tell(detail: string): void;
}

async function compare(lab: Lab, { ours, limit, what, tell }: Sides): Promise<Figure> {
  const seconds = lab.isQuick ? 1 : 4;
  const repetitions = lab.isQuick ? 2 : 5;
  const perCpuSecond = async ({ origin, headers, signedAs, cpuSeconds }: Side) => {
    const before = cpuSeconds();
    const { requests } = await lab.load.run("saturate", { origin, headers, signedAs, path, connections, seconds });
    return requests / (cpuSeconds() - before);
  };
  tell(`${what}: warming up`);
  for (const side of [ours, limit, ours, limit]) await perCpuSecond(side);
  const pairs: Pair[] = [];
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`${what}, ${turn} of ${repetitions}`);
    pairs.push({ ours: await perCpuSecond(ours), limit: await perCpuSecond(limit) });
  }
  return figureOf(pairs, { what, unit: "requests/CPU s", goal: { atLeast: 0.6 } });
}
