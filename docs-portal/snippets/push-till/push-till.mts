// Pushes the till in the file till.json. Usage: PRAGMA_API_KEY=… npx tsx push-till.mts
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";

const apiUrl = process.env.PRAGMA_URL ?? "http://127.0.0.1:4000";
const apiKey = process.env.PRAGMA_API_KEY;
const maxAttempts = 8;
const maxRetryAfterSeconds = 60;
const retriedStatuses = new Set([408, 429, 500, 502, 503, 504]);

/** Pushes a till, and repeats the request with the same bytes until the API has accepted or rejected the till. */
async function pushTill(bytes: Uint8Array): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await sendTill(gzipSync(bytes));
    if (response?.ok) {
      console.log(response.status === 201 ? "The till was created." : "The till already existed.");
      return;
    }
    if (response && !retriedStatuses.has(response.status)) {
      throw new Error(`The till was rejected: ${response.status} ${await response.text()}`);
    }
    const retryAfter = Number(response?.headers.get("retry-after") ?? 0);
    if (attempt === maxAttempts || retryAfter > maxRetryAfterSeconds)
      throw new Error(`The till was not accepted (${response?.status ?? "no response"}). Push it again later.`);
    const seconds = retryAfter || 2 ** (attempt - 1);
    // The random time prevents all devices from retrying at the same moment.
    await sleep(1_000 * seconds * (1 + Math.random() / 2));
  }
}

/** Returns the response, or undefined if the connection failed. */
async function sendTill(body: Uint8Array<ArrayBuffer>): Promise<Response | undefined> {
  try {
    return await fetch(`${apiUrl}/v2/tills`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        "content-encoding": "gzip",
      },
      body,
      signal: AbortSignal.timeout(60_000),
    });
  } catch {
    return undefined;
  }
}

if (!apiKey) throw new Error("Set PRAGMA_API_KEY to your API key.");
await pushTill(await readFile("till.json"));
