/**
 * `npm run upgrade-load -- <url> <API key> <seconds>`: reads, and pushes tills to the location of the key, while an
 * operator upgrades the installation. Repeats no request. Prints each failed request, and the number and the longest
 * duration of all. Exits with code 1 if a request failed.
 */
import { randomUUID } from "node:crypto";
import { argv, exit, stdout } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { generateTill } from "./generate-till.ts";

const [url = "", key = "", seconds = "60"] = argv.slice(2);
const endsAt = Date.now() + 1000 * Number(seconds);
const readPaths = ["/v2/reports/", "/v1/orders/", "/v1/catalog/", "/v1/webhooks/", "/v1/locations/own", "/v1/changes/"];
const maxPauseMs = 50;
const clientTimeoutMs = 90_000;
const results = { reads: 0, pushes: 0, failed: 0, longestMs: 0 };

async function send(path: string, init: RequestInit = {}): Promise<void> {
  const startedAt = performance.now();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...(init.headers as object) };
  const failure = await fetch(url + path, { ...init, headers, signal: AbortSignal.timeout(clientTimeoutMs) })
    .then(async (response) => {
      const text = await response.text();
      return response.ok ? undefined : `${response.status} ${text}`;
    })
    .catch((error: Error) => `${error.message}: ${error.cause}`);
  results[init.method === "POST" ? "pushes" : "reads"] += 1;
  results.longestMs = Math.max(results.longestMs, Math.round(performance.now() - startedAt));
  if (failure === undefined) return;
  results.failed += 1;
  stdout.write(`${new Date().toISOString()} ${init.method ?? "GET"} ${path} ${failure}\n`);
}

async function repeat(request: () => Promise<void>): Promise<void> {
  while (Date.now() < endsAt) {
    await request();
    await sleep(maxPauseMs * Math.random());
  }
}

/** Pushes tills of a number of orders. The larger ones pass through the gateway as streams. */
async function pushTill(orders: number): Promise<void> {
  const till = generateTill({ seed: "upgrade", orders, day: "2026-05-30", tillId: randomUUID() });
  await send("/v2/tills/", { method: "POST", body: JSON.stringify(till) });
}

await Promise.all([
  ...readPaths.map((path) => repeat(() => send(path))),
  // A new connection for each request.
  ...readPaths.slice(0, 3).map((path) => repeat(() => send(path, { headers: { connection: "close" } }))),
  ...[3, 3, 60].map((orders) => repeat(() => pushTill(orders))),
]);
stdout.write(`${JSON.stringify(results)}\n`);
exit(results.failed === 0 ? 0 : 1);
