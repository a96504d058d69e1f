import { createApiClient } from "@pragma/client";

const client = createApiClient({
  baseUrl: "http://127.0.0.1:4000",
  apiKey: process.env.PRAGMA_API_KEY ?? "",
});

let total = 0;
const query = { since: "2026-05-01", until: "2026-05-31" };
for await (const order of client.items("/v1/orders", { params: { query } })) {
  if (!order.isCanceled && !order.isTransferred) total += order.total;
}
console.log(total);
