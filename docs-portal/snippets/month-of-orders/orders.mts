// Usage: PRAGMA_API_KEY=… npx tsx orders.mts 2026-05-01 2026-05-31 orders.csv
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createApiClient } from "@pragma/client/api-client";

const { PRAGMA_URL = "http://127.0.0.1:4000", PRAGMA_API_KEY = "" } = process.env;
const [since, until, file = "orders.csv"] = process.argv.slice(2);
const client = createApiClient({ baseUrl: PRAGMA_URL, apiKey: PRAGMA_API_KEY });

/** Yields one line for each order. The client requests the next page only when a line of it is needed. */
async function* lines() {
  yield "id,openedAt,total,isCanceled,isTransferred\n";
  for await (const order of client.items("/v1/orders", { params: { query: { since, until } } }))
    yield `${[order.id, order.openedAt, order.total, order.isCanceled, order.isTransferred].join(",")}\n`;
}

await pipeline(lines, createWriteStream(file));
