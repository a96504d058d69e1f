// Usage: PRAGMA_API_KEY=… npx tsx export.mts <accounting config ID> 2026-05-01 2026-05-31
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createApiClient } from "@pragma/client";

const { PRAGMA_URL = "http://127.0.0.1:4000", PRAGMA_API_KEY = "" } = process.env;
const [accountingConfigId = "", since, until] = process.argv.slice(2);
const client = createApiClient({ baseUrl: PRAGMA_URL, apiKey: PRAGMA_API_KEY });

const tills = [];
for await (const { tillId } of client.items("/v2/reports", { params: { query: { since, until } } }))
  tills.push({ tillId, accountingConfigId, accountingProvider: "FULLL" as const });

const { data: created } = await client.POST("/v1/accounting/exports", { body: tills });
const params = { path: { id: created.id } };
let { data: current } = await client.GET("/v1/accounting/exports/{id}", { params });
while (current.state === "pending" || current.state === "running") {
  await sleep(1_000);
  ({ data: current } = await client.GET("/v1/accounting/exports/{id}", { params }));
}

for (const { tillId, failure } of current.tills) {
  if (failure === null) continue;
  const gaps = failure.gaps.map(({ message }) => message);
  console.error([`Till ${tillId} was not exported (${failure.code}). ${failure.message}`, ...gaps].join(" "));
  for (const { orderId, amount } of failure.gaps.flatMap(({ orders }) => orders))
    console.error(`  Order ${orderId}: ${amount}`);
}
for (const { number, name, tills: tillCount } of current.files) {
  const path = { id: created.id, number };
  const { data: bytes } = await client.GET("/v1/accounting/exports/{id}/files/{number}", {
    params: { path },
    parseAs: "arrayBuffer",
  });
  await writeFile(name, Buffer.from(bytes)); // Do not convert the character set.
  console.log(`${name}: ${tillCount} tills`);
}
process.exitCode = current.state === "done" ? 0 : 1;
