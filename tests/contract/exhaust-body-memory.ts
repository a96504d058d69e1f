import { gzipSync } from "node:zlib";
import { eventually } from "@pragma/runtime/testing/eventually";

const bytesPerMebibyte = 1024 * 1024;

/**
 * Sends bodies that never end, until the memory for request bodies (56 MB) is full. Requests with `key` fill the memory
 * up to the limit per location, and requests with `otherKey` fill the rest. Returns a function that aborts them all.
 */
export async function exhaustRequestBodyMemory(url: string, key: string, otherKey: string): Promise<() => void> {
  const abortController = new AbortController();
  const sendUnendingBody = (size: number, sender: string) =>
    fetch(`${url}/v2/tills`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${sender}`,
        "content-type": "application/json",
        "content-encoding": "gzip",
      },
      body: createUnendingBody(gzipSync(Buffer.alloc(size * bytesPerMebibyte, " "), { level: 1 })),
      duplex: "half",
      signal: abortController.signal,
    } as RequestInit).catch(() => {});
  // Many bodies of 1 MB are sent instead of a few larger ones, because the last tenth of the memory is reserved for
  // bodies of at most 1 MB.
  for (let sent = 0; sent < 56; sent += 1) sendUnendingBody(1, sent < 50 ? key : otherKey);
  await eventually("the body memory limit to be reached", async () => {
    const headers = { authorization: `Bearer ${otherKey}`, "content-type": "application/json" };
    return (await fetch(`${url}/v2/tills`, { method: "POST", headers, body: "{}" })).status === 503;
  });
  return () => abortController.abort();
}

/** Returns a stream that sends all bytes except the last one and never ends, so that the server waits for the rest. */
function createUnendingBody(compressed: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(compressed.subarray(0, -1)),
  });
}
