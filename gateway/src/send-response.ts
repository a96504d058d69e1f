import { setImmediate as nextTurn } from "node:timers/promises";
import type { ClientReply } from "./client-side.ts";
import type { Exchange } from "./exchange.ts";
import { isEventStream, passesToClient } from "./forwarded-headers.ts";
import { endReply } from "./send-reply.ts";
import type { Progress } from "./watch-progress.ts";

/**
 * Sends a `Response`. One whose whole body is there at once is sent with its length, as a server of its own would send
 * it; any other as it comes, no faster than the client takes it, and no more of it once the signal is given.
 */
export async function sendResponse(
  exchange: Exchange,
  response: Response,
  { progress, signal }: { progress?: Progress; signal?: AbortSignal } = {},
): Promise<void> {
  const { outgoing } = exchange;
  if (exchange.isGone) return response.body?.cancel();
  const headers: string[] = [];
  let isStream = false;
  for (const [name, value] of response.headers) {
    if (passesToClient(name)) headers.push(name, value);
    isStream ||= name === "content-type" && isEventStream(value);
  }
  if (isStream) progress?.stop();
  const writeHead = (...more: string[]) =>
    outgoing.writeHead(response.status, [...headers, ...more, ...exchange.replyHeaders()]);

  if (!response.body) {
    writeHead();
    return endReply(exchange);
  }
  const reader = response.body.getReader();
  const stopReading = () => void reader.cancel().catch(() => {});
  outgoing.once("close", stopReading);
  signal?.addEventListener("abort", stopReading);

  try {
    let next = reader.read();
    const first = await soon(next);
    exchange.bytes = first?.value?.byteLength ?? 0;
    if (first && !first.done) next = reader.read();
    const isWhole = first?.done || (first && (await soon(next))?.done);
    if (isWhole) {
      writeHead(...(response.headers.has("content-length") ? [] : ["content-length", `${exchange.bytes}`]));
      return endReply(exchange, first.value);
    }
    writeHead();
    if (first) await written(outgoing, first.value);
    else outgoing.flushHeaders();
    if (isStream) exchange.becomeStream();
    for (let read = await next; !read.done && !exchange.isEnded; read = await reader.read()) {
      progress?.made();
      exchange.bytes += read.value.byteLength;
      await written(outgoing, read.value);
    }
    // What was given up is not to look whole.
    if (!signal?.aborted) endReply(exchange);
  } finally {
    // A `Request` keeps its signal for as long as the process runs, and so would all that still listens to it.
    signal?.removeEventListener("abort", stopReading);
  }
}

/** What is there already, or within this turn of the event loop. */
function soon<T>(reading: Promise<T>): Promise<T | undefined> {
  return Promise.race([reading, nextTurn(undefined)]);
}

/** Resolves when the client can take more, or has gone. */
function written(outgoing: ClientReply, chunk: Uint8Array): Promise<void> | undefined {
  if (outgoing.write(chunk) || outgoing.destroyed) return undefined;
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.on("drain", done).on("close", done);
  });
}
