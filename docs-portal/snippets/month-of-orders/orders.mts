// Usage: PRAGMA_API_KEY=… npx tsx orders.mts 2026-05-01 2026-05-31 orders.csv
import { createWriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createApiClient } from "@pragma/client";

const { PRAGMA_URL = "http://127.0.0.1:4000", PRAGMA_API_KEY = "" } = process.env;
const [since, until, file] = process.argv.slice(2);
if (file === undefined) throw new Error("Pass three arguments: npx tsx orders.mts 2026-05-01 2026-05-31 orders.csv");
const client = createApiClient({ baseUrl: PRAGMA_URL, apiKey: PRAGMA_API_KEY });

let orderCount = 0;
let sales = 0;

/** Yields one line for each order. The client requests the next page only when a line of it is needed. */
async function* lines() {
  yield "id,openedAt,total,isCanceled,isTransferred,payments\n";
  for await (const order of client.items("/v1/orders", { params: { query: { since, until } } })) {
    orderCount += 1;
    if (!order.isCanceled && !order.isTransferred) sales += order.total;
    const payments = order.payments
      .map(({ paymentMode, paymentAmount }) => `${paymentMode}:${paymentAmount}`)
      .join(";");
    yield `${[order.id, order.openedAt, order.total, order.isCanceled, order.isTransferred, payments].join(",")}\n`;
  }
}

// The file gets its name when it is complete.
await pipeline(lines, createWriteStream(`${file}.new`));
await rename(`${file}.new`, file);
const euros = new Intl.NumberFormat("en-US", { style: "currency", currency: "EUR" });
console.log(`${orderCount} orders with sales of ${euros.format(sales / 100)}`);
