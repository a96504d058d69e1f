import { gzipSync } from "node:zlib";
import { eventually } from "@pragma/runtime/testing/eventually";

const mebibyte = 1024 * 1024;

/**
 * Sends a product in one process as many bodies as it holds at once, 256 MB, and none of them to its end. Gives what
 * lets go of them.
 */
export async function fillReceivingBudget(url: string, key: string): Promise<() => void> {
  const away = new AbortController();
  const authorization = `Bearer ${key}`;
  for (const size of [50, 50, 50, 50, 50, 6]) {
    fetch(`${url}/v2/tills`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", "content-encoding": "gzip" },
      body: unending(gzipSync(Buffer.alloc(size * mebibyte, " "), { level: 1 })),
      duplex: "half",
      signal: away.signal,
    } as RequestInit).catch(() => {});
  }
  await eventually("the budget to be taken", async () => {
    const headers = { authorization, "content-type": "application/json" };
    return (await fetch(`${url}/v2/tills`, { method: "POST", headers, body: "{}" })).status === 503;
  });
  return () => away.abort();
}

/** All of the text that was packed can be read of it, but not that this is all. */
function unending(packed: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(packed.subarray(0, -1)),
  });
}
