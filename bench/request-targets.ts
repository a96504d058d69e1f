import { randomUUID } from "node:crypto";
import type { BenchLocation } from "./bench-location.ts";
import type { BenchPragmaDeployment } from "./bench-pragma-deployment.ts";
import { pushBenchTillAndAwaitReport } from "./push-shift-till.ts";
import type { ComparedServer } from "./same-responses.ts";

export const pagePath = "/v1/orders/?size=100";

/** A resource of a product that benchmarks request. */
export interface RequestTarget {
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
export async function findRequestTargets(
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
