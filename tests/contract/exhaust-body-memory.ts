import { gzipSync } from "node:zlib";
import { eventually } from "@pragma/runtime/testing/eventually";

const bytesPerMebibyte = 1024 * 1024;

/**
 * Sends a product in one process, which holds 56 MB of bodies at once, as many, and none of them to its end: of one key
 * what a location may send, and of another the rest. Returns what aborts them.
 */
export async function exhaustRequestBodyMemory(url: string, key: string, otherKey: string): Promise<() => void> {
  const away = new AbortController();
  const send = (size: number, sender: string) =>
    fetch(`${url}/v2/tills`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${sender}`,
        "content-type": "application/json",
        "content-encoding": "gzip",
      },
      body: createUnendingBody(gzipSync(Buffer.alloc(size * bytesPerMebibyte, " "), { level: 1 })),
      duplex: "half",
      signal: away.signal,
    } as RequestInit).catch(() => {});
  // Small ones: a large one would be refused if others came before it.
  for (let sent = 0; sent < 56; sent += 1) send(1, sent < 50 ? key : otherKey);
  await eventually("the budget to be taken", async () => {
    const headers = { authorization: `Bearer ${otherKey}`, "content-type": "application/json" };
    return (await fetch(`${url}/v2/tills`, { method: "POST", headers, body: "{}" })).status === 503;
  });
  return () => away.abort();
}

/** All of the text that was packed can be read of it, but not that this is all. */
function createUnendingBody(packed: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(packed.subarray(0, -1)),
  });
}
