import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { generateTill } from "@pragma/simulator/generate-till";
import { Pool } from "undici";
import type { LocationFloodKind, LocationFloodOptions, LocationFloodResult } from "./load-jobs.ts";
import { type BenchLoadRequest, sendBenchLoadRequest } from "./send-load-request.ts";

/** A till of 21 MB. Of larger ones, the service accepts only fewer of a location at a time, because of their memory. */
const largeTillOrders = 2_200;
const largePushers = 3;
const changeRequestsPerSecond = 450;
const changeRequestConnections = 64;
const orderBatchSize = 50;
const orderRows = 60;
const mcpConnections = 32;
/** As many messages as a batch can have. */
const mcpBatch = Array.from({ length: 10 }, (_, id) => ({ jsonrpc: "2.0", id, method: "tools/list" }));
const initialization = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "flood", version: "1.0.0" },
};
const mcpMessages = [
  { jsonrpc: "2.0", id: 1, method: "tools/list" },
  { jsonrpc: "2.0", id: 1, method: "initialize", params: initialization },
  mcpBatch,
];
/** Tools that read much, tools that read little, one that searches the documentation, and one with invalid arguments. */
const mcpCalls = [
  { name: "items", arguments: { period: "last_365_days", by: "product", rankBy: "quantity" } },
  { name: "sales", arguments: { period: "last_365_days", groupBy: "weekday" } },
  { name: "orders_and_reports", arguments: { period: "last_90_days", minTotal: 1, sort: "highest" } },
  { name: "days", arguments: { period: "yesterday" } },
  { name: "search_docs", arguments: { query: "difference between declared and recorded payments" } },
  { name: "sales", arguments: { period: "never" } },
].map((params) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
/** Milliseconds between two attempts of the requests that wait for a limit. */
const retryMs = 250;

/** Creating the first one takes seconds, so later floods use the same generator. */
let createLargeTill: (() => Buffer) | undefined;

interface FloodContext {
  send(request: Omit<BenchLoadRequest, "headers">): Promise<number>;
  isRunning(): boolean;
}

/** What one location sends, by kind. Each function sends until the flood ends. */
const floodSenders: Record<LocationFloodKind, (context: FloodContext) => Promise<void>> = {
  async largeTills({ send, isRunning }) {
    createLargeTill ??= createLargeTillGenerator();
    const nextTill = createLargeTill;
    await runConcurrently(largePushers, async () => {
      while (isRunning()) await send({ method: "POST", path: "/v2/tills/", body: nextTill() });
    });
  },
  async changes({ send, isRunning }) {
    const sending = new Set<Promise<unknown>>();
    const started = performance.now();
    for (let sent = 0; isRunning(); await sleep(2)) {
      const due = ((performance.now() - started) / 1000) * changeRequestsPerSecond;
      for (; sent < due; sent += 1) {
        if (sending.size >= changeRequestConnections) continue;
        const request = send({ path: "/v1/changes/" }).finally(() => sending.delete(request));
        sending.add(request);
      }
    }
    await Promise.all(sending);
  },
  changePages: ({ send, isRunning }) =>
    runConcurrently(16, async () => {
      while (isRunning()) await send({ path: "/v1/changes/?size=1000" });
    }),
  reads: ({ send, isRunning }) =>
    runConcurrently(16, async (index) => {
      const path = index % 2 === 0 ? "/v1/orders/?size=100" : "/v2/reports/?size=100";
      while (isRunning()) await send({ path });
    }),
  metrics: ({ send, isRunning }) =>
    runConcurrently(4, async () => {
      const query = "measures=sales,quantity&dimensions=day,product&since=2026-01-01&until=2026-12-31&limit=1000";
      while (isRunning()) await send({ path: `/v1/metrics/?${query}` });
    }),
  async exports({ send, isRunning }) {
    const body = JSON.stringify({ data: "items", format: "jsonl", since: "2026-01-01", until: "2026-12-31" });
    while (isRunning()) {
      await send({ method: "POST", path: "/v1/exports/", body });
      await sleep(retryMs);
    }
  },
  liveOrders: ({ send, isRunning }) =>
    runConcurrently(2, async () => {
      const { productRowList } = orderLiveInputExample.data;
      const rows = Array.from({ length: orderRows }, (_, index) => productRowList[index % productRowList.length]);
      while (isRunning()) {
        const orders = Array.from({ length: orderBatchSize }, () => {
          const [id, tillId] = [randomUUID(), randomUUID()];
          const data = { ...orderLiveInputExample.data, id, productRowList: rows };
          return { ...orderLiveInputExample, id, tillId, revisionHash: randomUUID(), data };
        });
        await send({ method: "POST", path: "/v1/orders-live/", body: JSON.stringify(orders) });
        await sleep(retryMs);
      }
    }),
  mcpMessages: (context) => sendMcpMessages(context, mcpMessages),
  mcpCalls: (context) => sendMcpMessages(context, mcpCalls),
};

function sendMcpMessages({ send, isRunning }: FloodContext, messages: object[]): Promise<void> {
  const requests = messages.map(
    (message) => ({ method: "POST", path: "/mcp", body: JSON.stringify(message) }) as const,
  );
  return runConcurrently(mcpConnections, async () => {
    while (isRunning()) for (const request of requests) if (isRunning()) await send(request);
  });
}

/** Sends everything of the given kinds as fast as the server answers, and counts the responses by kind and status. */
export async function runLocationFlood({
  origin,
  headers,
  kinds,
  seconds,
}: LocationFloodOptions): Promise<LocationFloodResult> {
  const pool = new Pool(origin, { connections: 128, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const end = performance.now() + seconds * 1000;
  const statuses: LocationFloodResult["statuses"] = {};
  const jsonHeaders = { ...headers, "content-type": "application/json" };
  await Promise.all(
    kinds.map((kind) => {
      const counts: Record<string, number> = {};
      statuses[kind] = counts;
      return floodSenders[kind]({
        isRunning: () => performance.now() < end,
        async send(request) {
          const allHeaders = request.body === undefined ? headers : jsonHeaders;
          const { status } = await sendBenchLoadRequest(pool, { ...request, headers: allHeaders });
          counts[status] = (counts[status] ?? 0) + 1;
          // A refused request is not repeated at once, as `retry-after` requires.
          if (status === 429 || status === 503) await sleep(retryMs);
          return status;
        },
      });
    }),
  );
  await pool.close();
  return { statuses };
}

/** Returns a function that creates bodies of a large till. Each has new ids of the till and of its orders. */
function createLargeTillGenerator(): () => Buffer {
  const till = generateTill({ seed: "flood", orders: largeTillOrders, day: "2026-05-29" });
  const template = Buffer.from(JSON.stringify(till));
  const ids = new Set([till.id, ...till.orderList.map(({ id }) => id)]);
  const uuids = template.toString("latin1").matchAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g);
  const offsets = [...uuids].filter(([uuid]) => ids.has(uuid)).map(({ index }) => index);
  return () => {
    // Ids still differ from each other after their first eight characters.
    const prefix = randomUUID().slice(0, 8);
    const body = Buffer.from(template);
    for (const offset of offsets) body.write(prefix, offset, "latin1");
    return body;
  };
}

async function runConcurrently(count: number, run: (index: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, index) => run(index)));
}
